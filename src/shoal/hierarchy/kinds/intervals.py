"""Intervals of numbers (ISO/IEC 20889, 9.6; MeitY 2.2.6; PDPC annex A): ``34`` → ``30-34`` → ``30-39`` → ``*``.

A value x lies in interval ⌊(x − origin) ÷ width⌋. Every width is a multiple of the one before and all share one origin,
so the edges of a level are among the edges of the level below and the levels nest. Intervals hold their lower edge and
not their upper one: no number is in two intervals, none is in no interval.

Everybody in an interval looks alike in this attribute; open ends (``<18``, ``90+``) hide the rare extremes.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Self

import polars as pl
from pydantic import Field, field_validator, model_validator

from shoal.hierarchy.base import Hierarchy
from shoal.hierarchy.number_bands import Number, NumberBands, below_label, from_label, label_parts, places, units
from shoal.hierarchy.proposals import ColumnValues, HierarchyProposal
from shoal.schema.columns import Column
from shoal.schema.values import ValueType

MOST = 0.98
"""The share of records that lies between the ends of proposed intervals."""
STEPS = 20
"""Intervals on the lowest level, about."""


class IntervalHierarchy(Hierarchy):
    """Numbers to intervals of growing width."""

    key = "intervals"
    data_independent = True
    turn = 30
    shorthand = "widths"

    widths: tuple[Annotated[Number, Field(gt=0)], ...] = Field(min_length=1)
    """The width of the intervals on each level; each a multiple of the one before."""
    origin: Number = Decimal(0)
    """An edge that all levels have in common."""
    low: Number | None = None
    """All numbers below it are one group on every level."""
    high: Number | None = None
    """All numbers from it on are one group on every level."""
    label: str | None = None
    """``{low}``, ``{high}`` (the last whole number inside) and ``{next}`` (where the next interval begins)."""
    low_label: str | None = Field(None, min_length=1)
    """The label of the group below ``low``."""
    high_label: str | None = Field(None, min_length=1)
    """The label of the group from ``high`` on."""

    @field_validator("widths")
    @classmethod
    def _nest(cls, widths: tuple[Decimal, ...]) -> tuple[Decimal, ...]:
        for narrow, wide in itertools.pairwise(widths):
            if wide <= narrow or wide % narrow:
                raise ValueError(f"{wide} is not a multiple of {narrow}: each width has to hold the one before evenly")
        return widths

    @field_validator("label")
    @classmethod
    def _label_fields(cls, label: str | None) -> str | None:
        if label is not None and not any(field for _, field in label_parts(label)):
            raise ValueError("a label needs {low}, {high} or {next}, or all intervals would look the same")
        return label

    @model_validator(mode="after")
    def _ends(self) -> Self:
        if self.low is not None and self.high is not None and self.low >= self.high:
            raise ValueError("low has to be less than high")
        if self.low_label is not None and self.low is None:
            raise ValueError("low_label without low")
        if self.high_label is not None and self.high is None:
            raise ValueError("high_label without high")
        if self.low_label is not None and self.low_label == self.high_label:
            raise ValueError("low_label and high_label are the same")
        return self

    @classmethod
    def propose(cls, values: ColumnValues) -> Iterator[HierarchyProposal]:
        """Round widths; between the ends lie nearly all records."""
        if not values.is_measured:
            return
        numbers = values.column.numbers(values.distinct["value"]).cast(pl.Float64)
        low, high = (_quantile(numbers, values.distinct["records"], share) for share in (1 - MOST, MOST))
        if high <= low:
            return
        width = _round_width((high - low) / STEPS, whole=values.column.type is ValueType.INTEGER)
        widths = [width, 2 * width, 4 * width]
        parameters: dict[str, object] = {"widths": [_plain(one) for one in widths]}
        first, last = math.floor(low / widths[-1]) * widths[-1], math.ceil(high / widths[-1]) * widths[-1]
        found = numbers.to_numpy()
        if found.min() < first:
            parameters["low"] = _plain(first)
        if found.max() > last + width:
            parameters["high"] = _plain(last)
        reason = f"numbers become intervals of round widths; about {STEPS} of the narrowest hold nearly all records"
        yield HierarchyProposal(parameters, reason)

    def refuse(self, column: Column) -> str | None:
        if not column.is_number:
            return f"intervals works on integer and decimal columns; column '{column.name}' is {column.type}"
        if column.type is ValueType.INTEGER and self._scale():
            return f"column '{column.name}' holds whole numbers; widths, origin, low and high have to be whole too"
        return None

    def bind(self, column: Column, distinct: pl.DataFrame) -> BoundIntervals:
        scale = self._scale()
        edges = [edge for edge in (self.origin, self.low, self.high) if edge is not None]
        bound = BoundIntervals(
            column=column,
            scale=scale,
            widths=tuple(units(width, scale) for width in self.widths),
            digits=tuple(max(map(places, (width, *edges))) for width in self.widths),
            template=self.label,
            origin=units(self.origin, scale),
            low=None if self.low is None else units(self.low, scale),
            high=None if self.high is None else units(self.high, scale),
            low_label=self.low_label or below_label(self.low),
            high_label=self.high_label or from_label(self.high, whole=column.type is ValueType.INTEGER),
        )
        return bound.over(distinct["value"])

    def _scale(self) -> int:
        numbers = (*self.widths, self.origin, self.low, self.high)
        return max(places(number) for number in numbers if number is not None)


@dataclass(frozen=True)
class BoundIntervals(NumberBands):
    """Edges are whole numbers of units, so that their sums are exact whatever the width."""

    widths: tuple[int, ...]
    origin: int = 0
    low: int | None = None
    high: int | None = None
    low_label: str = ""
    high_label: str = ""

    @property
    def height(self) -> int:
        return len(self.widths) + 1

    def describe(self, level: int) -> str:
        return f"intervals of {self.widths[level - 1] / 10**self.scale:,g}"

    def position(self, points: pl.Series, level: int) -> pl.Series:
        width = self.widths[level - 1]
        bands: pl.Series = (points - self.origin) // width if self.whole else self._exact_bands(points, width)
        if self.low is not None:
            bands = bands.set(points < self.number(self.low), self._band_of(self.low, width) - 1)
        if self.high is not None:
            bands = bands.set(points >= self.number(self.high), self._band_of(self.high - 1, width) + 1)
        return bands

    def open_labels(self, level: int) -> tuple[str, str]:
        return self.low_label, self.high_label

    def edges(self, positions: pl.Series, level: int) -> tuple[pl.Series, pl.Series]:
        """Bands are cut off at ``low`` and ``high``."""
        width = self.widths[level - 1]
        lows = positions * width + self.origin
        nexts = lows + width
        if self.low is not None:
            below = positions < self._band_of(self.low, width)
            lows, nexts = lows.clip(self.low).set(below, None), nexts.set(below, self.low)
        if self.high is not None:
            above = positions > self._band_of(self.high - 1, width)
            lows, nexts = lows.set(above, self.high), nexts.clip(None, self.high).set(above, None)
        return lows, nexts

    def _exact_bands(self, points: pl.Series, width: int) -> pl.Series:
        """The quotient of two floats can fall on the wrong side of an edge: compare with the edges themselves.

        An edge is the float nearest to its decimal, as is every number that was read from text.
        """
        bands: pl.Series = ((points * 10**self.scale - self.origin) / width).floor().cast(pl.Int64)
        lows = bands * width + self.origin
        too_high = points < self.floats(lows)
        too_low = points >= self.floats(lows + width)
        return bands - too_high.cast(pl.Int64) + too_low.cast(pl.Int64)

    def _band_of(self, edge: int, width: int) -> int:
        return (edge - self.origin) // width


def _quantile(numbers: pl.Series, records: pl.Series, share: float) -> float:
    """The number that this share of the records does not exceed; numbers are in no order yet."""
    table = pl.DataFrame({"number": numbers, "records": records}).sort("number")
    reached = table["records"].cum_sum() >= share * int(records.sum())
    return float(table["number"].filter(reached)[0])


def _round_width(width: float, *, whole: bool) -> float:
    """1, 2 or 5 times a power of ten, not below the width."""
    power = 10.0 ** math.floor(math.log10(width))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= width * (1 - 1e-9))
    return max(1.0, step) if whole else step


def _plain(number: float) -> float:
    """A whole number where it is one; otherwise without what binary fractions leave behind."""
    tidy = float(f"{number:.10g}")
    return int(tidy) if tidy.is_integer() else tidy
