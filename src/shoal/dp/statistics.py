"""The figures that noise is added to: whole numbers by group, each with what one person can change at most.

An aggregate is worked out of one to three of them. Values are shifted by a public amount and counted in a public step,
so that sums are sums of whole numbers: there is no rounding that depends on other rows, and no overflow.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from functools import cached_property
from math import ceil, inf, log2, nextafter, sqrt
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.dp.description import DatasetColumn
from shoal.dp.question import AggregateFunction, AskedFigure
from shoal.dp.scalars import PublicFacts, Scalar, ScalarColumn, columns_in, expression, facts_of
from shoal.errors import BugError

Places = NDArray[np.float64]
LARGEST_UNIT: Final = 2**24
"""A row counts at most so much, in steps: sums of 2³² rows fit into 63 bits, also when they are weighted."""
CANDIDATES: Final = 2**18
"""Of a quantile, in all groups together. With many rows, fewer of them would be further off than the noise is."""
FARTHEST: Final = 2**28
"""That an offset may be, in steps: sums of 2³² rows fit with it as well."""
_NUMBER: Final = "\x00number"
COARSER: Final = 4
"""The steps of a mean may be so much larger than they would have to be."""
FINEST: Final = 10_000
"""Quantiles are asked for in ten-thousandths."""


class StatisticKind(StrEnum):
    ROWS = "rows"
    PEOPLE = "people"
    TOTAL = "total"


@dataclass(frozen=True)
class Statistic:
    """One whole number for each group."""

    kind: StatisticKind
    scalar: Scalar | None = None
    offset: float = 0.0
    """Taken away from a value before it is counted."""
    power: int = 1
    step: float = 1.0
    """What one unit of the number stands for."""
    most: int = 1
    """That a row can add, up or down."""

    def l1(self, rows: int, groups: int | None = None) -> int:
        """How much a person with so many rows can change all groups together; ``groups`` where that is public.

        A person is counted once in each group, however many rows there are.
        """
        return min(rows, groups or rows) if self.kind is StatisticKind.PEOPLE else rows * self.most

    def l2(self, rows: int, groups: int | None = None) -> float:
        """The same as Euclid's distance: worst where all rows are in one group. Rounded up."""
        people = self.kind is StatisticKind.PEOPLE
        return nextafter(sqrt(self.l1(rows, groups)), inf) if people else nextafter(float(rows * self.most), inf)

    @property
    def shift(self) -> int | None:
        """The offset as a whole number of steps, where it is one: then rows are counted without it.

        Not where bounds lie close together and far from nought: sums of what is far from nought would overflow.
        """
        steps = self.offset / self.step
        return int(steps) if self.power == 1 and abs(steps) <= FARTHEST and steps.is_integer() else None

    def of_row(self, scalar: Scalar, least: int, most: int) -> pl.Expr:
        """A whole number of steps between two bounds for whatever stands in the row; null where nothing does."""
        value = expression(scalar)
        shifted = value if self.shift is not None else value - self.offset
        powered = shifted * shifted if self.power == 2 else shifted
        steps = powered / self.step if self.step != 1 else powered
        whole = steps.round()
        bounded = whole if isinstance(scalar, ScalarColumn) else whole.clip(least, most)  # columns are clipped as read
        return bounded.cast(pl.Int64, strict=False)


