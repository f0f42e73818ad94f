"""A column as the engine found it, and how its stored values are read as numbers or dates.

Text files are stored as text (so that "007" stays "007"); the value type says how the text can be read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import polars as pl

from shoal.errors import DataError
from shoal.schema.values import DATES, NUMBERS, ValueType

ROW = "__shoal_row__"
"""The reserved column that carries each record's position in the source (UInt64) through every batch."""


@dataclass(frozen=True)
class Column:
    """What is known of a column before any technique is bound to it."""

    name: str
    type: ValueType = ValueType.TEXT
    storage: pl.DataType = field(default_factory=pl.String)
    scale: int = 0
    """Digits after the decimal point (the most that occur); 0 for integers."""
    date_format: str | None = None
    """strftime pattern when dates are stored as text."""
    rows: int = 0
    missing: int = 0

    @property
    def is_number(self) -> bool:
        return self.type in NUMBERS

    @property
    def is_date(self) -> bool:
        return self.type in DATES

    def numbers(self, values: pl.Series) -> pl.Series:
        """The values as Int64 (integer columns) or Float64 (decimal columns); nulls stay null.

        A value that can't be read, or is not finite, is a DataError with the count.
        """
        dtype = pl.Int64() if self.type is ValueType.INTEGER else pl.Float64()
        read = values.cast(dtype, strict=False)
        if dtype == pl.Float64() and not read.is_finite().all():
            read = read.set(~read.is_finite(), None)
        self._refuse_unreadable(values, read, f"{self.type} number" if self.is_number else "numbers")
        return read

    def from_numbers(self, values: pl.Series) -> pl.Series:
        """Numbers back in the column's own form: whole for integers, ``scale`` digits for decimals."""
        if self.type is ValueType.INTEGER:
            return values.cast(pl.Float64).round(0).cast(pl.Int64) if values.dtype.is_float() else values.cast(pl.Int64)
        return values.cast(pl.Float64).round(self.scale)

    def dates(self, values: pl.Series) -> pl.Series:
        """The values as Date or Datetime (µs); nulls stay null; what can't be read is a DataError with the count."""
        dtype = pl.Date() if self.type is ValueType.DATE else pl.Datetime("us")
        if values.dtype == pl.String():
            read = values.str.strptime(dtype, self.date_format, strict=False)
        else:
            read = values.cast(dtype, strict=False)
        self._refuse_unreadable(values, read, str(self.type))
        return read

    def from_dates(self, values: pl.Series) -> pl.Series:
        """Dates back in the column's own form: text in its format where it was stored as text."""
        if isinstance(self.storage, pl.String) and self.date_format:
            return values.dt.to_string(self.date_format)
        return values.cast(self.storage)

    def _refuse_unreadable(self, values: pl.Series, read: pl.Series, kind: str) -> None:
        bad = read.null_count() - values.null_count()
        if bad:
            raise DataError(f"column '{self.name}': {bad} value(s) can't be read as {kind}")


Columns = Mapping[str, Column]
