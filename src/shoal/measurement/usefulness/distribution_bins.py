"""Numbers and dates before and after, in a few bins that both can be put in.

Edges are round numbers (1, 2 or 5 times a power of ten) or the ends of months, years, decades …: they are chosen by
where most values lie, but are no values. Whatever lies beyond falls into the first or the last bin, which is then open,
so that a single outlier neither stretches the scale nor shows on it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal

import polars as pl

MOST_BARS = 12
LEAST_RECORDS = 10
"""Fewer records of the original are never a bar of their own."""
_TAIL = 0.01
_LOOKED_AT = 100_000
"""Values that the scale is chosen by; all are counted."""
_FINEST = 1e-12
"""A bin is at least this wide, as a share of the largest number: what a float can tell apart, with room to spare."""
_NEAR = 1e-9
"""How near below an edge a decimal is on it: 0.29 ÷ 0.01 is a little less than 29. Steps from 1 on divide exactly."""
_MONTHS = (1, 12, 120, 1_200, 12_000)
_PLAIN_EXPONENTS = range(-9, 16)

Sides = tuple[pl.Series, pl.Series]


@dataclass(frozen=True)
class BinLabels:
    """How bins are called: by their place, and where the first or the last one is open."""

    closed: Callable[[int], str]
    first: Callable[[int], str]
    last: Callable[[int], str]


def number_bins(before: pl.Series, after: pl.Series) -> pl.DataFrame:
    """Bins in order: ``label``, ``before``, ``after`` (records). Missing numbers are in no bin.

    >>> ages = pl.Series([21, 25, 38] * 10)
    >>> number_bins(ages, ages + 1).rows()[-1]
    ('38 to 40', 10, 10)
    """
    whole = before.dtype.is_integer() and after.dtype.is_integer()
    sides = _floats(before), _floats(after)
    low, high = _middle(sides)
    digit, exponent = _step(low, high, max(abs(low), abs(high)), whole=whole)
    step = digit * 10.0**exponent

    def edge(place: int) -> str:
        if exponent not in _PLAIN_EXPONENTS:
            return f"{place * step:g}"
        return f"{Decimal(place * digit).scaleb(exponent):,f}"

    words = BinLabels(
        lambda place: f"{edge(place)} to {edge(place + 1)}",
        lambda place: f"below {edge(place + 1)}",
        lambda place: f"{edge(place)} or more",
    )
    ends = _place(low, step), _place(high, step)
    lowest, highest = (ends[0] - 1) * step, (ends[1] + 2) * step
    places = [(side.clip(lowest, highest) / step + _near(step)).floor().cast(pl.Int64) for side in sides]
    return _counted((places[0], places[1]), ends, words)


def date_bins(before: pl.Series, after: pl.Series) -> pl.DataFrame:
    """By month, year, decade or century, whichever is the finest that takes few enough bins."""
    sides = _months(before), _months(after)
    low, high = (int(end) for end in _middle(sides))
    unit = next((unit for unit in _MONTHS if high // unit - low // unit < MOST_BARS), _MONTHS[-1])

    def period(place: int) -> str:
        year, month = divmod(place * unit, 12)
        if unit <= 12:
            return f"{year}-{month + 1:02}" if unit == 1 else f"{year}"
        return f"{year}s" if unit == 120 else f"{year} to {year + unit // 12 - 1}"

    words = BinLabels(period, lambda place: f"{period(place)} or earlier", lambda place: f"{period(place)} or later")
    return _counted((sides[0] // unit, sides[1] // unit), (low // unit, high // unit), words)


def _counted(places: Sides, ends: tuple[int, int], words: BinLabels) -> pl.DataFrame:
    first, last = ends
    below = any((side < first).any() for side in places)
    above = any((side > last).any() for side in places)
    if first == last:  # nearly all are in one bin: the rest gets bins of its own
        first, last = first - below, last + above
    counts = [side.drop_nulls().clip(first, last).alias("place").value_counts(name="records") for side in places]
    bins = (
        pl.DataFrame({"place": range(first, last + 1)}, schema={"place": counts[0].schema["place"]})
        .join(counts[0], on="place", how="left")
        .join(counts[1], on="place", how="left", suffix="_after")
        .sort("place")
    )
    labels = [words.closed(place) for place in bins["place"]]
    if below:
        labels[0] = words.first(first)
    if above:
        labels[-1] = words.last(last)
    return bins.select(
        pl.Series("label", labels, dtype=pl.String),
        before=pl.col("records").fill_null(0).cast(pl.Int64),
        after=pl.col("records_after").fill_null(0).cast(pl.Int64),
    )


def _middle(sides: Sides) -> tuple[float, float]:
    """Where the values lie but for the outermost hundredth, and at least the outermost ten, at either end."""
    values = pl.concat([side.drop_nulls() for side in sides])
    values = values.gather_every(-(-len(values) // _LOOKED_AT))
    tail = min(max(_TAIL, LEAST_RECORDS / len(values)), 0.25)
    low, high = (values.quantile(share, "nearest") for share in (tail, 1 - tail))
    if low == high:
        low, high = values.min(), values.max()  # type: ignore[assignment]  # numbers, as the values are
    return float(low or 0), float(high or 0)


def _step(low: float, high: float, largest: float, *, whole: bool) -> tuple[int, int]:
    """The least 1, 2 or 5 times a power of ten that takes few enough bins. Whole numbers never get a bin each."""
    least = max((high - low) / MOST_BARS, largest * _FINEST, 2.0 if whole else 0.0) or 1.0
    exponent = math.floor(math.log10(least))
    while True:
        for digit in (1, 2, 5):
            step = digit * 10.0**exponent
            if step >= least * (1 - _NEAR) and _place(high, step) - _place(low, step) < MOST_BARS:
                return digit, exponent
        exponent += 1


def _place(number: float, step: float) -> int:
    return math.floor(number / step + _near(step))


def _near(step: float) -> float:
    return 0.0 if step >= 1 else _NEAR


def _floats(values: pl.Series) -> pl.Series:
    numbers = values.cast(pl.Float64)
    return numbers.set(~numbers.is_finite(), None)


def _months(values: pl.Series) -> pl.Series:
    """Months since the year 0."""
    return values.dt.year().cast(pl.Int64) * 12 + values.dt.month() - 1
