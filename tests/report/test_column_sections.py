"""What the report says column by column, and to whom."""

from __future__ import annotations

import re
from dataclasses import replace
from importlib import resources

import pytest
from tests.support.reports import altered, changed

from shoal.report import ReportFacts, render
from shoal.report.frontier import MARKS
from shoal.report.page import compose
from shoal.results.column_results import ColumnResult, InfluenceResult, LevelShare
from shoal.results.evidence_facts import ExampleCell, ExampleColumn
from shoal.results.manifest import SourceIdentity
from shoal.results.risk_results import ReleasedRisk, RiskResult
from shoal.results.usefulness_result import AssociationResult, QueriesResult, UsefulnessResult

LEVELS = (
    LevelShare(level=1, meaning="intervals of 5", share=0.8),
    LevelShare(level=4, meaning="* (suppressed)", share=0.2),
)
RISK = {"prosecutor_max": 1.0, "journalist_max": 1.0, "marketer": 0.5, "uniques": 1}


@pytest.fixture
def told(facts: ReportFacts) -> ReportFacts:
    useful = UsefulnessResult(
        rows_original=10, rows_released=10, aligned=True, purpose=None, for_purpose=(), attributes={},
        queries=QueriesResult(number=0), reasons={}, warnings=(), notes=(),
        associations=(
            AssociationResult(
                first="age", second="bill", measure="pearson", before=-0.4173, after=-0.2291, difference=0.1882
            ),
            AssociationResult(first="age", second="sex", measure="theils_u", before=0.9, after=0.9, difference=0.0),
        ),
    )  # fmt: skip
    own = {"purpose": "Readmissions by age", "usefulness": useful}
    facts = replace(facts, manifest=facts.manifest.model_copy(update=own))
    return changed(
        facts,
        responsible="Data protection office, St Elsewhere",
        source=SourceIdentity(name="stays.csv", sha256="ab" * 32, modified=facts.created),
        versions={"shoal": "0.1.0", "policy": "1", "polars": "2.1.0"},
        engine="polars",
        columns={"sex": ColumnResult(loss=0.01), "age": ColumnResult(loss=0.3714, levels=LEVELS)},
        drivers=(
            InfluenceResult(attribute="age", before=0.25, after=0.02),
            InfluenceResult(attribute="sex", before=0.5, after=None),
        ),
        risk=ReleasedRisk(k=7, prosecutor_average=0.04, k_effective=7, **RISK),
        risk_before=RiskResult(k=1, prosecutor_average=0.5, **RISK),
        examples=(
            ExampleColumn("name", False, (ExampleCell("Fomake Vunim", "left out", "an identifier"),)),
            ExampleColumn("age", True, (ExampleCell("36", "30-39", "36"),)),
            ExampleColumn("aadhaar", True, (ExampleCell("2694 4645 5515", "XXXX XXXX 1234", "an identifier"),)),
        ),
    )  # fmt: skip


@pytest.mark.requirement("R-10")
def test_the_owner_reads_purpose_source_and_who_answers(told: ReportFacts) -> None:
    stated = {one.head: one.text for one in compose(told, recipient=False).stated}
    assert stated["Purpose"] == "Readmissions by age"
    assert stated["Responsible"].startswith("Data protection office")
    assert stated["Source"] == "stays.csv"
    assert stated["SHA-256 of the source"] == "ab" * 32
    assert stated["Date of the source"].startswith("3 October 2026")
    assert "polars 2.1.0" in render(told)


def test_a_policy_that_states_nothing_is_said_to(facts: ReportFacts) -> None:
    stated = compose(facts, recipient=False).stated
    assert [one.head for one in stated if not one.stated] == ["Purpose", "Responsible", "Source"]
    assert compose(facts, recipient=True).stated == ()


@pytest.mark.requirement("R-10")
def test_a_recipient_reads_purpose_and_nothing_of_the_source(told: ReportFacts) -> None:
    page = render(told, recipient=True)
    assert "Readmissions by age" in page
    assert "Data protection office" in page
    for secret in (
        "stays.csv",
        "abab",
        "polars 2.1.0",
        "intervals of 5",
        "37.1%",
        "What drives the risk",
        "0.417",
        "Sign-off",
    ):
        assert secret not in page, secret


def test_signatures_are_left_blank_under_what_is_signed(told: ReportFacts) -> None:
    page = compose(told, recipient=False)
    assert [one.head for one in page.signed] == ["Release", "Verdict", "SHA-256 of the file", "SHA-256 of the policy"]
    html = render(told)
    block = html[html.index('class="signatures"') :]
    assert block.count("<td></td><td></td><td></td>") == 3


