"""Periods of dates as days: ``2026``, ``2026-03``, ``2026-Q1``, ``2026-W10``, ``2020s``, ``2026-03-14``."""

from __future__ import annotations

import datetime

import numpy as np
import polars as pl

from shoal.kernels.arrays import Floats, as_floats

DECADE = r"[0-9]{3}0s"
PERIOD = rf"[0-9]{{4}}(?:-(?:[0-9]{{2}}-[0-9]{{2}}|[01][0-9]|Q[1-4]|W[0-9]{{2}}))?|{DECADE}"
_EPOCH = datetime.date(1970, 1, 1)


def period_days(texts: pl.Series) -> tuple[Floats, Floats]:
    """The first day of each period, and the day after its last; NaN where there is no such period.

    >>> first, after = period_days(pl.Series(["1970-02", "1970-13", None]))
    >>> first.tolist(), after.tolist()
    ([31.0, nan, nan], [59.0, nan, nan])
    """
    distinct = texts.drop_nulls().unique()
    read = [_days(text) for text in distinct]
    table = pl.DataFrame(
        {"text": distinct, "first": [days[0] for days in read], "after": [days[1] for days in read]},
        schema={"text": pl.String, "first": pl.Float64, "after": pl.Float64},
    )
    found = texts.to_frame("text").join(table, on="text", how="left", maintain_order="left")
    return as_floats(found["first"]), as_floats(found["after"])


def _days(text: str) -> tuple[float, float]:
    try:
        first, after = _dates(text)
    except (ValueError, OverflowError):  # no such day, or none behind it
        return np.nan, np.nan
    return float((first - _EPOCH).days), float((after - _EPOCH).days)


def _dates(text: str) -> tuple[datetime.date, datetime.date]:
    year, rest = int(text[:4]), text[5:]
    if text.endswith("s"):
        return _month(year, 1), _month(year + 10, 1)
    if not rest:
        return _month(year, 1), _month(year + 1, 1)
    if rest[0] == "Q":
        quarter = int(rest[1])
        return _month(year, 3 * quarter - 2), _month(year, 3 * quarter + 1)
    if rest[0] == "W":
        monday = datetime.date.fromisocalendar(year, int(rest[1:]), 1)
        return monday, monday + datetime.timedelta(days=7)
    month, day = int(rest[:2]), rest[3:]
    if day:
        date = datetime.date(year, month, int(day))
        return date, date + datetime.timedelta(days=1)
    return _month(year, month), _month(year, month + 1)


def _month(year: int, month: int) -> datetime.date:
    """Its first day; month 13 is the January after."""
    return datetime.date(year + 1, 1, 1) if month == 13 else datetime.date(year, month, 1)
