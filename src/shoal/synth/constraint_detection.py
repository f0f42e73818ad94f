"""Constraints found in a table: what holds of every record, and would not by chance."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Final

import numpy as np
import polars as pl

from shoal.discover.dependencies import dependencies
from shoal.kernels.arrays import Floats
from shoal.synth.column_shapes import NUMBERED, ShapeKind, Shapes
from shoal.synth.constraints import FunctionalDependency, Inequality, SumOfParts, TableConstraints, UniqueColumn

_SURPRISES: Final = 10.0
"""Records that would break a constraint if the columns had nothing to do with each other: fewer show nothing."""
_SHARE: Final = 0.01
"""… of those that could break an inequality."""
_LOOKED_AT: Final = 20_000
_TRIED: Final = 200
_MOST_ADDED: Final = 16
"""Columns among which sums are looked for."""


def constraints_of(table: pl.DataFrame, shapes: Shapes, declared: TableConstraints | None = None) -> TableConstraints:
    """What was declared, and what else is found in a table whose columns are read by their shapes."""
    said = declared or TableConstraints()
    taken = set(said.derivations())
    unique = [name for name, shape in shapes.items() if shape.kind is ShapeKind.IDENTIFIER]
    known = {one.column for one in said.unique}
    plain = {name: shape for name, shape in shapes.items() if not (shape.special or shape.words or shape.partly)}
    free = {name: shape for name, shape in plain.items() if name not in known | set(unique)}
    sums = list(_sums(table, free, taken))
    taken |= {one.total for one in sums}
    found_dependencies = list(_dependencies(table, shapes, taken))
    taken |= {one.dependent for one in found_dependencies}
    return TableConstraints(
        dependencies=(*said.dependencies, *found_dependencies),
        inequalities=(*said.inequalities, *_inequalities(table, free, taken)),
        sums=(*said.sums, *sums),
        unique=(*said.unique, *(UniqueColumn(column=one, origin="found") for one in unique if one not in known)),
    )


def _dependencies(table: pl.DataFrame, shapes: Shapes, taken: set[str]) -> Iterator[FunctionalDependency]:
    named = [name for name, shape in shapes.items() if shape.is_named]
    told = [name for name, shape in shapes.items() if shape.is_stepped]
    candidates = dependencies(table.head(_LOOKED_AT), [*named, *told])
    derived = set(taken)
    for one in candidates:
        ways = [(one.by, one.told), (one.told, one.by)] if one.both_ways else [(one.by, one.told)]
        for by, other in ways:
            if by in named and by not in derived and other not in derived and _determines(table, by, other):
                derived.add(other)
                yield FunctionalDependency(determinant=by, dependent=other, origin="found")
                break


def _determines(table: pl.DataFrame, by: str, told: str) -> bool:
    """Whether it holds of all records, a missing value as one more, and surprises."""
    groups = table.group_by(by).agg(pl.col(told).n_unique().alias("told"))
    if (groups["told"] > 1).any():
        return False
    shares = table[told].value_counts(name="records")["records"].to_numpy() / table.height
    compared = table.height - groups.height
    return bool(compared * (1 - (shares**2).sum()) >= _SURPRISES)


def _inequalities(table: pl.DataFrame, shapes: Shapes, taken: set[str]) -> Iterator[Inequality]:
    """For each column that is never below another, the nearest of these."""
    nearest: dict[str, tuple[float, str]] = {}
    some = table.head(_TRIED)
    known = {name: some[name].cast(pl.Float64).to_numpy() for name, shape in shapes.items() if shape.is_stepped}
    for first, second in combinations(known, 2):
        if _unit(shapes, first) != _unit(shapes, second):
            continue
        for lower, upper in ((first, second), (second, first)):
            if upper in taken or (known[lower] > known[upper]).any() or not is_below(table[lower], table[upper]):
                continue
            apart = float((table[upper].cast(pl.Float64) - table[lower].cast(pl.Float64)).mean() or 0)  # type: ignore[arg-type]
            nearest[upper] = min(nearest.get(upper, (np.inf, "")), (apart, lower))
    for upper, (_, lower) in nearest.items():
        yield Inequality(lower=lower, upper=upper, origin="found")


def _unit(shapes: Shapes, name: str) -> tuple[str, int]:
    shape = shapes[name]
    return ("number" if shape.kind in NUMBERED else str(shape.kind), shape.decimals)


def is_below(lower: pl.Series, upper: pl.Series) -> bool:
    """Whether one is never above the other, and would be by chance."""
    both = lower.is_not_null() & upper.is_not_null()
    low, high = lower.filter(both).to_numpy(), upper.filter(both).to_numpy()
    if not len(low) or (low > high).any() or not (low < high).any():
        return False
    above = np.searchsorted(np.sort(high), low, side="left").mean()
    return bool(above >= max(_SURPRISES, _SHARE * len(low)))


def _sums(table: pl.DataFrame, shapes: Shapes, taken: set[str]) -> Iterator[SumOfParts]:
    """Of two or three parts. A part of one sum is not the total of another."""
    names = [name for name, shape in shapes.items() if shape.kind in NUMBERED and table[name].n_unique() > 2]
    names = names[:_MOST_ADDED]
    some = table.select(names).drop_nulls().head(_TRIED)
    if some.height < _TRIED // 4:
        return
    values = {name: some[name].cast(pl.Float64).to_numpy() / 10.0 ** shapes[name].decimals for name in names}
    used: set[str] = set()
    for size in (2, 3):
        for parts in combinations(names, size):
            added = np.sum([values[part] for part in parts], axis=0)
            for total in _equal_to(added, values, parts, taken | used):
                if not used & set(parts) and _adds_up(table, shapes, total, parts):
                    used |= {total, *parts}
                    yield SumOfParts(total=total, parts=parts, origin="found")


def _equal_to(added: Floats, values: dict[str, Floats], parts: Sequence[str], taken: set[str]) -> list[str]:
    others = [name for name in values if name not in parts and name not in taken]
    return [name for name in others if np.allclose(values[name], added, rtol=0, atol=1e-9)]


def _adds_up(table: pl.DataFrame, shapes: Shapes, total: str, parts: Sequence[str]) -> bool:
    def number(name: str) -> pl.Expr:
        return pl.col(name).cast(pl.Float64) / 10.0 ** shapes[name].decimals

    added = sum((number(part) for part in parts[1:]), start=number(parts[0]))
    missing = pl.any_horizontal(pl.col(part).is_null() for part in parts)
    apart = table.select(
        (added - number(total)).abs().max().alias("most"), (missing != pl.col(total).is_null()).any().alias("gaps")
    )
    return not apart["gaps"][0] and bool((apart["most"][0] or 0) < 1e-6)
