"""What a released label stands for where a number is needed: a span from ``low`` to ``high``, both in it.

``30-39``, ``30–39``, ``30 to 39`` and ``[30, 40)`` are ranges; ``<18``, ``≤ 18``, ``90+``, ``≥ 90`` have one end, and
the other is taken from the original column. Periods of dates (``2024-02``, ``2024-Q1``, ``2024-W07``, ``2024``,
``2020s``) are ranges of days. A number or a date is a range of one point.
"""

from __future__ import annotations

import calendar
import datetime
import re
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_NUMBER = r"[-−]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?"
_RANGE = rf"^[\[(]?\s*({_NUMBER})\s*(?:-|–|—|to|,|;|\.\.)\s*({_NUMBER})\s*[\])]?$"
_BELOW = rf"^(?:<|≤|<=)\s*({_NUMBER})$"
_ABOVE = rf"^(?:>|≥|>=)\s*({_NUMBER})$|^({_NUMBER})\s*\+$"
_PERIOD = re.compile(r"^(\d{4})(?:-(\d{2})|-Q([1-4])|-W(\d{2})|(s))?$")
DATE_FORMATS = ("%Y-%m-%d", "%d/%m/%Y", "%d.%m.%Y", "%d-%m-%Y", "%Y/%m/%d")
_EPOCH = datetime.date(1970, 1, 1)


@dataclass(frozen=True)
class Spans:
    """One span for each label; NaN where a label can't be read as one."""

    low: Floats
    high: Floats

    @property
    def middle(self) -> Floats:
        return (self.low + self.high) / 2

    @property
    def known(self) -> NDArray[np.bool_]:
        return ~(np.isnan(self.low) | np.isnan(self.high))

    def or_else(self, other: Spans) -> Spans:
        """The other spans where these are unknown."""
        return Spans(np.where(self.known, self.low, other.low), np.where(self.known, self.high, other.high))

    @classmethod
    def points(cls, values: Floats) -> Spans:
        return cls(values, values)


def read_numbers(values: pl.Series) -> pl.Series:
    """The values as Float64; what is no finite number is null."""
    if values.dtype == pl.String():
        values = values.str.strip_chars()
    numbers = values.cast(pl.Float64, strict=False)
    return numbers.set(~numbers.is_finite(), None)


def read_dates(values: pl.Series) -> pl.Series:
    """The values as days since 1970-01-01 (Float64); what is no date is null.

    Text is read in the one format, of those in use, that fits most of it.
    """
    if values.dtype == pl.Date():
        return values.to_physical().cast(pl.Float64)
    if isinstance(values.dtype, pl.Datetime):
        return values.dt.replace_time_zone(None).dt.epoch("us").cast(pl.Float64) / 86_400_000_000
    text = values.cast(pl.String)
    tries = [text.str.to_date(form, strict=False) for form in DATE_FORMATS]
    return min(tries, key=lambda read: read.null_count()).to_physical().cast(pl.Float64)


def number_spans(labels: pl.Series, least: float, greatest: float) -> Spans:
    """The span of each label (text); open ends reach to ``least`` and ``greatest``.

    >>> number_spans(pl.Series(["34", "30-39", "[30, 40)", "<18", "90+", "*"]), 5, 99).middle.tolist()
    [34.0, 34.5, 35.0, 11.5, 94.5, nan]
    """
    text = labels.cast(pl.String).str.strip_chars()
    points = text.to_frame("label").select(_as_number(pl.col("label"))).to_series().fill_null(np.nan).to_numpy()
    ranges = np.isnan(points)
    if not ranges.any():
        return Spans.points(points)
    low, high = points.copy(), points.copy()
    low[ranges], high[ranges] = _range_ends(text.filter(ranges), least, greatest)
    return Spans(np.fmin(low, high), np.fmax(low, high))


def _range_ends(labels: pl.Series, least: float, greatest: float) -> tuple[Floats, Floats]:
    label = pl.col("label")
    read = (
        labels.to_frame("label")
        .select(
            low=_as_number(label.str.extract(_RANGE, 1)),
            high=_as_number(label.str.extract(_RANGE, 2)),
            below=_as_number(label.str.extract(_BELOW, 1)),
            above=_as_number(pl.coalesce(label.str.extract(_ABOVE, 1), label.str.extract(_ABOVE, 2))),
        )
        .select(
            low=pl.coalesce("low", "above", pl.when(pl.col("below").is_not_null()).then(least)),
            high=pl.coalesce("high", "below", pl.when(pl.col("above").is_not_null()).then(greatest)),
        )
    )
    low, high = (read[end].cast(pl.Float64).fill_null(np.nan).to_numpy() for end in ("low", "high"))
    return low, high


def date_spans(labels: pl.Series) -> Spans:
    """The span of each label (text) in days since 1970-01-01.

    >>> spans = date_spans(pl.Series(["1970-01-02", "1970-01", "1970-Q1", "1970", "1970s", "?"]))
    >>> spans.low.tolist(), spans.high.tolist()
    ([1.0, 0.0, 0.0, 0.0, 0.0, nan], [1.0, 30.0, 89.0, 364.0, 3651.0, nan])
    """
    days = read_dates(labels).fill_null(np.nan).to_numpy()
    if not np.isnan(days).any():
        return Spans.points(days)
    low, high = days.copy(), days.copy()
    for place in np.flatnonzero(np.isnan(days)):
        ends = _period(str(labels[int(place)]))
        if ends is not None:
            low[place], high[place] = ((end - _EPOCH).days for end in ends)
    return Spans(low, high)


def _as_number(text: pl.Expr) -> pl.Expr:
    number = text.str.replace("−", "-", literal=True).cast(pl.Float64, strict=False)
    return pl.when(number.is_finite()).then(number)


def _period(label: str) -> tuple[datetime.date, datetime.date] | None:
    """The first and the last day of a period."""
    found = _PERIOD.match(label)
    if found is None:
        return None
    year, month, quarter, week, decade = int(found[1]), found[2], found[3], found[4], found[5]
    try:
        if week:
            monday = datetime.date.fromisocalendar(year, int(week), 1)
            return monday, monday + datetime.timedelta(days=6)
        first = int(month) if month else 3 * int(quarter) - 2 if quarter else 1
        last = int(month) if month else 3 * int(quarter) if quarter else 12
        final = year + 9 if decade else year
        end = datetime.date(final, last, calendar.monthrange(final, last)[1])
        return datetime.date(year, first, 1), end
    except ValueError:
        return None
