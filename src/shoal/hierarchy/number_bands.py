"""Bands of numbers: edges as exact decimals, and labels that say where a band begins and ends.

Whole numbers read ``20-29``, decimals ``[20, 30)``; a band without an end reads ``<18`` or ``90+``.
"""

from __future__ import annotations

import dataclasses
import string
from abc import abstractmethod
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated

import polars as pl
from pydantic import Field, PlainSerializer, WithJsonSchema

from shoal.errors import DataError
from shoal.hierarchy.bands import Bands
from shoal.hierarchy.base import quotient
from shoal.schema.values import ValueType

FIELDS = ("low", "high", "next")
LARGEST_WHOLE = 2**62
LARGEST_UNITS = 2**52
"""Decimals up to this many units are told apart exactly by a 64-bit float."""

Number = Annotated[
    Decimal,
    Field(max_digits=15, decimal_places=9),
    PlainSerializer(lambda number: int(number) if number == int(number) else float(number)),
    WithJsonSchema({"type": "number"}),
]
"""A decimal number as it was written: 0.1 is one tenth, not the nearest binary fraction."""


@dataclass(frozen=True)
class NumberBands(Bands):
    """Edges are whole numbers of units, a unit being 10^−scale."""

    scale: int
    digits: tuple[int, ...]
    """Decimals shown on each level."""
    template: str | None = dataclasses.field(default=None, kw_only=True)

    @abstractmethod
    def edges(self, positions: pl.Series, level: int) -> tuple[pl.Series, pl.Series]:
        """Where each band and the next one begin, in units; null: without end."""

    @abstractmethod
    def open_labels(self, level: int) -> tuple[str, str]:
        """The labels of the band without a lower end, and of the one without an upper end."""

    @property
    def whole(self) -> bool:
        return self.column.type is ValueType.INTEGER

    def read(self, values: pl.Series) -> pl.Series:
        numbers = self.column.numbers(values)
        largest = LARGEST_WHOLE if self.whole else LARGEST_UNITS / 10**self.scale
        huge = int((numbers.abs() > largest).sum())
        if huge:
            raise DataError(f"column '{self.column.name}': {huge} number(s) are too large for intervals of this width")
        return numbers

    def ends(self, positions: pl.Series, level: int) -> tuple[pl.Series, pl.Series]:
        lows, nexts = self.edges(positions, level)
        return (lows, nexts - 1) if self.whole else (self.floats(lows), self.floats(nexts))

    def text(self, positions: pl.Series, level: int) -> pl.Series:
        lows, nexts = self.edges(positions, level)
        highs = nexts - 1 if self.whole else nexts
        fields = zip(FIELDS, (lows, highs, nexts), strict=True)
        frame = pl.DataFrame({name: self._spoken(edges, level) for name, edges in fields})
        labels = frame.with_columns(negative=lows < 0).select(self._pattern()).to_series()
        low_label, high_label = self.open_labels(level)
        labels = labels.set(lows.is_null() & positions.is_not_null(), low_label)
        return labels.set(nexts.is_null() & positions.is_not_null(), high_label)

    def floats(self, edges: pl.Series) -> pl.Series:
        return quotient(edges, 10**self.scale)

    def number(self, edge: int) -> float:
        return edge if self.whole else edge / 10**self.scale

    def _spoken(self, edges: pl.Series, level: int) -> pl.Series:
        digits = self.digits[level - 1]
        return decimal_text(edges // 10 ** (self.scale - digits), digits)

    def _pattern(self) -> pl.Expr:
        if self.template is not None:
            return rendered(self.template)
        if not self.whole:
            return rendered("[{low}, {next})")
        # A dash after a minus sign can't be read: -10 to -1, not -10--1.
        pair = pl.when("negative").then(rendered("{low} to {high}")).otherwise(rendered("{low}-{high}"))
        return pl.when(pl.col("low") == pl.col("high")).then(pl.col("low")).otherwise(pair)


def label_parts(label: str) -> list[tuple[str, str | None]]:
    """A label template as pairs of literal text and field."""
    parts = []
    for literal, field, form, conversion in string.Formatter().parse(label):
        if field is not None and (field not in FIELDS or form or conversion):
            raise ValueError(f"a label has the fields {{low}}, {{high}} and {{next}}, not {{{field}}}")
        parts.append((literal, field))
    return parts


def rendered(label: str) -> pl.Expr:
    pieces = []
    for literal, field in label_parts(label):
        pieces.append(pl.lit(literal))
        if field is not None:
            pieces.append(pl.col(field))
    return pl.concat_str(pieces)


def decimal_text(numbers: pl.Series, digits: int) -> pl.Series:
    """Whole numbers of 10^−digits as decimals, all with the same number of digits."""
    if digits == 0:
        return numbers.cast(pl.String)
    number = pl.col("number")
    sign = pl.when(number < 0).then(pl.lit("-")).otherwise(pl.lit(""))
    fraction = (number.abs() % 10**digits).cast(pl.String).str.zfill(digits)
    text = pl.concat_str(sign, number.abs() // 10**digits, pl.lit("."), fraction)
    return pl.DataFrame({"number": numbers}).select(text).to_series()


def units(number: Decimal, scale: int) -> int:
    return int(number.scaleb(scale))


def places(number: Decimal) -> int:
    return max(0, -int(number.normalize().as_tuple().exponent))


def below_label(low: Decimal | None) -> str:
    return "" if low is None else f"<{low.normalize():f}"


def from_label(high: Decimal | None, *, whole: bool) -> str:
    if high is None:
        return ""
    return f"{high:.0f}+" if whole and high >= 0 else f"≥ {high.normalize():f}"
