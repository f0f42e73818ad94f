"""What a label stands for where a number is needed: a span from ``low`` to ``high``, both in it.

``30-39`` goes from 30 to 39, ``[30, 40)`` from 30 to 40; where a label has one end, the original column has the other.
Periods are spans of days. A number or a date is a span of one point.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from shoal.hierarchy.labels.ends import Ends, may_have_ends
from shoal.hierarchy.labels.points import read_dates, read_numbers
from shoal.kernels.arrays import Floats, Mask, as_floats


@dataclass(frozen=True)
class Spans:
    """One span for each label; NaN where a label can't be read as one."""

    low: Floats
    high: Floats

    @property
    def middle(self) -> Floats:
        return (self.low + self.high) / 2

    @property
    def known(self) -> Mask:
        return ~(np.isnan(self.low) | np.isnan(self.high))

    def or_else(self, other: Spans) -> Spans:
        """The other spans where these are unknown."""
        return Spans(np.where(self.known, self.low, other.low), np.where(self.known, self.high, other.high))

    @classmethod
    def points(cls, values: Floats) -> Spans:
        return cls(values, values)

    @classmethod
    def _between(cls, ends: Ends, low: Floats, high: Floats, least: float, greatest: float) -> Spans:
        low = np.where(ends.read, np.where(ends.low.named, low, least), np.nan)
        high = np.where(ends.read, np.where(ends.high.named, high, greatest), np.nan)
        return cls(np.minimum(low, high), np.maximum(low, high))


def number_spans(labels: pl.Series, least: float, greatest: float) -> Spans:
    """The span of each label (text); open ends reach to ``least`` and ``greatest``.

    >>> number_spans(pl.Series(["34", "30-39", "[30, 40)", "<18", "90+", "*"]), 5, 99).middle.tolist()
    [34.0, 34.5, 35.0, 11.5, 94.5, nan]
    """
    points = Spans.points(as_floats(read_numbers(labels)))
    if points.known.all() or not may_have_ends(labels):
        return points
    ends = Ends.of(labels, "number")
    return points.or_else(Spans._between(ends, ends.low.first, ends.high.last, least, greatest))


def date_spans(labels: pl.Series, least: float = np.nan, greatest: float = np.nan) -> Spans:
    """The span of each label (text) in days since 1970-01-01; open ends reach to ``least`` and ``greatest``.

    >>> spans = date_spans(pl.Series(["1970-01-02", "1970-01", "1970-Q1", "1970", "1970s", "<1970-02", "?"]), -5, 99)
    >>> spans.low.tolist(), spans.high.tolist()
    ([1.0, 0.0, 0.0, 0.0, 0.0, -5.0, nan], [1.0, 30.0, 89.0, 364.0, 3651.0, 30.0, nan])
    """
    points = Spans.points(as_floats(read_dates(labels)))
    if points.known.all() or not may_have_ends(labels):
        return points
    ends = Ends.of(labels, "date")
    low = np.where(ends.low.held, ends.low.first, ends.low.after)
    high = np.where(ends.high.held, ends.high.last, ends.high.first - 1)
    return points.or_else(Spans._between(ends, low, high, least, greatest))
