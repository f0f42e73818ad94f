"""Days and moments that can be written out: those of the years 1 to 9999. In a file any number can stand for one."""

from __future__ import annotations

from typing import Final

import polars as pl

_DAYS: Final = (-719_162, 2_932_897)
"""Of 1 January of the year 1 and of the year 10000, counted from 1970."""
_PER_SECOND: Final = {"ms": 1_000, "us": 1_000_000}


def calendar_bounds(dtype: pl.DataType) -> tuple[int, int] | None:
    """The smallest and the largest number that is a day, or a moment, of these years; nanoseconds reach no others.

    >>> calendar_bounds(pl.Date()), calendar_bounds(pl.Datetime("ns")), calendar_bounds(pl.Int64())
    ((-719162, 2932896), None, None)
    """
    if isinstance(dtype, pl.Date):
        return _DAYS[0], _DAYS[1] - 1
    if isinstance(dtype, pl.Datetime) and dtype.time_unit in _PER_SECOND:
        per_day = 86_400 * _PER_SECOND[dtype.time_unit]
        return _DAYS[0] * per_day, _DAYS[1] * per_day - 1
    return None


def on_calendar(column: pl.Expr, dtype: pl.DataType) -> pl.Expr:
    """The column, null where a number stands for no such day: a library that has to write it out panics."""
    bounds = calendar_bounds(dtype)
    return column if bounds is None else pl.when(column.to_physical().is_between(*bounds)).then(column)
