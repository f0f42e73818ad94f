"""The evidence as the owner's edition shows it. A recipient's page has none of it: its ``Page.proof`` is empty."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from markupsafe import Markup

from shoal.report.exploration import limit_in_words
from shoal.report.facts import ReportFacts
from shoal.report.frontier import FrontierScales, panel, swatch
from shoal.report.small_multiples import DistributionChart, distribution, interval, reach
from shoal.report.wording import harm_in_words, whole
from shoal.results.evidence_facts import AttackerFacts, AttackFacts, DistributionFacts, FigureTable, UsefulnessFacts
from shoal.results.number_format import NONE, count, number, percent, small, span

FEW = 12
"""Attributes without a change that are shown one by one; more of them are named only."""
MOST_ATTRIBUTES = 200
MOST_ROWS = 200


@dataclass(frozen=True)
class EvidenceTable:
    """A table of text; ``amounts`` says which columns are of figures."""

    title: str
    explanation: str
    clause: str
    header: tuple[str, ...]
    amounts: tuple[bool, ...]
    rows: tuple[tuple[str, ...], ...]
    left_out: str
    """Says how many rows are not shown; empty when all are."""


@dataclass(frozen=True)
class AssessmentSection:
    sentences: tuple[str, ...]
    within: bool
    table: EvidenceTable


@dataclass(frozen=True)
class AttackRow:
    title: str
    attribute: str | None
    knows: str
    words: str
    drawing: Markup
    success: str
    interval: str
    guessing: str
    control: str
    risk: str
    found: bool


@dataclass(frozen=True)
class FrontierSection:
    panels: tuple[tuple[str, Markup], ...]
    legend: tuple[tuple[Markup, str], ...]
    advice: tuple[str, ...]


@dataclass(frozen=True)
class EvidenceSection:
    """What was found out about the release, ready to be shown."""

    assessed: AssessmentSection | None = None
    attackers: EvidenceTable | None = None
    attacks: tuple[AttackRow, ...] = ()
    attacks_end: str = ""
    """The share at the right end of the drawings."""
    distributions: tuple[DistributionChart, ...] = ()
    distributions_left_out: str = ""
    same: tuple[str, ...] = ()
    """Where they are many, the attributes whose values are spread as before: by name only."""
    matters: EvidenceTable | None = None
    """Usefulness that the declared purpose depends on."""
    also: EvidenceTable | None = None
    tables: tuple[EvidenceTable, ...] = ()
    frontier: FrontierSection | None = None


def evidence_section(facts: ReportFacts) -> EvidenceSection:
    end = reach(facts.attacks)
    changed, same = _folded(facts.distributions)
    shown = changed[:MOST_ATTRIBUTES]
    beyond = len(changed) - len(shown)
    return EvidenceSection(
        assessed=_assessed(facts),
        attackers=_attackers(facts.attackers),
        attacks=tuple(_attack(one, end) for one in facts.attacks),
        attacks_end=percent(end),
        distributions=tuple(distribution(one) for one in shown),
        distributions_left_out=f"{count(beyond, 'more attribute')} not shown." if beyond else "",
        same=tuple(one.name for one in same),
        matters=_usefulness("What the purpose depends on", [one for one in facts.usefulness if one.matters]),
        also=_usefulness("Also measured", [one for one in facts.usefulness if not one.matters]),
        tables=tuple(_table(one) for one in facts.tables),
        frontier=_frontier(facts),
    )


def _folded(
    distributions: tuple[DistributionFacts, ...],
) -> tuple[tuple[DistributionFacts, ...], tuple[DistributionFacts, ...]]:
    """Those to draw, and those that are the same before and after."""
    same = tuple(one for one in distributions if one.unchanged)
    if len(same) <= FEW:
        return distributions, ()
    return tuple(one for one in distributions if not one.unchanged), same


def _assessed(facts: ReportFacts) -> AssessmentSection | None:
    one = facts.assessment
    if one is None:
        return None
    rows = (
        *((name, number(value), words) for name, value, words in one.parts),
        ("Risk of re-identification", number(one.probability), "What the parts come to together."),
        ("Limit", number(one.threshold), f"For {harm_in_words(one.harm)}."),
    )
    parts = FigureTable("How the risk was assessed", "", "PDPC, annex D", ("Part", "Value", "Meaning"), rows)
    return AssessmentSection(one.sentences, one.within, _table(parts))


def _attackers(attackers: tuple[AttackerFacts, ...]) -> EvidenceTable | None:
    if not attackers:
        return None
    thresholds = " or ".join(dict.fromkeys(number(one.threshold) for one in attackers))
    arrow = " An arrow leads from the original to the release." if any(one.before for one in attackers) else ""
    header = ("Attacker", "Highest", "Average", f"Above {thresholds}", "Basis")
    rows = tuple(
        (one.name, *(_change(one, name) for name in ("highest", "average", "above")), one.basis) for one in attackers
    )
    return _table(
        FigureTable(
            "Three kinds of attacker",
            "A prosecutor knows that the person is in the file, a journalist does not, a marketer wants as many people "
            f"as possible and is content to be right on average.{arrow}",
            "PDPC, annex D",
            header,
            rows,
        )
    )


def _change(one: AttackerFacts, name: str) -> str:
    """A figure, and where it is known that of the original before it."""
    return " → ".join(_figures(one, name)) or NONE


def _figures(one: AttackerFacts, name: str) -> Iterator[str]:
    for figures in (one.before, one.after):
        value: float | None = None if figures is None else getattr(figures, name)
        if value is not None:
            yield percent(value) if name == "above" else number(value)


def _attack(one: AttackFacts, end: float) -> AttackRow:
    return AttackRow(
        title=one.title,
        attribute=one.attribute,
        knows=one.knows,
        words=one.words,
        drawing=interval(one, end),
        success=percent(one.success),
        interval=span(one.low, one.high, " – "),
        guessing=percent(one.baseline),
        control=NONE if one.control is None else percent(one.control),
        risk=small(one.risk),
        found=one.found,
    )


def _usefulness(title: str, figures: list[UsefulnessFacts]) -> EvidenceTable | None:
    if not figures:
        return None
    rows = tuple((one.title, one.reading, _value(one.value)) for one in figures)
    return _table(FigureTable(title, "", "", ("Measure", "What it says", "Value"), rows))


def _value(value: str | float) -> str:
    return value if isinstance(value, str) else number(value)


def _table(facts: FigureTable) -> EvidenceTable:
    rows = facts.rows[:MOST_ROWS]
    beyond = len(facts.rows) - len(rows)
    columns = list(zip(*rows, strict=True)) or [()] * len(facts.header)
    return EvidenceTable(
        title=facts.title,
        explanation=whole(facts.explanation),
        clause=facts.clause,
        header=facts.header,
        amounts=tuple(place > 0 and _amounts(cells) for place, cells in enumerate(columns)),
        rows=rows,
        left_out=f"{count(beyond, 'more row')} not shown." if beyond else "",
    )


def _amounts(cells: tuple[str, ...]) -> bool:
    """Whether a column is of figures: each cell is short and starts with one, or says that there is none."""
    told = [cell for cell in cells if cell not in {"", NONE}]
    return bool(told) and all(cell.lstrip("<>≤≥−-+ ")[:1].isdigit() and len(cell) <= 20 for cell in told)


def _frontier(facts: ReportFacts) -> FrontierSection | None:
    explored = facts.exploration
    if explored is None or not any(one.found for one in explored.tries):
        return None
    scales = FrontierScales.of(explored)
    return FrontierSection(
        panels=tuple((recoding, panel(explored, recoding, scales)) for recoding in explored.recodings),
        legend=tuple((swatch(limit, scales), limit_in_words(limit)) for limit in scales.limits),
        advice=explored.advice,
    )
