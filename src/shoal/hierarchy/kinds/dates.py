"""Periods of dates and times (PDPC annex B, date of birth): ``2024-02-14`` → ``2024-02`` → ``2024`` → ``2020s``.

Days make up months, months quarters, quarters years, years decades: that chain nests. Weeks (ISO 8601) are made of days
too, but a week can lie in two months, quarters or years, so nothing but ``*`` can stand above it.

Loss of a cell: (days of the period − 1) ÷ (days from the first to the last date in the data − 1), the period clipped to
these dates; for columns with a time of day the same in microseconds.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Self

import numpy as np
import polars as pl
from pydantic import Field, model_validator

from shoal.hierarchy.bands import Bands
from shoal.hierarchy.base import Hierarchy
from shoal.hierarchy.proposals import ColumnValues, HierarchyProposal
from shoal.schema.columns import Column
from shoal.schema.values import ValueType

MICROSECONDS = 86_400_000_000


LONG_SPAN = 3 * 366
"""Days from which on decades say something."""


class Period(StrEnum):
    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    QUARTER = "quarter"
    YEAR = "year"
    DECADE = "decade"


FORMATS = {
    Period.DAY: "%Y-%m-%d",
    Period.WEEK: "%G-W%V",
    Period.MONTH: "%Y-%m",
    Period.QUARTER: "%Y-Q",
    Period.YEAR: "%Y",
    Period.DECADE: "%Ys",
}
MONTHS = {Period.MONTH: 1, Period.QUARTER: 3, Period.YEAR: 12, Period.DECADE: 120}
DAYS = {Period.DAY: 1, Period.WEEK: 7}
MONDAY = 3
"""Day 0 (1970-01-01) is a Thursday, three days after the Monday of its week."""


class DateHierarchy(Hierarchy):
    """Dates to periods."""

    key = "dates"
    data_independent = True
    turn = 10
    shorthand = "levels"

    levels: tuple[Period, ...] = Field((Period.MONTH, Period.QUARTER, Period.YEAR, Period.DECADE), min_length=1)
    """The period on each level, each longer than the one before."""

    @model_validator(mode="after")
    def _nest(self) -> Self:
        order = list(Period)
        for shorter, longer in itertools.pairwise(self.levels):
            if order.index(longer) <= order.index(shorter):
                raise ValueError(f"{longer} after {shorter}: each level has to be longer than the one before")
            if shorter is Period.WEEK:
                raise ValueError(
                    f"{longer} after week: a week can lie in two of them, so week has to be the last level"
                )
        return self

    @classmethod
    def propose(cls, values: ColumnValues) -> Iterator[HierarchyProposal]:
        if not values.column.is_date:
            return
        days = values.column.dates(values.distinct["value"]).cast(pl.Date).dt.epoch("d")
        long = int(np.ptp(days.to_numpy())) > LONG_SPAN
        levels = ["month", "quarter", "year", "decade"] if long else ["month", "quarter", "year"]
        yield HierarchyProposal(levels, "dates become months, quarters and years")

    def refuse(self, column: Column) -> str | None:
        if not column.is_date:
            return f"dates works on date and datetime columns; column '{column.name}' is {column.type}"
        return None

    def bind(self, column: Column, distinct: pl.DataFrame) -> BoundDates:
        return BoundDates(column, self.levels).over(distinct["value"])


@dataclass(frozen=True)
class BoundDates(Bands):
    """Points are days, or microseconds where the column has a time of day; both counted from 1970-01-01.

    >>> column = Column("seen", ValueType.DATE, date_format="%d/%m/%Y")
    >>> known = pl.DataFrame({"value": ["14/02/2024"], "records": [1]})
    >>> bound = DateHierarchy(levels=("week",)).bind(column, known)
    >>> bound.generalise(known["value"], 1).item()
    '2024-W07'
    """

    levels: tuple[Period, ...]

    @property
    def height(self) -> int:
        return len(self.levels) + 1

    def describe(self, level: int) -> str:
        return f"{self.levels[level - 1]}s"

    @property
    def day(self) -> int:
        """A day in points."""
        return 1 if self.column.type is ValueType.DATE else MICROSECONDS

    def read(self, values: pl.Series) -> pl.Series:
        return self.column.dates(values).to_physical()

    def point(self, points: pl.Series) -> pl.Series:
        return points.cast(pl.Date if self.day == 1 else pl.Datetime("us"))

    def position(self, points: pl.Series, level: int) -> pl.Series:
        period = self.levels[level - 1]
        days = points.cast(pl.Int64) // self.day
        if period in DAYS:
            return (days + (MONDAY if period is Period.WEEK else 0)) // DAYS[period]
        dates = _date(days)
        months = dates.dt.year().cast(pl.Int64) * 12 + dates.dt.month() - 1
        return months // MONTHS[period]

    def text(self, positions: pl.Series, level: int) -> pl.Series:
        period = self.levels[level - 1]
        starts = _starts(positions, period)
        text = starts.dt.to_string(FORMATS[period])
        return text + starts.dt.quarter().cast(pl.String) if period is Period.QUARTER else text

    def ends(self, positions: pl.Series, level: int) -> tuple[pl.Series, pl.Series]:
        period = self.levels[level - 1]
        starts = _starts(positions, period).to_physical().cast(pl.Int64)
        nexts = _starts(positions + 1, period).to_physical().cast(pl.Int64)
        return starts * self.day, nexts * self.day - 1


def _date(days: pl.Series) -> pl.Series:
    return days.cast(pl.Int32).cast(pl.Date)


def _starts(positions: pl.Series, period: Period) -> pl.Series:
    """The first day of each period."""
    if period in DAYS:
        return _date(positions * DAYS[period] - (MONDAY if period is Period.WEEK else 0))
    month = pl.col("position") * MONTHS[period]
    return pl.DataFrame({"position": positions}).select(pl.date(month // 12, month % 12 + 1, 1)).to_series()
