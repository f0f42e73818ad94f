"""Facts to make reports from: a hospital table as it usually is, and the edges."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from html.parser import HTMLParser
from typing import TYPE_CHECKING

import pytest

from shoal.report import AttributeFacts, ModelFacts, ReportFacts, RiskFacts

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
    return ReportFacts(
        name="hospital-2026",
        use_case="external-sharing",
        created=datetime(2026, 10, 3, 14, 5, tzinfo=UTC),
        version="0.1.0",
        policy_sha256="9f2c5b1d7e0a4863b5d2f1c08e97a64d31bb5c2e8f7704a19d6e3c5b8a2f1047",
        data_path="releases/hospital-2026/data.csv",
        data_sha256="41d8e6f0a2b97c3355e1f08d6ab4c97e20f3d1865b7ac4e9908f1d2b3c6a5e77",
        records=5003,
        before=BEFORE,
        after=AFTER,
        models=MODELS,
        attributes=ATTRIBUTES,
        utility={"loss": 0.2862, "average_class_size": 34.78, "discernibility": 481207.0, "correlation_kept": 0.9417},
        levels={"age": 2, "sex": 0, "postal_code": 3, "admitted": 5},
        loss=0.2862,
        optimal=True,
        nodes_checked=118,
        nodes_total=560,
        warnings=("Attribute 'diagnosis' is released as it is; 2 models speak of it.",),
        person=True,
    )


@pytest.fixture(scope="session")
def unmet(facts: ReportFacts) -> ReportFacts:
    """One model missed, two people alone, records instead of people."""
    missed = replace(MODELS[0], achieved=1, met=False)
    risky = replace(AFTER, k=1, prosecutor_max=1.0, uniques=2, class_sizes=(1, 1, *AFTER.class_sizes))
    return replace(facts, after=risky, models=(missed, *MODELS[1:]), person=False, optimal=False)


@pytest.fixture(scope="session")
def aggregated(facts: ReportFacts) -> ReportFacts:
    """A table of totals: no quasi-identifiers left, nothing to form classes from, no model."""
    totals = (
        AttributeFacts("district", "insensitive", (), (), released=True),
        AttributeFacts(
            "patients", "insensitive", ("counted; groups under 5 suppressed",), ("ISO/IEC 20889, 9.1.3",), released=True
        ),
    )
    return replace(
        facts, use_case=None, records=36, before=NOTHING, after=NOTHING, models=(), attributes=totals, utility={},
        levels={}, loss=0.0, nodes_checked=0, nodes_total=0, warnings=(), person=False,
    )  # fmt: skip


@pytest.fixture(scope="session")
def empty(aggregated: ReportFacts) -> ReportFacts:
    """A release of nothing."""
    return replace(aggregated, records=0, attributes=())


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
        if tag not in {"code", "b"}:
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


@pytest.fixture(scope="session")
def screen() -> Iterator[Page]:
    """One page of Debian's Chromium. What it shows can't be shown without it: the skip says so."""
    path = os.environ.get("SHOAL_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        pytest.skip("CHROMIUM ABSENT: the rendered report is not checked (apt-get install chromium)")
    sync_api = pytest.importorskip(
        "playwright.sync_api", reason="PLAYWRIGHT ABSENT: the rendered report is not checked"
    )
    with sync_api.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        yield chromium.new_page()
        chromium.close()
