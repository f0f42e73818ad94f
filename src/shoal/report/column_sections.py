"""What the owner's edition says column by column: detail lost, risk added, relations kept, example rows."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from shoal.report.facts import ReportFacts
from shoal.report.plots import bar
from shoal.report.small_multiples import DistributionBar, before_and_after
from shoal.results.column_results import ColumnResult
from shoal.results.number_format import NONE, count, number, percent

MOST_RELATIONS = 20
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
class ExampleText:
    before: str
    after: str
    same: bool
    """Whether the value is released as it is."""


@dataclass(frozen=True)
class ExampleLine:
    name: str
    cells: tuple[ExampleText, ...]


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
    if not manifest.drivers or manifest.risk is None:
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
            number(round(before, 3)),
            NONE if after is None else number(round(after, 3)),
            before_and_after(abs(before), abs(after or 0.0)),
        )
        for one, before, after in shown
    )
    return ComparedFigures(rows, f"{count(beyond, 'weaker relation')} not shown." if beyond > 0 else "")


def example_lines(facts: ReportFacts, *, recipient: bool) -> tuple[ExampleLine, ...]:
    """A recipient sees released attributes only, and before them what the released label tells itself."""
    return tuple(
        ExampleLine(
            one.name,
            tuple(
                ExampleText(cell.for_recipient if recipient else cell.before, cell.after, cell.after == "the same")
                for cell in one.cells
            ),
        )
        for one in facts.examples
        if one.released or not recipient
    )