@dataclass(frozen=True)
class GroupSums:
    """How the statistics of a question are worked out: columns of each row, and sums of these by group.

    Sums of one expression in the same steps are one column, whatever they are counted from: Σ(x − o) = Σx − n·o in
    whole numbers. Its bounds are those that all of them have in common, so each gets no more of a row than it states.
    """

    statistics: tuple[Statistic, ...]

    def rows(self) -> list[pl.Expr]:
        """Each once."""
        return [made.alias(name) for made, name in self._columns.values()]

    def sums(self) -> list[pl.Expr]:
        """By group, each once; a row whose value is null adds nothing."""
        names = [name for _, name in self._columns.values()]
        summed = {self._columns[self._column_of(one)][1] for one in self.statistics if self._is_summed(one)}
        totals = [pl.col(name).sum().alias(f"{name}+") for name in names if name in summed]
        return [pl.len().alias(_NUMBER), *totals, *(pl.col(name).count().alias(f"{name}#") for name in names)]

    def figures(self) -> list[pl.Expr]:
        """In the order of the statistics, as whole numbers, from the sums."""
        return [self._figure(one) for one in self.statistics]

    def _is_summed(self, one: Statistic) -> bool:
        return one.kind is StatisticKind.TOTAL and one.scalar is not None and _varies(one.scalar)

    def _figure(self, one: Statistic) -> pl.Expr:
        if one.kind is StatisticKind.PEOPLE:
            return pl.lit(0, dtype=pl.Int64)  # counted apart, since rows of one person go together
        number = pl.col(_NUMBER).cast(pl.Int64)
        if one.scalar is None:
            return number
        if not _varies(one.scalar):  # a constant stands once for all rows
            if one.kind is StatisticKind.ROWS:
                return expression(one.scalar).is_not_null().cast(pl.Int64) * number
            shift = one.shift or 0
            return (one.of_row(one.scalar, shift - one.most, shift + one.most) - shift).fill_null(0) * number
        name = self._columns[self._column_of(one)][1]
        counted = pl.col(f"{name}#").cast(pl.Int64)
        if one.kind is StatisticKind.ROWS:
            return counted
        return pl.col(f"{name}+") - counted * one.shift if one.shift else pl.col(f"{name}+")

    @cached_property
    def _columns(self) -> dict[tuple[object, ...], tuple[pl.Expr, str]]:
        sharing: dict[tuple[object, ...], list[Statistic]] = {}
        for one in self.statistics:
            if one.scalar is not None and _varies(one.scalar):
                sharing.setdefault(self._column_of(one), []).append(one)
        return {key: (_column(members), f"\x00of{place}") for place, (key, members) in enumerate(sharing.items())}

    def _column_of(self, one: Statistic) -> tuple[object, ...]:
        """What tells columns apart. Rows are counted in a column of sums, where there is one of the same expression."""
        if one.kind is StatisticKind.TOTAL:
            return one.scalar, one.step, one.power, None if one.shift is not None else one.offset
        summed = (other for other in self.statistics if other.kind is StatisticKind.TOTAL)
        same = next((other for other in summed if other.scalar == one.scalar), None)
        return (one.scalar,) if same is None else self._column_of(same)


def _column(members: list[Statistic]) -> pl.Expr:
    totals = [one for one in members if one.kind is StatisticKind.TOTAL]
    scalar = members[0].scalar
    if scalar is None:
        raise BugError("rows are counted without a column")
    if not totals:
        return expression(scalar)
    least = max((one.shift or 0) - one.most for one in totals)
    return totals[0].of_row(scalar, least, min((one.shift or 0) + one.most for one in totals))


def _varies(scalar: Scalar) -> bool:
    return any(True for _ in columns_in(scalar))


