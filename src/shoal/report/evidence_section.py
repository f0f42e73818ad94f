"""The evidence as the owner's edition shows it. A recipient's page has none of it: its ``Page.proof`` is empty."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from markupsafe import Markup

from shoal.measurement.usefulness import readings
from shoal.report.facts import ReportFacts
from shoal.report.small_multiples import DistributionChart, distribution, interval, reach
from shoal.report.wording import harm_in_words, measured, sentence, whole
from shoal.results.attack_results import AttackResult
from shoal.results.evidence_facts import DistributionFacts, FigureTable
from shoal.results.number_format import NONE, count, number, percent
from shoal.results.risk_results import AttackerRiskResult

FEW = 12
"""Attributes without a change that are shown one by one; more of them are named only."""
MOST_ATTRIBUTES = 200
MOST_ROWS = 200
_PARTS = {
    "insider": "an insider tries, by motive and controls",
    "acquaintance": "a recipient recognises somebody",
    "breach": "the data gets out at the recipient",
}
COUNTED = "counted in the file; nothing needs to be known of the population"


@dataclass(frozen=True)
class EvidenceTable(FigureTable):
    """A table of text; ``amounts`` says which columns are of figures."""

    amounts: tuple[bool, ...]
    left_out: str
    """Says how many rows are not shown; empty when all are."""


@dataclass(frozen=True)
class AssessmentSection:
    sentences: tuple[str, ...]
    within: bool
    table: EvidenceTable


@dataclass(frozen=True)
class AttackRow:
    attack: AttackResult
    words: str
    drawing: Markup


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
    told = zip(facts.attacks, facts.attack_words, strict=True)
    return EvidenceSection(
        assessed=_assessed(facts),
        attackers=_attackers(facts) if measured(facts) else None,
        attacks=tuple(AttackRow(one, words, interval(one, end)) for one, words in told),
        attacks_end=percent(end),
        distributions=tuple(distribution(one) for one in shown),
        distributions_left_out=f"{count(beyond, 'more attribute')} not shown." if beyond else "",
        same=tuple(one.name for one in same),
        matters=_usefulness("What the purpose depends on", facts, matters=True),
        also=_usefulness("Also measured", facts, matters=False),
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
        *(
            (name.capitalize(), number(chance), sentence(_PARTS.get(name, "")))
            for name, chance in one.parts.items()
            if chance is not None
        ),
        ("Success", number(one.success), sentence("an attempt succeeds: 1 ÷ k")),
        ("Risk", number(one.probability), "Of re-identification: what the parts come to together."),
        ("Limit", number(one.threshold), f"For {harm_in_words(one.harm)}."),
    )
    parts = FigureTable("How the risk was assessed", "", "PDPC, annex D", ("Part", "Value", "Meaning"), rows)
    return AssessmentSection(one.words, one.within, _table(parts))


def _attackers(facts: ReportFacts) -> EvidenceTable | None:
    before, after = facts.attackers_before, facts.manifest.attackers
    if after is None:
        return None
    arrow = "" if before is None else " An arrow leads from the original to the release."
    both = [one for one in (before, after) if one is not None]
    basis = after.basis_in_words
    return _table(
        FigureTable(
            "Three kinds of attacker",
            "A prosecutor knows that the person is in the file, a journalist does not, a marketer wants as many people "
            f"as possible and is content to be right on average.{arrow}",
            "PDPC, annex D",
            ("Attacker", "Highest", "Average", f"Above {number(after.threshold)}", "Basis"),
            (
                ("Prosecutor", *_changes([one.prosecutor for one in both]), COUNTED),
                ("Journalist", *_changes([one.journalist for one in both]), basis),
                ("Marketer", NONE, _arrow(number(one.marketer) for one in both), NONE, basis),
            ),
        )
    )


def _changes(risks: list[AttackerRiskResult]) -> tuple[str, str, str]:
    return (
        _arrow(number(one.max) for one in risks),
        _arrow(number(one.average) for one in risks),
        _arrow(percent(one.above) for one in risks),
    )


def _arrow(figures: Iterable[str]) -> str:
    """A figure, and where it is known that of the original before it."""
    return " → ".join(figures)


def _usefulness(title: str, facts: ReportFacts, *, matters: bool) -> EvidenceTable | None:
    useful = facts.manifest.usefulness
    if useful is None:
        return None
    wanted = useful.for_purpose if useful.purpose is not None else ()
    known = readings()
    rows = tuple(
        (known[name].title, known[name].meaning, number(value))
        for name, value in useful.figures.items()
        if value is not None and name in known and (name in wanted) is matters
    )
    return _table(FigureTable(title, "", "", ("Measure", "What it says", "Value"), rows)) if rows else None


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
    from shoal.report.exploration import limit_in_words
    from shoal.report.frontier import FrontierScales, panel, swatch

    scales = FrontierScales.of(explored)
    return FrontierSection(
        panels=tuple((recoding, panel(explored, recoding, scales)) for recoding in explored.recodings),
        legend=tuple((swatch(limit, scales), limit_in_words(limit)) for limit in scales.limits),
        advice=explored.advice,
    )
