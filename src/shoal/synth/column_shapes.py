"""What a synthetic column has to look like: its kind, and what of it has to be kept.

A shape is declared, or found in the data (see ``shape_detection``), and says which. It holds no value that is rare.

Between reading and writing, columns of numbers, dates and times are whole numbers of steps: 10⁻ᵈ of a number with d
decimals, days of a date, microseconds of a moment or a time of day. So differences and sums are exact. Words among
them stand below all of them.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Final, Literal

import polars as pl
from pydantic import Field

from shoal.errors import DataError
from shoal.schema.parameters import Parameters

Origin = Literal["declared", "found"]
"""Whether the user said so, or the data did."""

MOST_DECIMALS: Final = 12
_MOST_NOUGHTS: Final = 300
_LARGEST: Final = 2**62
_FIRST_WORD: Final = -_LARGEST - 1
_READABLE: Final = (pl.String, pl.Boolean, pl.Date, pl.Datetime, pl.Time, pl.Categorical, pl.Enum, pl.Null)


class ShapeKind(StrEnum):
    WHOLE = "whole"
    DECIMAL = "decimal"
    DATE = "date"
    DATETIME = "datetime"
    TIME = "time"
    BOOLEAN = "boolean"
    CATEGORY = "category"
    ORDERED = "ordered"
    IDENTIFIER = "identifier"
    """Unique: numbered anew, nothing of its values is used."""
    TEXT = "text"
    """Hardly a value occurs often enough: left empty."""


STEPPED: Final = frozenset({ShapeKind.WHOLE, ShapeKind.DECIMAL, ShapeKind.DATE, ShapeKind.DATETIME, ShapeKind.TIME})
"""Kinds that are read as whole numbers of steps."""
NAMED: Final = frozenset({ShapeKind.BOOLEAN, ShapeKind.CATEGORY, ShapeKind.ORDERED})
"""Kinds that are read as text."""
NUMBERED: Final = frozenset({ShapeKind.WHOLE, ShapeKind.DECIMAL})

Bound = Annotated[float | datetime.datetime | datetime.date, Field(union_mode="left_to_right")]


class ColumnShape(Parameters):
    """How one column is read, modelled and written."""

    kind: ShapeKind
    decimals: Annotated[int, Field(ge=-_MOST_NOUGHTS, le=MOST_DECIMALS)] = 0
    """Below 0 where numbers are so large that only their first digits are read."""
    date_format: str | None = None
    """Of dates and times that are stored as text."""
    special: tuple[float, ...] = ()
    """Codes among numbers, such as 999 for unknown: kept apart from them."""
    words: tuple[str, ...] = ()
    """Words among numbers, dates or times that are stored as text, such as "<5": kept apart from them."""
    partly: bool = False
    """Whether some values can't be read so: they count as missing."""
    zero_inflated: bool = False
    """Whether zero is more than a number: then it is kept apart too."""
    lowest: Bound | None = None
    highest: Bound | None = None
    """Known bounds. What lies beyond them is drawn at them."""
    order: tuple[str, ...] = ()
    """Of ordered categories, from the least."""
    categories: tuple[str, ...] = ()
    """Of categories without an order, where all that there can be are publicly known."""
    rare_as: str | None = None
    """The label for values that too few records have; without one they are drawn among the others."""
    origin: Origin = "declared"
    reason: str | None = None
    """Why it was taken for this, where it might be something else."""

    @property
    def is_stepped(self) -> bool:
        """Read as whole numbers of steps."""
        return self.kind in STEPPED

    def steps_of(self, value: float | datetime.date) -> int:
        """One value as a number of steps.

        >>> ColumnShape(kind=ShapeKind.DECIMAL, decimals=2).steps_of(12.5)
        1250
        """
        if isinstance(value, datetime.date):
            kind = pl.Datetime("us") if self.kind is ShapeKind.DATETIME else pl.Date()
            return int(pl.Series([value]).cast(kind).to_physical().cast(pl.Int64).sum())
        return round(value * 10.0**self.decimals)

    @property
    def word_steps(self) -> tuple[int, ...]:
        """What stands for each word."""
        return tuple(_FIRST_WORD - place for place in range(len(self.words)))

    @property
    def is_named(self) -> bool:
        """Read as text."""
        return self.kind in NAMED


Shapes = Mapping[str, ColumnShape]