@dataclass(frozen=True)
class QuantileStatistic:
    """A value of a public grid whose rank is asked for: each candidate has a score that people change a little."""

    scalar: Scalar
    fraction: Fraction
    low: float
    high: float
    whole: bool

    def grid(self, groups: int) -> Places:
        """Candidates, fewer of them for many groups, so that choosing stays quick."""
        size = max(256, CANDIDATES // max(1, groups))
        width = self.high - self.low
        if self.whole and width + 1 <= size:
            return np.asarray(self.low + np.arange(int(width) + 1), dtype=np.float64)
        points = self.low + width * np.arange(size) / (size - 1)
        return np.unique(np.round(points)) if self.whole else points

    def values(self, grid: Places, low: Places, high: Places) -> tuple[Places, Places]:
        """What places on the grid stand for, rounded outwards."""
        beyond = 0.0 if self.whole else 0.5  # a row may lie half a step from the candidate that it counts for
        places = np.arange(len(grid))
        ends = np.floor(low + 0.5) - beyond, np.ceil(high - 0.5) + beyond
        first, last = (np.interp(np.clip(one, 0, len(grid) - 1), places, grid) for one in ends)
        return first, last

    @property
    def weight(self) -> int:
        """How much one row can change a score."""
        return max(self.fraction.numerator, self.fraction.denominator - self.fraction.numerator)

    def scores(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Of candidates, from the number of rows at each: how far the wanted rank lies from the ranks of its rows.

        Nought is best. Many rows may have the same value; whichever of them has the rank, the value is the quantile.
        """
        share, whole = self.fraction.numerator, self.fraction.denominator
        up_to = np.cumsum(counts)
        wanted = share * up_to[-1]
        beyond = np.maximum(whole * (up_to - counts) - wanted, wanted - whole * up_to)
        return np.asarray(-np.maximum(beyond, 0), dtype=np.int64)


@dataclass(frozen=True)
class Ingredients:
    """What an aggregate is worked out of."""

    statistics: tuple[Statistic, ...] = ()
    quantile: QuantileStatistic | None = None


def ingredients(aggregate: AskedFigure, columns: Mapping[str, DatasetColumn]) -> Ingredients:
    scalar = aggregate.argument
    if scalar is None:
        people = aggregate.function is AggregateFunction.PEOPLE
        return Ingredients((Statistic(StatisticKind.PEOPLE if people else StatisticKind.ROWS),))
    rows = Statistic(StatisticKind.ROWS, scalar)
    if aggregate.function is AggregateFunction.COUNT:
        return Ingredients((rows,))
    facts = facts_of(scalar, columns)
    if aggregate.function is AggregateFunction.QUANTILE:
        share = Fraction(aggregate.fraction or 0.5).limit_denominator(FINEST)
        return Ingredients(quantile=QuantileStatistic(scalar, share, facts.low, facts.high, facts.whole))
    if aggregate.function is AggregateFunction.SUM:
        return Ingredients((_total(scalar, facts, 0.0, _step(facts, 0.0, 1), 1),))
    first = _total(scalar, facts, *_middle(facts), 1)
    if aggregate.function is AggregateFunction.MEAN:
        return Ingredients((rows, first))
    second = _total(scalar, facts, first.offset, _step(facts, first.offset, 2), 2)
    return Ingredients((rows, first, second))


def _middle(facts: PublicFacts) -> tuple[float, float]:
    """Of the bounds: what lies around it sums to less, so the noise on a mean is less too. And the step to count in.

    The step of a sum will do where it is not much coarser; then a sum and a mean are counted in one go.
    """
    middle = (facts.low + facts.high) / 2
    middle = float(round(middle)) if facts.whole else middle
    step, plain = _step(facts, middle, 1), _step(facts, 0.0, 1)
    return (round(middle / plain) * plain, plain) if plain <= COARSER * step else (middle, step)


def _reach(facts: PublicFacts, offset: float, power: int) -> float:
    return float(max(abs(facts.low - offset), abs(facts.high - offset)) ** power)


def _step(facts: PublicFacts, offset: float, power: int) -> float:
    reach = _reach(facts, offset, power)
    return 1.0 if facts.whole and reach <= LARGEST_UNIT else 2.0 ** ceil(log2(max(reach, 1e-300) / LARGEST_UNIT))


def _total(scalar: Scalar, facts: PublicFacts, offset: float, step: float, power: int) -> Statistic:
    most = max(1, ceil(_reach(facts, offset, power) / step))
    return Statistic(StatisticKind.TOTAL, scalar, offset, power, step, most)


def combined(function: AggregateFunction, parts: tuple[pl.Expr, ...], used: tuple[Statistic, ...]) -> pl.Expr:
    """The aggregate from the figures of its statistics, which are named in ``parts``; null where it means nothing.

    A mean lies within the public bounds and a variance is at most the square of half of what lies between them.
    """
    if function in (AggregateFunction.COUNT, AggregateFunction.PEOPLE, AggregateFunction.SUM):
        return parts[0] * used[0].step
    number = pl.when(parts[0] > 0).then(parts[0])
    reach = used[1].most * used[1].step
    shifted = (parts[1] * used[1].step / number).clip(-reach, reach)
    if function is AggregateFunction.MEAN:
        return shifted + used[1].offset
    variance = (parts[2] * used[2].step / number - shifted * shifted).clip(0.0, reach * reach)
    return variance.sqrt() if function is AggregateFunction.DEVIATION else variance
