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
from tests.support.reports import attack_result, changed, manifest_of, rate_of

from shoal.measurement import Risk
from shoal.report import (
    AttributeFacts,
    DistributionFacts,
    FigureTable,
    ModelFacts,
    ReassessmentFacts,
    ReassessmentOutcome,
    ReportFacts,
    RiskFacts,
)
from shoal.results.edit_rule_results import EditRuleResult, RuleCountResult
from shoal.results.exploration import Exploration, ExplorationOutcome, ExplorationTrial
from shoal.results.record_counts import GroupSuppression
from shoal.results.risk_results import AssessmentResult, AttackerRiskResult, AttackersResult, ModelResult
from shoal.results.usefulness_result import UsefulnessResult

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

BEFORE = RiskFacts(
    k=1,
    people=4996,
    records=5003,
    suppressed=0,
    prosecutor_max=1.0,
    prosecutor_average=4470 / 4996,
    journalist_max=1.0,
    marketer=4470 / 4996,
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
    journalist_max=1 / 7,
    marketer=144 / 4973,
    uniques=0,
    class_sizes=(7,) * 20 + (9,) * 21 + (14,) * 48 + (33,) * 31 + (72,) * 17 + (138,) * 4 + (271,) * 2 + (631,),
)
RULES = (
    EditRuleResult(
        name="no-male-gynaecology",
        columns=("sex", "department"),
        on_violation="report",
        before=RuleCountResult(records=5003, violations=0),
        after=RuleCountResult(records=4973, violations=251, undecided=17),
    ),
    EditRuleResult(
        name="no-child-retired", columns=("age", "occupation"), on_violation="suppress", untold="'age' is not released"
    ),
)
SUPPRESSED = {
    "sex": (
        GroupSuppression(group="female", records=2600, suppressed=8, cells=0, share=8 / 2600, cell_share=8 / 2600),
        GroupSuppression(group="male", records=2390, suppressed=6, cells=0, share=6 / 2390, cell_share=6 / 2390),
        GroupSuppression(
            group=None, records=13, suppressed=9, cells=0, share=9 / 13, cell_share=9 / 13, above_average=True
        ),
    )
}
NOTHING = RiskFacts(**vars(Risk(0, 0.0, 0.0, 0.0, 0.0, 0)), people=0, records=0, suppressed=0, class_sizes=())
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
        ModelResult(name="model", required=5, achieved=7, met=True),
    ),
    ModelFacts(
        "l-diversity of diagnosis",
        "Every class has at least 3 different values of diagnosis.",
        "ISO/IEC 20889, 10.2.2",
        ModelResult(name="model", required=3, achieved=4, met=True),
    ),
    ModelFacts(
        "t-closeness of diagnosis",
        "In every class diagnosis is spread as in the whole table, within 0.35.",
        "ISO/IEC 20889, 10.2.3",
        ModelResult(name="model", required=0.35, achieved=0.2871, met=True),
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
    missed = replace(MODELS[0], found=ModelResult(name="k_anonymity", required=5, achieved=1, met=False))
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


ASSESSMENT = AssessmentResult(
    k=7,
    harm="medium",
    motive="medium",
    controls="medium",
    procedure="pdpc",
    parts={"insider": 0.25, "acquaintance": 0.0418, "breach": 0.36},
    attempt=0.36,
    success=1 / 7,
    probability=1 / 7 * 0.36,
    threshold=0.1,
    within=True,
    words=("The likeliest attempt follows a breach: 0.36.",),
)
POPULATION = "a population table of 48,213 people"


def _attackers(
    prosecutor: tuple[float, float, float], journalist: tuple[float, float, float], marketer: float
) -> AttackersResult:
    def risk(highest: float, average: float, above: float) -> AttackerRiskResult:
        return AttackerRiskResult(max=highest, average=average, above=above, uniques=0, strict_average=average)

    return AttackersResult(
        prosecutor=risk(*prosecutor), journalist=risk(*journalist), marketer=marketer, threshold=0.2,
        basis="population", basis_in_words=POPULATION,
    )  # fmt: skip


ATTACKERS_BEFORE = _attackers((1.0, 0.8947, 0.9312), (1.0, 0.2279, 0.3371), 0.2279)
ATTACKERS = _attackers((1 / 7, 0.02896, 0.0), (0.0417, 0.00713, 0.0), 0.00713)
ATTACKS = (
    attack_result(
        "Singling out by one attribute", 0.0123, (0.0067, 0.0224), 0.0119, 0.0108,
        knows="nothing but the release", risk=0.0004,
    ),
    attack_result(
        "Linking", 0.0317, (0.0224, 0.0446), 0.0289, 0.0301,
        knows="age, sex and postal code of the person", risk=0.0029,
    ),
    attack_result(
        "Inference", 0.2713, (0.2439, 0.3006), 0.2551, None,
        knows="all quasi-identifiers of the person", risk=0.0217, attribute="diagnosis",
    ),
    attack_result(
        "Membership", 0.5063, (0.4731, 0.5394), 0.5, 0.4977, knows="the whole original record", risk=0.0126
    ),
)  # fmt: skip
ATTACK_WORDS = ("", "", "Guesses diagnosis no better than its commonest value would.", "")
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
USEFULNESS = UsefulnessResult.model_validate(
    {
        "accuracy_released": 0.412,
        "association_difference": 0.0367,
        "query_error_median": 0.0381,
        "pmse": 0.0129,
        "rows_original": 5003,
        "rows_released": 4980,
        "aligned": True,
        "purpose": "analytics",
        "reasons": {},
        "for_purpose": ["accuracy_released", "association_difference"],
        "attributes": {},
        "queries": {"number": 9},
        "associations": [],
        "warnings": [],
        "notes": [],
    }
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
        attackers_before=ATTACKERS_BEFORE,
        attacks=ATTACKS,
        attack_words=ATTACK_WORDS,
        distributions=DISTRIBUTIONS,
        usefulness=USEFULNESS,
        purpose="teaching statistics",
        tables=TABLES,
        exploration=EXPLORATION,
        limits=("The control group was 613 people of a neighbouring district.",),
    )


@pytest.fixture(scope="session")
def ruled(full: ReportFacts) -> ReportFacts:
    """With edit rules, and with groups that lost more than others; one of them has an endless name."""
    long = "अ" * 90
    own = dict.fromkeys(("sex", long), SUPPRESSED["sex"])
    endless = SUPPRESSED["sex"][0].model_copy(update={"group": long, "above_average": True})
    return changed(full, rules=RULES, suppressed_by_group={**own, "town": (endless, *SUPPRESSED["sex"][2:])})


@pytest.fixture(scope="session")
def broken(full: ReportFacts) -> ReportFacts:
    """Models met, but two attacks succeed and the assessed risk is too high."""
    linked, guessed = (
        one.model_copy(update={"success": rate, "risk": risk, "found": True})
        for one, rate, risk in (
            (ATTACKS[1], rate_of(0.2177, 0.1931, 0.2444), 0.1944),
            (ATTACKS[2], rate_of(0.6133, 0.5822, 0.6435), 0.4809),
        )
    )
    return changed(
        full,
        attacks=(ATTACKS[0], linked, guessed, ATTACKS[3]),
        attack_words=("", "One in five is found.", "Half of what guessing misses.", ""),
        assessment=ASSESSMENT.model_copy(update={"probability": 0.1429, "within": False}),
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
def screen(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, browsers: Callable[..., Browser]
) -> Iterator[Page]:
    """One page of Debian's Chromium on a machine with one family of letters."""
    fonts = tmp_path_factory.mktemp("fonts")
    chromium = browsers(env={**os.environ, "FONTCONFIG_FILE": str(_only(FAMILIES[request.param], fonts))})
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