def read(values: pl.Series, shape: ColumnShape) -> pl.Series:
    """A column as steps (Int64) or as text; what can't be read so is a DataError with the count."""
    if not shape.is_stepped:
        return values.cast(pl.String)
    found = with_word_steps(_steps(values, shape), values, shape)
    unread = found.null_count() - values.null_count()
    if unread and not shape.partly:
        raise DataError(f"column '{values.name}': {unread} value(s) can't be read as {shape.kind}")
    return found


def with_word_steps(steps: pl.Series, values: pl.Series, shape: ColumnShape) -> pl.Series:
    """What stands for a word, where the values have one."""
    if not shape.words or not isinstance(values.dtype, pl.String):
        return steps
    known = dict(zip(shape.words, shape.word_steps, strict=True))
    said = values.replace_strict(known, default=None, return_dtype=pl.Int64)
    beyond = steps.set(steps <= _FIRST_WORD, None)
    return said.fill_null(beyond).alias(steps.name)


def refuse_unreadable(frame: pl.DataFrame) -> None:
    """A DataError where a column holds neither numbers nor dates nor text."""
    for name, stored in frame.schema.items():
        if not (stored.is_numeric() or isinstance(stored, _READABLE)):
            raise DataError(f"column '{name}': values of type {stored.base_type()} can't be synthesised")


def _steps(values: pl.Series, shape: ColumnShape) -> pl.Series:
    if shape.kind is ShapeKind.WHOLE:
        return values.cast(pl.Int64, strict=False)
    if shape.kind is ShapeKind.DECIMAL:
        steps = (values.cast(pl.Float64, strict=False) * 10.0**shape.decimals).round(0)
        return steps.set(~(steps.abs() < _LARGEST), None).cast(pl.Int64)
    if shape.kind is ShapeKind.TIME:
        return time_steps(values, shape)
    kind = pl.Datetime("us") if shape.kind is ShapeKind.DATETIME else pl.Date()
    if isinstance(values.dtype, pl.String):
        dated = values.str.strptime(kind, shape.date_format, strict=False)
    else:
        plain = values.dt.replace_time_zone(None) if isinstance(values.dtype, pl.Datetime) else values
        dated = plain.cast(kind, strict=False)
    return dated.to_physical().cast(pl.Int64)


def time_steps(values: pl.Series, shape: ColumnShape) -> pl.Series:
    """Microseconds since midnight; what is no time of day is missing."""
    if isinstance(values.dtype, pl.String):
        day = "1970-01-01 " + values
        return day.str.strptime(pl.Datetime("us"), f"%Y-%m-%d {shape.date_format}", strict=False).to_physical()
    return values.cast(pl.Time, strict=False).to_physical() // 1000


def written(values: pl.Series, shape: ColumnShape, stored: pl.DataType) -> pl.Series:
    """Steps or text as the column had it: in its type, dates in their format."""
    if not shape.words:
        return _written(values, shape, stored)
    known = dict(zip(shape.word_steps, shape.words, strict=True))
    words = values.replace_strict(known, default=None, return_dtype=pl.String)
    plain = _written(values.set(values <= _FIRST_WORD, None), shape, stored)
    return words.fill_null(plain.cast(pl.String)).alias(values.name)


def _written(values: pl.Series, shape: ColumnShape, stored: pl.DataType) -> pl.Series:
    if shape.kind is ShapeKind.DECIMAL:
        return (values.cast(pl.Float64) / 10.0**shape.decimals).round(max(shape.decimals, 0))
    if shape.kind in {ShapeKind.DATE, ShapeKind.DATETIME}:
        kind = pl.Datetime("us") if shape.kind is ShapeKind.DATETIME else pl.Date()
        dated = (values if kind == pl.Datetime("us") else values.cast(pl.Int32)).cast(kind)
        return dated.dt.to_string(shape.date_format) if shape.date_format else dated
    if shape.kind is ShapeKind.TIME:
        moment = values.cast(pl.Datetime("us"))
        return moment.dt.to_string(shape.date_format) if shape.date_format else moment.dt.time()
    if shape.kind is ShapeKind.WHOLE:
        return values
    if isinstance(stored, pl.Boolean):
        return values == "true"
    return values.cast(stored, strict=False) if stored.is_numeric() and shape.rare_as is None else values
