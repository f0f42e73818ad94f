"""Values as whole numbers, for techniques that compute with nothing else: 12.30 with two decimals is 1230.

Dates are days since 1970, dates with times microseconds, truth values 0 and 1.

>>> FixedPoint(ValueType.DECIMAL, 2).written(pl.Series([1230, None])).to_list()
[Decimal('12.30'), None]
"""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Self

import polars as pl

from shoal.errors import DataError
from shoal.schema.columns import Column
from shoal.schema.values import ValueType

READABLE = frozenset(ValueType) - {ValueType.TEXT}
EXACT = 1 << 53
"""Up to here every whole number has its own floating-point number, so that decimals can be scaled without loss."""
_DTYPES = {ValueType.DATE: pl.Date(), ValueType.DATETIME: pl.Datetime("us"), ValueType.BOOLEAN: pl.Boolean()}

Number = int | float
Bounds = tuple[Number, Number] | tuple[datetime.date, datetime.date] | tuple[datetime.datetime, datetime.datetime]


@dataclass(frozen=True)
class FixedPoint:
    type: ValueType
    scale: int = 0

    @classmethod
    def of(cls, column: Column) -> Self:
        return cls(column.type, column.scale if column.type is ValueType.DECIMAL else 0)

    def read(self, column: Column, values: pl.Series) -> pl.Series:
        """Int64; missing values stay missing."""
        if column.is_date:
            return column.dates(values).to_physical().cast(pl.Int64)
        if column.type is ValueType.BOOLEAN:
            return _truths(column, values)
        numbers = column.numbers(values)
        if not numbers.dtype.is_float():
            return numbers
        scaled = (numbers * float(10**self.scale)).round()
        large = int((scaled.abs() >= EXACT).sum())
        if large:
            raise DataError(f"column '{column.name}': {large} value(s) have more than 15 digits")
        return scaled.cast(pl.Int64)

    def written(self, numbers: pl.Series) -> pl.Series:
        """The values again; decimals as such, exactly."""
        if self.type is ValueType.DECIMAL:
            return pl.Series(
                numbers.name,
                [None if number is None else self.exact(number) for number in numbers.to_list()],
                dtype=pl.Decimal(38, self.scale),
            )
        dtype = _DTYPES.get(self.type, pl.Int64())
        return numbers.cast(pl.Int32).cast(dtype) if self.type is ValueType.DATE else numbers.cast(dtype)

    def exact(self, number: int) -> Decimal:
        return Decimal(number).scaleb(-self.scale)

    def inside(self, low: Number | datetime.date, high: Number | datetime.date) -> tuple[int, int]:
        """The least and the greatest whole number within two bounds that were given as values."""
        return self._whole(low, ROUND_CEILING), self._whole(high, ROUND_FLOOR)

    def _whole(self, bound: Number | datetime.date, rounding: str) -> int:
        if isinstance(bound, datetime.date):
            dtype = _DTYPES[self.type]
            return int(pl.Series([bound]).cast(dtype).to_physical().item())
        exact = Decimal(str(bound)).scaleb(self.scale)
        return int(exact.to_integral_value(rounding))


def refuse_new_gaps(column: Column, numbers: pl.Series) -> None:
    """Values that went missing on the way would pass for zeros, where nobody keeps account of missing ones."""
    if not column.missing and numbers.null_count():
        raise DataError(
            f"column '{column.name}': {numbers.null_count()} value(s) went missing before this technique",
            advice="put it first among the attribute's techniques",
        )


def _truths(column: Column, values: pl.Series) -> pl.Series:
    if values.dtype == pl.Boolean():
        return values.cast(pl.Int64)
    lowered = values.cast(pl.String).str.to_lowercase()
    read = lowered.replace_strict({"true": 1, "false": 0}, default=None, return_dtype=pl.Int64)
    bad = read.null_count() - values.null_count()
    if bad:
        raise DataError(f"column '{column.name}': {bad} value(s) can't be read as boolean")
    return read
