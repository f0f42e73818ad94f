"""The hierarchy of values on a line (numbers, dates): each level cuts the line into bands, numbered by whole numbers.

Loss of a cell: length of its band ÷ length of the domain, the domain being lowest to highest value in the data and
bands clipped to it. For whole numbers that is (leaves − 1) ÷ (leaves of the domain − 1), a leaf being a whole number.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
import polars as pl

from shoal.hierarchy.base import BoundHierarchy, quotient
from shoal.kernels.arrays import Floats

Domain = tuple[float, float] | None
"""Lowest and highest value; None where there is no value at all."""


@dataclass(frozen=True)
class Bands(BoundHierarchy):
    domain: Domain = field(default=None, repr=False, kw_only=True)

    def over(self, values: pl.Series) -> Self:
        """The same bands, with the domain of these values."""
        points = self.read(values)
        low, high = points.min(), points.max()
        if isinstance(low, int | float) and isinstance(high, int | float):
            return replace(self, domain=(low, high))
        return replace(self, domain=None)

    @abstractmethod
    def read(self, values: pl.Series) -> pl.Series:
        """The stored values as points on the line: numbers, or dates as whole numbers."""

    @abstractmethod
    def position(self, points: pl.Series, level: int) -> pl.Series:
        """The number of each point's band (Int64); nulls stay null."""

    @abstractmethod
    def text(self, positions: pl.Series, level: int) -> pl.Series:
        """The label of each band."""

    @abstractmethod
    def ends(self, positions: pl.Series, level: int) -> tuple[pl.Series, pl.Series]:
        """Lowest and highest point of each band; null where the band has no end."""

    def point(self, points: pl.Series) -> pl.Series:
        """Points as numbers or dates for the outside."""
        return points

    def label(self, values: pl.Series, level: int) -> pl.Series:
        positions = self.position(self.read(values), level)
        return _once_per_band(positions, lambda bands: self.text(bands, level))

    def share(self, values: pl.Series, level: int) -> Floats:
        if self.domain is None or self.domain[0] == self.domain[1]:
            return np.zeros(len(values))
        positions = self.position(self.read(values), level)
        return _once_per_band(positions, lambda bands: self._band_shares(bands, level)).fill_null(0.0).to_numpy()

    def bounds(self, values: pl.Series, level: int) -> tuple[pl.Series, pl.Series]:
        """The ends of each value's band. Bands without an end, and the top, end where the domain does."""
        self._check(level)
        points = self.read(values)
        if level == 0:
            return self.point(points), self.point(points)
        open_ended = points.clear(len(points))
        lows, highs = (open_ended, open_ended) if level == self.height else self._ends(points, level)
        low, high = self.domain or (None, None)
        known = points.is_not_null()
        return self.point(_close(lows, low, known)), self.point(_close(highs, high, known))

    def _ends(self, points: pl.Series, level: int) -> tuple[pl.Series, pl.Series]:
        positions = self.position(points, level)
        return (
            _once_per_band(positions, lambda bands: self.ends(bands, level)[0]),
            _once_per_band(positions, lambda bands: self.ends(bands, level)[1]),
        )

    def _band_shares(self, positions: pl.Series, level: int) -> pl.Series:
        low, high = self.domain or (0, 0)
        lows, highs = self.ends(positions, level)
        lows, highs = lows.fill_null(low).clip(low, high), highs.fill_null(high).clip(low, high)
        return quotient(highs - lows, high - low).set(positions.is_null(), None)


def _close(ends: pl.Series, end: float | None, known: pl.Series) -> pl.Series:
    return ends.set(ends.is_null() & known, end)


def _once_per_band(positions: pl.Series, compute: Callable[[pl.Series], pl.Series]) -> pl.Series:
    """``compute`` for each position, run once per band where many values share few bands."""
    low, high = positions.min(), positions.max()
    if isinstance(low, int) and isinstance(high, int) and high - low < len(positions):
        every = pl.int_range(low, high + 1, dtype=pl.Int64, eager=True)
        return compute(every).gather(positions - low)
    return compute(positions)
