"""Numbers to intervals between given edges (ISO/IEC 20889, 9.6): ``7300`` → ``5000-9999`` → ``2000-9999`` → ``*``.

For numbers of which most are small and a few are large, as sums of money and counts are: intervals of one width would
take nearly all records into one group and leave the others nearly alone. Between the quantiles about as many records
lie in each. What is proposed are quantiles rounded to few digits, so that no edge is the value of a record.

Each further level joins neighbours. Intervals hold their lower edge and not their upper one; the first has no lower
end, and the last no upper one.

Loss of a cell: length of its interval ÷ length of the domain, as with intervals of one width.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Self

import numpy as np
import polars as pl
from pydantic import Field, field_validator, model_validator

from shoal.hierarchy.base import Hierarchy
from shoal.hierarchy.number_bands import Number, NumberBands, below_label, from_label, places, units
from shoal.hierarchy.proposals import ColumnValues, HierarchyProposal
from shoal.schema.columns import Column
from shoal.schema.values import ValueType

GROUPS = 8
"""Intervals on the lowest level of a proposal, at most."""
LEAST_RECORDS = 10
"""For each of these intervals; with fewer, a quantile says too much of single records."""
LEAST_GROUPS = 4
FULL = 1 / 3
"""The share of the records from which on one interval of a common width is too full."""
WIDTHS = 20
"""How many of those intervals a column would have."""
DIGITS = (1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10)
"""What an edge begins with."""


class CutsHierarchy(Hierarchy):
    """Numbers to intervals between given edges."""

    key = "cuts"
    data_independent = True
    turn = 25
    shorthand = "at"

    at: tuple[Number, ...] = Field(min_length=1)
    """The edges between the intervals of the lowest level, growing."""
    join: tuple[Annotated[int, Field(ge=2)], ...] | None = None
    """How many of these intervals become one on each further level; without it 2, 4, 8 and so on."""

    @field_validator("at")
    @classmethod
    def _grow(cls, at: tuple[Decimal, ...]) -> tuple[Decimal, ...]:
        if any(high <= low for low, high in itertools.pairwise(at)):
            raise ValueError("each edge has to be larger than the one before")
        return at

    @model_validator(mode="after")
    def _nest(self) -> Self:
        for few, many in itertools.pairwise((1, *(self.join or ()))):
            if many <= few or many % few:
                raise ValueError(f"{many} is not a multiple of {few}: what is joined has to stay together")
        if self.join and self.join[-1] > len(self.at):
            raise ValueError(f"{self.join[-1]} intervals of {len(self.at) + 1} leave nothing to tell apart")
        return self

    @property
    def joined(self) -> tuple[int, ...]:
        """How many intervals of the lowest level one has, on each level."""
        if self.join is not None:
            return (1, *self.join)
        return tuple(itertools.takewhile(lambda many: many <= len(self.at), (2**power for power in itertools.count())))

    @classmethod
    def propose(cls, values: ColumnValues) -> Iterator[HierarchyProposal]:
        """Between rounded quantiles, where one interval of a common width would have a third of the records."""
        if not values.is_measured:
            return
        whole = values.column.type is ValueType.INTEGER
        numbers = values.column.numbers(values.distinct["value"]).cast(pl.Float64).to_numpy()
        ordered = np.argsort(numbers)
        numbers, records = numbers[ordered], values.distinct["records"].to_numpy()[ordered]
        if not _is_crowded(numbers, records):
            return
        groups = min(GROUPS, int(records.sum()) // LEAST_RECORDS)
        reached = np.cumsum(records) / records.sum()
        above = np.maximum(np.searchsorted(reached, np.arange(1, groups) / groups), 1)  # the lowest value is below all
        quantiles = map(float, numbers[above])
        rounded = {_rounded(one, whole=whole) for one in quantiles}
        edges = sorted(edge for edge in rounded if numbers[0] < edge <= numbers[-1])
        if len(edges) + 1 >= LEAST_GROUPS:
            reason = f"most numbers lie close together, so {len(edges) + 1} intervals between quantiles, rounded"
            yield HierarchyProposal({"at": edges}, reason)

    def refuse(self, column: Column) -> str | None:
        if not column.is_number:
            return f"cuts works on integer and decimal columns; column '{column.name}' is {column.type}"
        if column.type is ValueType.INTEGER and any(places(edge) for edge in self.at):
            return f"column '{column.name}' holds whole numbers; edges have to be whole too"
        return None

    def bind(self, column: Column, distinct: pl.DataFrame) -> BoundCuts:
        """
        >>> spent = pl.DataFrame({"value": [40, 700, 7300, 99000], "records": [1, 1, 1, 1]})
        >>> bound = CutsHierarchy(at=[100, 2000, 10000]).bind(Column("spent", ValueType.INTEGER), spent)
        >>> [bound.generalise(spent["value"], level).to_list() for level in (1, 2)]
        [['<100', '100-1999', '2000-9999', '10000+'], ['<2000', '<2000', '2000+', '2000+']]
        """
        scale = max(map(places, self.at))
        whole = column.type is ValueType.INTEGER
        cut = [self.at[many - 1 :: many] for many in self.joined]
        return BoundCuts(
            column=column,
            scale=scale,
            digits=(scale,) * len(cut),
            cuts=tuple(tuple(units(edge, scale) for edge in edges) for edges in cut),
            open_ends=tuple((below_label(edges[0]), from_label(edges[-1], whole=whole)) for edges in cut),
        ).over(distinct["value"])


@dataclass(frozen=True)
class BoundCuts(NumberBands):
    """A band is the number of edges up to it."""

    cuts: tuple[tuple[int, ...], ...]
    """The edges of each level."""
    open_ends: tuple[tuple[str, str], ...]

    @property
    def height(self) -> int:
        return len(self.cuts) + 1

    def describe(self, level: int) -> str:
        return f"{len(self.cuts[level - 1]) + 1} intervals"

    def position(self, points: pl.Series, level: int) -> pl.Series:
        edges = pl.Series([self.number(edge) for edge in self.cuts[level - 1]])
        return edges.search_sorted(points, side="right").cast(pl.Int64).set(points.is_null(), None)

    def open_labels(self, level: int) -> tuple[str, str]:
        return self.open_ends[level - 1]

    def edges(self, positions: pl.Series, level: int) -> tuple[pl.Series, pl.Series]:
        edges = pl.Series([None, *self.cuts[level - 1], None], dtype=pl.Int64)
        return edges.gather(positions), edges.gather(positions + 1)


def _is_crowded(numbers: np.ndarray, records: np.ndarray) -> bool:
    """Whether one of twenty intervals of a common width would have a third of the records."""
    reached = np.cumsum(records) / records.sum()
    low, high = (float(numbers[np.searchsorted(reached, share)]) for share in (0.02, 0.98))
    if high <= low:
        return False
    bands = np.floor((numbers - low) / (high - low) * WIDTHS)
    _, place = np.unique(bands, return_inverse=True)
    return bool(np.bincount(place, weights=records).max() >= FULL * records.sum())


def _rounded(number: float, *, whole: bool) -> float:
    """The nearest number that begins with one of few digits.

    >>> _rounded(22026.4, whole=True), _rounded(-0.37, whole=False), _rounded(1.4, whole=True)
    (20000, -0.4, 1)
    """
    if number == 0 or (whole and abs(number) < 1):
        return round(number)
    power = 10.0 ** math.floor(math.log10(abs(number)))
    digits = [digit for digit in DIGITS if not whole or (digit * power).is_integer()]
    first = min(digits, key=lambda digit: abs(digit - abs(number) / power))
    tidy = float(f"{math.copysign(first * power, number):.10g}")
    return round(tidy) if whole or tidy.is_integer() else tidy
