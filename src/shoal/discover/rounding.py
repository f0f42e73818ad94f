"""A base to round a column's numbers to, in proportion to how far they are spread (PDPC guide, annex A)."""

from __future__ import annotations

import math

import polars as pl

from shoal.schema import Column, ValueType

STEPS = 20
"""Bases that lie between the low and the high tenth of the numbers, at least."""


def rounding_base(column: Column, distinct: pl.Series) -> int | float | None:
    """1, 2 or 5 times a power of ten; None for what is no number, and where numbers are as coarse already.

    >>> rounding_base(Column("bill", ValueType.INTEGER), pl.Series(["450", "880", "1240", "1310", "1675", "2210"]))
    50
    """
    if not column.is_number:
        return None
    numbers = distinct.str.strip_chars().cast(pl.Float64, strict=False).drop_nulls().drop_nans()
    numbers = numbers.filter(numbers.is_finite())
    if numbers.len() < 2:
        return None
    low, high = (float(numbers.quantile(share) or 0.0) for share in (0.1, 0.9))
    width = (high - low) / STEPS
    if width <= 0:
        return None
    unit = 10.0 ** math.floor(math.log10(width))
    base = max((times * unit for times in (1, 2, 5) if times * unit <= width * (1 + 1e-9)), default=unit)
    if base >= 1:
        return int(base) if base > 1 or column.type is ValueType.DECIMAL else None
    return None if column.type is ValueType.INTEGER else float(f"{base:.1g}")