def test_the_greatest_loss_comes_first_with_levels_in_words(told: ReportFacts) -> None:
    losses = compose(told, recipient=False).losses
    assert [(one.name, one.loss) for one in losses] == [("age", "37.1%"), ("sex", "1%")]
    assert losses[0].levels == (("80%", "intervals of 5"), ("20%", "* (suppressed)"))


def test_what_an_attribute_adds_is_a_part_of_the_average_risk(told: ReportFacts) -> None:
    drivers = compose(told, recipient=False).drivers
    assert drivers is not None
    assert [(one.label, one.before, one.after) for one in drivers.rows] == [("age", "50%", "50%"), ("sex", "0%", "–")]


def test_relations_are_told_with_their_sign_and_once(told: ReportFacts) -> None:
    found = compose(told, recipient=False).relations
    assert found is not None
    assert [(one.label, one.before, one.after) for one in found.rows] == [
        ("age and bill, Pearson’s r", "−0.417", "−0.229")
    ]


@pytest.mark.requirement("R-10")
def test_example_rows_of_a_recipient_show_no_identifier(told: ReportFacts) -> None:
    owner, recipient = (compose(told, recipient=one).examples for one in (False, True))
    assert [line.name for line in owner] == ["name", "age", "aadhaar"]
    assert [(line.name, line.cells[0].before) for line in recipient] == [("age", "36"), ("aadhaar", "an identifier")]


def test_no_tick_is_green_while_the_declared_harm_fails(full: ReportFacts) -> None:
    """The page keeps all ticks plain, those of met models and of lesser harms too."""
    assert full.assessment is not None
    above = changed(full, assessment=altered(full.assessment, within=False))
    for recipient in (False, True):
        assert '<main id="main" class="held">' in render(above, recipient=recipient)
        assert '<main id="main">' in render(full, recipient=recipient)
    style = (resources.files("shoal.report") / "templates" / "columns.css").read_text()
    assert ".held .within .mark path, .held .withstood .mark path { stroke: var(--plain); }" in style
    assert ".held .result.within { color: var(--plain); }" in style


def test_a_harm_that_was_not_judged_leaves_no_green(full: ReportFacts) -> None:
    open_one = changed(full, assessment=None, not_assessed="anybody may have the data")
    assert compose(open_one, recipient=False).verdict.kind == "none"


def test_lines_differ_in_colour_dash_and_mark() -> None:
    templates = resources.files("shoal.report") / "templates"
    style, lines = (templates / "style.css").read_text(), (templates / "frontier.css").read_text()
    for scheme in style.split("@media screen and (prefers-color-scheme: dark)")[:2]:
        colours = re.findall(r"--series-\d: (#[0-9a-f]{6})", scheme)
        assert len(set(colours)) == len(MARKS) == len(set(MARKS)) == 6
        for one in range(5):
            assert all(_apart(colours[one], other) > 45 for other in colours[:one])
    dashes = re.findall(r"\.series-\d \{ --series: var\(--series-\d\);( stroke-dasharray: [\d ]+;)? \}", lines)
    assert len(set(dashes)) == 6


def _apart(one: str, other: str) -> float:
    """How far two colours are apart for somebody who can't tell red from green: how light, and how blue they are."""

    def seen(colour: str) -> tuple[float, float]:
        red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
        return 0.299 * red + 0.587 * green + 0.114 * blue, float(blue)

    return sum((a - b) ** 2 for a, b in zip(seen(one), seen(other), strict=True)) ** 0.5


def test_headers_are_not_broken_inside_words() -> None:
    style = (resources.files("shoal.report") / "templates" / "style.css").read_text()
    assert re.search(r"thead th \{ overflow-wrap: normal;", style)


def test_groups_that_lose_most_are_told_in_words(ruled: ReportFacts) -> None:
    page = compose(ruled, recipient=False)
    assert (
        "Of the groups of 'sex' that are too small to be named, 69.2% of records and 69.2% of cells are gone; "
        "on average it is 0.5% and 0.5%."
    ) in page.hit_hard
    told = [(row.group, row.share) for row in page.hit if row.attribute == "sex"]
    assert told == [("female", "0.3%"), ("male", "0.3%"), ("all others", "69.2%")]
    assert not compose(ruled, recipient=True).hit


def test_edit_rules_are_told_to_the_owner(ruled: ReportFacts) -> None:
    rows = {row.head: row.cells for row in compose(ruled, recipient=False).rules}
    assert rows["no-male-gynaecology"] == ("sex, department", "0", "251", "17", "counted")
    assert rows["no-child-retired"] == ("age, occupation", "–", "–", "–", "'age' is not released")
    assert not compose(ruled, recipient=True).rules
