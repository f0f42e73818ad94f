"""What the owner's edition says column by column: detail lost, risk added, relations kept, example rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from shoal.report.facts import ReportFacts
from shoal.report.plots import bar
from shoal.report.small_multiples import DistributionBar, before_and_after
from shoal.report.wording import measured
from shoal.results.column_results import ColumnResult
from shoal.results.evidence_facts import ExampleColumn
from shoal.results.number_format import NONE, count, number, percent
from shoal.results.record_counts import GroupSuppression

MOST_RELATIONS = 20
OTHERS = "all others"
_MEASURES = {"pearson": "Pearson’s r", "cramers_v": "Cramér’s V", "correlation_ratio": "correlation ratio"}
"""Those that are the same in both directions, or can be had in one only."""


@dataclass(frozen=True)
class ColumnLoss:
    name: str
    loss: str
    drawing: Markup
    levels: tuple[tuple[str, str], ...]
    """Share of the cells, and what was done to them."""


@dataclass(frozen=True)
class ComparedFigures:
    """Lines of two figures each, with their bars."""

    rows: tuple[DistributionBar, ...]
    left_out: str = ""


@dataclass(frozen=True)
class SuppressedLine:
    """What was suppressed of one group of a quasi-identifier."""

    attribute: str
    group: str
    records: str
    share: str
    cell_share: str
    drawing: Markup


def column_losses(facts: ReportFacts) -> tuple[ColumnLoss, ...]:
    """The greatest loss first."""
    ranked = sorted((facts.manifest.columns or {}).items(), key=lambda one: -one[1].loss)
    return tuple(_loss(name, column) for name, column in ranked)


def _loss(name: str, column: ColumnResult) -> ColumnLoss:
    levels = tuple((percent(one.share), one.meaning) for one in column.levels if one.share)
    return ColumnLoss(name, percent(column.loss), bar(column.loss, "after"), levels)


def risk_drivers(facts: ReportFacts) -> ComparedFigures | None:
    """What each quasi-identifier adds to the average risk, before and after."""
    manifest = facts.manifest
    if not manifest.drivers or manifest.risk is None or not measured(facts):
        return None
    whole = (None if manifest.risk_before is None else manifest.risk_before.prosecutor_average,
             manifest.risk.prosecutor_average)  # fmt: skip
    rows = []
    for one in manifest.drivers:
        parts = [_part(left, all_) for left, all_ in zip((one.before, one.after), whole, strict=True)]
        told = [NONE if part is None else percent(part) for part in parts]
        drawn = before_and_after(*(part or 0.0 for part in parts))
        rows.append(DistributionBar(one.attribute, told[0], told[1], drawn))
    return ComparedFigures(tuple(rows))


def _part(left: float | None, whole: float | None) -> float | None:
    return None if left is None or not whole else max(0.0, 1 - left / whole)


def suppressed_lines(facts: ReportFacts) -> tuple[SuppressedLine, ...]:
    told = (facts.manifest.suppressed_by_group or {}).items()
    return tuple(
        SuppressedLine(
            name,
            OTHERS if one.group is None else one.group,
            count(one.records, "record"),
            percent(one.share),
            percent(one.cell_share),
            bar(one.cell_share, "after"),
        )
        for name, groups in told
        for one in groups
    )


def hard_hit(facts: ReportFacts) -> tuple[str, ...]:
    """A sentence for each group that is hit more than twice as much as the average, the hardest first."""
    hit = [
        (one.cell_share, name, one, groups)
        for name, groups in (facts.manifest.suppressed_by_group or {}).items()
        for one in groups
        if one.above_average
    ]
    ranked = sorted(hit, key=lambda found: (-found[0], found[1]))
    return tuple(_hit_in_words(name, one, groups) for _, name, one, groups in ranked)


def _hit_in_words(name: str, one: GroupSuppression, groups: Sequence[GroupSuppression]) -> str:
    records = sum(each.records for each in groups)
    usual = sum(each.suppressed for each in groups) / max(1, records)
    usual_cells = sum(each.cell_share * each.records for each in groups) / max(1, records)
    who = f"the groups of '{name}' that are too small to be named" if one.group is None else f"'{name}' {one.group}"
    said = f"Of {who}, {percent(one.share)} of records and {percent(one.cell_share)} of cells are gone"
    return f"{said}; on average it is {percent(usual)} and {percent(usual_cells)}."


def relations(facts: ReportFacts) -> ComparedFigures | None:
    """Pairs of attributes by how strongly they were related, before and after."""
    useful = facts.manifest.usefulness
    known = [] if useful is None else [one for one in useful.associations if one.measure in _MEASURES]
    told = [(one, one.before, one.after) for one in known if one.before is not None]
    if not told:
        return None
    ranked = sorted(told, key=lambda one: (-abs(one[1]), one[0].first, one[0].second))
    shown, beyond = ranked[:MOST_RELATIONS], len(ranked) - MOST_RELATIONS
    rows = tuple(
        DistributionBar(
            f"{one.first} and {one.second}, {_MEASURES[one.measure]}",
            _signed(before),
            NONE if after is None else _signed(after),
            before_and_after(abs(before), abs(after or 0.0)),
        )
        for one, before, after in shown
    )
    return ComparedFigures(rows, f"{count(beyond, 'weaker relation')} not shown." if beyond > 0 else "")


def _signed(figure: float) -> str:
    return number(round(figure, 3)).replace("-", "−")


def example_lines(facts: ReportFacts, *, recipient: bool) -> tuple[ExampleColumn, ...]:
    """A recipient sees released attributes only, and before them what the released label tells itself."""
    if recipient:
        return tuple(one.for_recipient() for one in facts.examples if one.released)
    return facts.examples
