"""Facts to make reports from: a hospital table as it usually is, and the edges."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.support.reports import changed, manifest_of

from shoal.report import (
    AssessmentFacts,
    AttackerFacts,
    AttackerFigures,
    AttackFacts,
    AttributeFacts,
    DistributionFacts,
    FigureTable,
    ModelFacts,
    ReassessmentFacts,
    ReassessmentOutcome,
    ReportFacts,
    RiskFacts,
    UsefulnessFacts,
)
from shoal.results.exploration import Exploration, ExplorationOutcome, ExplorationTrial

if TYPE_CHECKING:
    from playwright.sync_api import Page

BEFORE = RiskFacts(
    k=1,
    people=4996,
    records=5003,
    suppressed=0,
    prosecutor_max=1.0,
    prosecutor_average=4470 / 4996,
    uniques=4127,
    class_sizes=(1,) * 4127 + (2,) * 213 + (3,) * 91 + (4,) * 32 + (6,) * 7,
)
AFTER = RiskFacts(
    k=7,
    people=4973,
    records=5003,
    suppressed=23,
    prosecutor_max=1 / 7,
    prosecutor_average=144 / 4973,
    uniques=0,
    class_sizes=(7,) * 20 + (9,) * 21 + (14,) * 48 + (33,) * 31 + (72,) * 17 + (138,) * 4 + (271,) * 2 + (631,),
)
NOTHING = RiskFacts(
    k=0, people=0, records=0, suppressed=0, prosecutor_max=0.0, prosecutor_average=0.0, uniques=0, class_sizes=()
)
ATTRIBUTES = (
    AttributeFacts("name", "direct", ("left out",), ("ISO/IEC 20889, 9.3.1",), released=False),
    AttributeFacts("aadhaar", "direct", ("masked, last 4 kept",), ("ISO/IEC 20889, 9.3.2",), released=True),
    AttributeFacts("patient_id", "direct", ("left out",), ("ISO/IEC 20889, 9.3.1",), released=False),
    AttributeFacts("age", "quasi", ("generalised to level 2 of 4",), ("ISO/IEC 20889, 9.6",), released=True),
    AttributeFacts("sex", "quasi", ("generalised to level 0 of 1",), ("ISO/IEC 20889, 9.6",), released=True),
    AttributeFacts("postal_code", "quasi", ("generalised to level 3 of 6",), ("ISO/IEC 20889, 9.6",), released=True),
    AttributeFacts("admitted", "quasi", ("generalised to level 5 of 7",), ("ISO/IEC 20889, 9.6",), released=True),
    AttributeFacts("diagnosis", "sensitive", (), (), released=True),
    AttributeFacts(
        "bill",
        "insensitive",
        ("rounded to multiples of 100", "Laplace noise added, scale 50"),
        ("ISO/IEC 20889, 9.6.2", "ISO/IEC 20889, 9.7.2"),
        released=True,
    ),
    AttributeFacts("visits", "insensitive", ("top-coded at 12",), ("ISO/IEC 20889, 9.6.3",), released=True),
    AttributeFacts("remarks", "sensitive", ("left out",), ("ISO/IEC 20889, 9.3.1",), released=False),
)
MODELS = (
    ModelFacts(
        "k-anonymity",
        "Everyone shares their quasi-identifying values with at least 4 other people.",
        "ISO/IEC 20889, 10.2.1",
        required=5,
        achieved=7,
        met=True,
    ),
    ModelFacts(
        "l-diversity of diagnosis",
        "Every class has at least 3 different values of diagnosis.",
        "ISO/IEC 20889, 10.2.2",
        required=3,
        achieved=4,
        met=True,
    ),
    ModelFacts(
        "t-closeness of diagnosis",
        "In every class diagnosis is spread as in the whole table, within 0.35.",
        "ISO/IEC 20889, 10.2.3",
        required=0.35,
        achieved=0.2871,
        met=True,
    ),
)


@pytest.fixture(scope="session")
def facts() -> ReportFacts:
    """A release as it usually is; every figure is one of a kind, so that a search of the page finds it or not."""
    manifest = manifest_of(
        name="hospital-2026",
        use_case="external-sharing",
        created=datetime(2026, 10, 3, 14, 5, tzinfo=UTC),
        shoal="0.1.0",
        policy_sha256="9f2c5b1d7e0a4863b5d2f1c08e97a64d31bb5c2e8f7704a19d6e3c5b8a2f1047",
        warnings=("Attribute 'diagnosis' is released as it is; 2 models speak of it.",),
    )
    return changed(
        ReportFacts(manifest, BEFORE, AFTER, MODELS, ATTRIBUTES, person=True),
        data_path="releases/hospital-2026/data.csv",
        data_sha256="41d8e6f0a2b97c3355e1f08d6ab4c97e20f3d1865b7ac4e9908f1d2b3c6a5e77",
        records=5003,
        utility={"loss": 0.2862, "average_class_size": 34.78, "discernibility": 481207.0, "correlation_kept": 0.9417},
        levels={"age": 2, "sex": 0, "postal_code": 3, "admitted": 5},
        loss=0.2862,
        optimal=True,
        nodes_checked=118,
        nodes_total=560,
        recoding="global",
    )


@pytest.fixture(scope="session")
def unmet(facts: ReportFacts) -> ReportFacts:
    """One model missed, two people alone, records instead of people."""
    missed = replace(MODELS[0], achieved=1, met=False)
    risky = replace(AFTER, k=1, prosecutor_max=1.0, uniques=2, class_sizes=(1, 1, *AFTER.class_sizes))
    return changed(facts, after=risky, models=(missed, *MODELS[1:]), person=False, optimal=False)


@pytest.fixture(scope="session")
def aggregated(facts: ReportFacts) -> ReportFacts:
    """A table of totals: no quasi-identifiers left, nothing to form classes from, no model."""
    totals = (
        AttributeFacts("district", "insensitive", (), (), released=True),
        AttributeFacts(
            "patients", "insensitive", ("counted; groups under 5 suppressed",), ("ISO/IEC 20889, 9.1.3",), released=True
        ),
    )
    return changed(
        facts, use_case=None, records=36, before=NOTHING, after=NOTHING, models=(), attributes=totals, utility={},
        levels={}, loss=0.0, nodes_checked=0, nodes_total=0, warnings=(), person=False,
    )  # fmt: skip


@pytest.fixture(scope="session")
def empty(aggregated: ReportFacts) -> ReportFacts:
    """A release of nothing."""
    return changed(aggregated, records=0, attributes=())


ASSESSMENT = AssessmentFacts(
    probability=1 / 7 * 0.36,
    threshold=0.1,
    harm="medium",
    parts=(
        ("Chance of picking the right record", 1 / 7, "One in the smallest class."),
        ("Insider", 0.25, "Motives medium, controls medium."),
        ("Acquaintance", 0.0418, "Someone in the file is known to one of 150 people."),
        ("Breach", 0.36, "The file gets into other hands within a year."),
    ),
    within=True,
    sentences=("The likeliest attempt follows a breach: 0.36.",),
)
ATTACKERS = (
    AttackerFacts(
        "Prosecutor", AttackerFigures(1 / 7, 0.02896, 0.0), 0.2, "the file itself", AttackerFigures(1.0, 0.8947, 0.9312)
    ),
    AttackerFacts(
        "Journalist",
        AttackerFigures(0.0417, 0.00713, 0.0),
        0.2,
        "a population table of 48,213 people",
        AttackerFigures(1.0, 0.2279, 0.3371),
    ),
    AttackerFacts("Marketer", AttackerFigures(None, 0.00713, None), 0.2, "a population table of 48,213 people"),
)
ATTACKS = (
    AttackFacts(
        "Singling out by one attribute",
        "nothing but the release",
        0.0123,
        0.0067,
        0.0224,
        0.0119,
        0.0004,
        False,
        0.0108,
    ),
    AttackFacts(
        "Linking", "age, sex and postal code of the person", 0.0317, 0.0224, 0.0446, 0.0289, 0.0029, False, 0.0301
    ),
    AttackFacts(
        "Inference",
        "all quasi-identifiers of the person",
        0.2713,
        0.2439,
        0.3006,
        0.2551,
        0.0217,
        False,
        None,
        "diagnosis",
        "Guesses diagnosis no better than its commonest value would.",
    ),
    AttackFacts("Membership", "the whole original record", 0.5063, 0.4731, 0.5394, 0.5, 0.0126, False, 0.4977),
)
DISTRIBUTIONS = (
    DistributionFacts(
        "age",
        "numbers",
        (
            ("0-19", 0.1871, 0.1869),
            ("20-39", 0.3127, 0.3133),
            ("40-59", 0.2763, 0.2766),
            ("60-79", 0.1804, 0.1807),
            ("80 or older", 0.0435, 0.0425),
        ),
        0.0046,
        (("total variation", 0.0123), ("Wasserstein", 0.0057)),
    ),
    DistributionFacts(
        "sex", "categories", (("F", 0.5077, 0.5079), ("M", 0.4923, 0.4921)), 0.0046, (("total variation", 0.0002),)
    ),
    DistributionFacts(
        "postal_code", "categories", tuple((f"{n}xxxxx", 0.19 - n / 50, 0.188 - n / 50) for n in range(1, 10)), 0.0046
    ),
    DistributionFacts(
        "diagnosis",
        "categories",
        tuple(
            (name, share, share)
            for name, share in (
                ("Gastroenteritis", 0.2551),
                ("Hypertension", 0.2133),
                ("Diabetes mellitus type 2", 0.1801),
                ("Tuberculosis", 0.0917),
                ("Chronic obstructive pulmonary disease", 0.0411),
            )
        ),
    ),
    DistributionFacts(
        "bill",
        "numbers",
        (("under 5,000", 0.4417, 0.4388), ("5,000 to 9,999", 0.3161, 0.3190), ("10,000 or more", 0.2422, 0.2422)),
        0.0,
        (("KS", 0.0141),),
    ),
    DistributionFacts("admitted", "dates", ()),
)
USEFULNESS = (
    UsefulnessFacts(
        "Accuracy of predicting diagnosis", "0.412 of 0.431", "Kept 95.6% of what the original allows.", matters=True
    ),
    UsefulnessFacts("Associations kept", 0.9633, "Strength of association between pairs, on average.", matters=True),
    UsefulnessFacts("Error of counts", 0.0381, "Relative error of 1,000 counts at random, median."),
    UsefulnessFacts("Propensity score", 0.0129, "How well the two tables can be told apart: 0 is not at all."),
)
TABLES = (
    FigureTable(
        "Special uniques",
        "Records that stand out by few attributes (SUDA2).",
        "Elliot, Manning, Ford 2002",
        ("Attribute", "Contribution", "Records with a score"),
        (("age", "61.7%", "317"), ("postal_code", "38.3%", "198")),
    ),
    FigureTable(
        "Population uniqueness",
        "How many of the people are alone in the population, estimated.",
        "Dankar et al. 2012",
        ("Model", "Estimate", "Remark"),
        (("Pitman", "0.0031", "chosen: sampling fraction under 10%"), ("Zayatz", "–", "")),
    ),
)


def _tries() -> Iterator[ExplorationTrial]:
    for k in (2, 5, 10, 25):
        for limit in (0.0, 0.05):
            loss = 0.06 * k**0.5 * (1 if limit else 1.3)
            found = ExplorationOutcome({"age": 2, "sex": 0}, loss, loss, True, 40, 0.008, k, 3.5 * k, 1 / k, 0.4 / k)
            yield ExplorationTrial(k, limit, "global", 0.2, k == 5 and limit > 0, found)


EXPLORATION = Exploration("hospital-2026", "hospital.csv", 5003, tuple(_tries()))
HISTORY = (
    ReassessmentFacts(
        datetime(2027, 1, 9, 8, 0, tzinfo=UTC),
        "Linked with the voters' roll of 2027",
        "1.9% linked, guessing 1.7%",
        ReassessmentOutcome.HOLDS,
    ),
    ReassessmentFacts(
        datetime(2027, 6, 1, 8, 0, tzinfo=UTC),
        "Linked with a leaked list",
        "14.2% linked, guessing 1.7%",
        ReassessmentOutcome.BROKEN,
    ),
)


@pytest.fixture(scope="session")
def history() -> tuple[ReassessmentFacts, ...]:
    """Two later looks: the release held, then it did no longer."""
    return HISTORY


@pytest.fixture(scope="session")
def full(facts: ReportFacts) -> ReportFacts:
    """Everything that can be measured was measured."""
    return changed(
        facts,
        assessment=ASSESSMENT,
        attackers=ATTACKERS,
        attacks=ATTACKS,
        distributions=DISTRIBUTIONS,
        usefulness=USEFULNESS,
        purpose="teaching statistics",
        tables=TABLES,
        exploration=EXPLORATION,
        limits=("The control group was 613 people of a neighbouring district.",),
    )


@pytest.fixture(scope="session")
def broken(full: ReportFacts) -> ReportFacts:
    """Models met, but two attacks succeed and the assessed risk is too high."""
    linked = replace(
        ATTACKS[1], success=0.2177, low=0.1931, high=0.2444, risk=0.1944, found=True, words="One in five is found."
    )
    guessed = replace(
        ATTACKS[2],
        success=0.6133,
        low=0.5822,
        high=0.6435,
        risk=0.4809,
        found=True,
        words="Half of what guessing misses.",
    )
    return changed(
        full,
        attacks=(ATTACKS[0], linked, guessed, ATTACKS[3]),
        assessment=replace(ASSESSMENT, probability=0.1429, within=False),
    )


class Document(HTMLParser):
    """A page read strictly: tags closed in order, ids unique and found, as many cells in a row as in its header.

    ``text`` is what can be read on it, ``rows`` the cells of each table by caption, ``codes`` what stands in <code>.
    """

    VOID = frozenset({"meta", "link", "br", "img", "rect", "line", "circle", "path"})

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.codes: list[str] = []
        self.rows: dict[str, list[list[str]]] = {}
        self._open: list[str] = []
        self._ids: list[str] = []
        self._wanted: set[str] = set()
        self._words: list[str] = []
        self._marks: dict[str, int] = {}
        self._table: list[list[str]] = []
        self.feed(page)
        self.close()
        self._check()
        self.text = " ".join("".join(self._words).split())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        given = dict(attrs)
        self._ids += [name for name in [given.get("id")] if name]
        self._wanted |= {name for name in [given.get("aria-labelledby")] if name}
        if tag not in self.VOID:
            self._open.append(tag)
        if tag == "table":
            self._table = []
        if tag == "tr":
            self._table.append([])
        self._marks[tag] = len(self._words)
        self._gap(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self._open or self._open.pop() != tag:
            raise ValueError(f"tag {tag} closed out of order")
        said = "".join(self._words[self._marks[tag] :])
        if tag in {"th", "td"}:
            self._table[-1].append(" ".join(said.split()))
        if tag == "caption":
            self.rows[" ".join(said.split())] = self._table
        if tag == "code":
            self.codes.append(said)
        self._gap(tag)

    def handle_data(self, data: str) -> None:
        if "style" not in self._open:
            self._words.append(data)

    def _gap(self, tag: str) -> None:
        if tag not in {"code", "b", "bdi"}:
            self._words.append(" ")

    def _check(self) -> None:
        if self._open:
            raise ValueError(f"tag {self._open[-1]} never closed")
        if len(set(self._ids)) < len(self._ids) or not self._wanted <= set(self._ids):
            raise ValueError("an id that is there twice, or is missing")
        for rows in self.rows.values():
            if len({len(row) for row in rows}) != 1:
                raise ValueError("a row with more or fewer cells than its header")


@pytest.fixture(scope="session")
def read() -> Callable[[str], Document]:
    return Document


FAMILIES = {"wide": "DejaVu Sans", "narrow": "Liberation Sans"}
"""What a page falls back on where the reader has none of the fonts that it names, by how wide its letters are."""


@pytest.fixture(scope="session", params=FAMILIES)
def screen(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """One page of Debian's Chromium on a machine with one family of letters.

    What it shows can't be shown without it: the skip says so.
    """
    path = os.environ.get("SHOAL_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        pytest.skip("CHROMIUM ABSENT: the rendered report is not checked (apt-get install chromium)")
    sync_api = pytest.importorskip(
        "playwright.sync_api", reason="PLAYWRIGHT ABSENT: the rendered report is not checked"
    )
    fonts = tmp_path_factory.mktemp("fonts")
    environment = {**os.environ, "FONTCONFIG_FILE": str(_only(FAMILIES[request.param], fonts))}
    with sync_api.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"], env=environment)
        yield chromium.new_page()
        chromium.close()


def _only(family: str, home: Path) -> Path:
    """Settings by which a program finds the fonts of one family, and those of its kind with other letters."""
    tool = shutil.which("fc-list")
    listed = subprocess.run([tool, family, "file"], check=True, capture_output=True, text=True).stdout if tool else ""
    folders = sorted({Path(line.split(":")[0]).parent for line in listed.splitlines()})
    if not folders:
        pytest.skip(
            f"{family.upper()} ABSENT: the report is not checked with letters of its width "
            "(apt-get install fonts-dejavu-core fonts-liberation)"
        )
    named = {"sans-serif": family, "monospace": family.replace("Sans", "Mono" if "Lib" in family else "Sans Mono")}
    inside = "".join(f"<dir>{folder}</dir>" for folder in folders) + "".join(
        f"<alias binding='strong'><family>{kind}</family><prefer><family>{name}</family></prefer></alias>"
        for kind, name in named.items()
    )
    settings = home / "fonts.conf"
    settings.write_text(f"<fontconfig>{inside}<cachedir>{home / 'cache'}</cachedir></fontconfig>", encoding="utf-8")
    return settings
