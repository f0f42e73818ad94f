"""Bounds that a record has from those above it: no visit before its patient was born, none after the death.

They are declared, or found where they hold of every record and would not by chance. A date is compared with a moment by
its day. Bounds hold in every record that is drawn, because columns are moved within them at the end.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from typing import Final, Literal

import polars as pl

from shoal.errors import DataError
from shoal.schema.parameters import Parameters
from shoal.synth.column_shapes import NUMBERED, ColumnShape, Origin, ShapeKind
from shoal.synth.constraint_detection import is_below
from shoal.synth.constraints import Inequality

_DAY: Final = 86_400_000_000
_MOSTLY, _SLACK = 0.9, 0.01
"""The share of records that have both dates, and how far before the other a date may lie, as a share of its spread."""
_DATED: Final = frozenset({ShapeKind.DATE, ShapeKind.DATETIME})

Side = Literal["floor", "ceiling"]
Limits = Mapping[str, pl.Series]


class CrossTableBound(Parameters):
    """That a column is not below (or above) one of a table further up, where both are there."""

    column: str
    side: Side
    ancestor: str
    """As ``patients.born``."""
    origin: Origin = "declared"


class MeasuredFrom(Parameters):
    """The column of a table further up that lies nearest to a column, which is modelled by its distance from there."""

    ancestor: str
    slack: int = 0
    """How far before it a few may lie, in steps of the column."""

    def start(self, shape: ColumnShape, known: pl.DataFrame, known_shapes: Mapping[str, ColumnShape]) -> pl.Series:
        return in_unit(known[self.ancestor], known_shapes[self.ancestor], shape, "floor") - self.slack


def nearest_of(
    own: pl.DataFrame,
    shapes: Mapping[str, ColumnShape],
    known: pl.DataFrame,
    known_shapes: Mapping[str, ColumnShape],
    rare: int,
) -> dict[str, MeasuredFrom]:
    """For each date what it is measured from: the date above it that it mostly follows most closely."""
    found: dict[str, tuple[float, MeasuredFrom]] = {}
    for column in (name for name in own.columns if shapes[name].kind in _DATED):
        for ancestor in (name for name in known.columns if known_shapes[name].kind in _DATED):
            apart = own[column] - in_unit(known[ancestor], known_shapes[ancestor], shapes[column], "floor")
            there = apart.drop_nulls().sort()
            if len(there) < max(2 * rare, _MOSTLY * len(own[column].drop_nulls())):
                continue
            slack = max(0, -int(there[rare - 1]))
            far = float(there.clip(-slack).median() or 0) + 2 * slack  # type: ignore[arg-type]
            spread = float(own[column].quantile(0.75) or 0) - float(own[column].quantile(0.25) or 0)
            if slack <= _SLACK * spread and far < found.get(column, (float("inf"),))[0]:
                found[column] = far, MeasuredFrom(ancestor=ancestor, slack=slack)
    return {column: nearest for column, (_, nearest) in found.items()}


def bounds_of(
    own: pl.DataFrame,
    shapes: Mapping[str, ColumnShape],
    known: pl.DataFrame,
    known_shapes: Mapping[str, ColumnShape],
    declared: Sequence[CrossTableBound],
) -> tuple[CrossTableBound, ...]:
    """What was declared, and what else holds of dates: columns as they are read, record by record."""
    for bound in declared:
        _refuse_unlike(bound, shapes[bound.column], known_shapes[bound.ancestor])
    said = {(bound.column, bound.ancestor) for bound in declared}
    return (*declared, *(one for one in _found(own, shapes, known, known_shapes) if _ends(one) not in said))


def _ends(bound: CrossTableBound) -> tuple[str, str]:
    return bound.column, bound.ancestor


def _found(
    own: pl.DataFrame,
    shapes: Mapping[str, ColumnShape],
    known: pl.DataFrame,
    known_shapes: Mapping[str, ColumnShape],
) -> Iterator[CrossTableBound]:
    for column in (name for name in own.columns if shapes[name].kind in _DATED):
        for ancestor in (name for name in known.columns if known_shapes[name].kind in _DATED):
            for side in ("floor", "ceiling"):
                bound = CrossTableBound(column=column, side=side, ancestor=ancestor, origin="found")
                limit = in_unit(known[ancestor], known_shapes[ancestor], shapes[column], side)
                if is_below(limit, own[column]) if side == "floor" else is_below(own[column], limit):
                    yield bound


def _refuse_unlike(bound: CrossTableBound, own: ColumnShape, other: ColumnShape) -> None:
    both = {own.kind, other.kind}
    if not (both <= _DATED or both <= NUMBERED):
        raise DataError(f"'{bound.column}' and '{bound.ancestor}' can't be compared: they are of different kinds")


def in_unit(values: pl.Series, given: ColumnShape, asked: ColumnShape, side: Side) -> pl.Series:
    """Steps of one column in those of another: the least that is not below, or the largest that is not above.

    >>> day, moment = ColumnShape(kind=ShapeKind.DATE), ColumnShape(kind=ShapeKind.DATETIME)
    >>> [in_unit(pl.Series([1]), day, moment, side).item() for side in ("floor", "ceiling")]
    [86400000000, 172799999999]
    """
    if given.kind in NUMBERED:
        factor = 10 ** abs(asked.decimals - given.decimals)
        up = factor - 1 if side == "floor" else 0
        scaled: pl.Series = values * factor if asked.decimals >= given.decimals else (values + up) // factor
        return scaled
    if given.kind is asked.kind:
        return values
    if asked.kind is ShapeKind.DATETIME:
        return values * _DAY + (_DAY - 1 if side == "ceiling" else 0)
    return values // _DAY


def limits_of(
    bounds: Iterable[CrossTableBound],
    side: Side,
    shapes: Mapping[str, ColumnShape],
    known: pl.DataFrame,
    known_shapes: Mapping[str, ColumnShape],
) -> dict[str, pl.Series]:
    """Of each column that has bounds on a side, the narrowest for each record; missing where there is none."""
    found: dict[str, list[pl.Series]] = {}
    for one in bounds:
        if one.side == side:
            limit = in_unit(known[one.ancestor], known_shapes[one.ancestor], shapes[one.column], side)
            found.setdefault(one.column, []).append(limit)
    return {name: _narrowest(series, side) for name, series in found.items()}


def _narrowest(series: Sequence[pl.Series], side: Side) -> pl.Series:
    columns = pl.DataFrame([one.alias(str(place)) for place, one in enumerate(series)])
    every = pl.max_horizontal(pl.all()) if side == "floor" else pl.min_horizontal(pl.all())
    return columns.select(every.alias("limit"))["limit"]


def within(table: pl.DataFrame, floors: Limits, ceilings: Limits, inequalities: Sequence[Inequality]) -> pl.DataFrame:
    """Columns moved within their limits, so that what is at most another still is: parts of it move along."""
    upwards = _rising(inequalities)
    low, high = dict(floors), dict(ceilings)
    for one in reversed(upwards):
        if one.upper in high:
            high[one.lower] = _narrowest(
                [high[one.upper], *([high[one.lower]] if one.lower in high else [])], "ceiling"
            )
    for one in upwards:
        if one.lower in low:
            low[one.upper] = _narrowest([low[one.lower], *([low[one.upper]] if one.upper in low else [])], "floor")
    for name, limit in high.items():
        table = _moved(table, name, limit, pl.min_horizontal("own", "limit"))
    for name, limit in low.items():
        table = _moved(table, name, limit, pl.max_horizontal("own", "limit"))
    return table


def _moved(table: pl.DataFrame, name: str, limit: pl.Series, moved: pl.Expr) -> pl.DataFrame:
    both = pl.DataFrame({"own": table[name], "limit": limit})
    return table.with_columns(both.select(pl.when(pl.col("own").is_not_null()).then(moved).alias(name))[name])


def _rising(inequalities: Sequence[Inequality]) -> list[Inequality]:
    """Each after those whose upper is its lower."""

    def rank(name: str) -> int:
        return reduce(max, (rank(one.lower) + 1 for one in inequalities if one.upper == name), 0)

    return sorted(inequalities, key=lambda one: rank(one.upper))
