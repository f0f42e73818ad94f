"""Noise on one column, record by record: draw, round, draw again where a bound is crossed, clamp at last."""

from __future__ import annotations

import datetime
from abc import abstractmethod
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal

import numpy as np
import polars as pl

from shoal.errors import DataError
from shoal.kernels.arrays import Floats, Integers
from shoal.randomness import Stream
from shoal.schema.columns import ROW, Column
from shoal.schema.values import ValueType
from shoal.techniques.base import ColumnStep
from shoal.techniques.randomisation.noise.distributions import NoiseDistribution, Rows

DRAWS = 16
"""How often a value may be drawn before it is clamped to its bounds."""

_CHUNK = 1 << 14
"""Records drawn at once, so that the arrays on the way stay in the processor's cache."""

_DAY = 86_400
_MICRO = 1_000_000
_EPOCH = datetime.date(1970, 1, 1)
_EXACT = Context(prec=400)
"""Digits enough for any float."""

Numbers = Integers | Floats
Bounds = tuple[float, float]
GivenBounds = tuple[float, float] | tuple[datetime.date, datetime.date]


@dataclass(frozen=True)
class NoiseStep(ColumnStep):
    """What numbers and dates have in common; ``bounds`` are in the units that ``_read`` gives."""

    stream: Stream
    bounds: Bounds | None

    @abstractmethod
    def _read(self, values: pl.Series) -> pl.Series:
        """The stored values as Int64 or Float64."""

    @abstractmethod
    def _write(self, numbers: pl.Series) -> pl.Series:
        """And back."""

    @abstractmethod
    def _draw(self, values: Numbers, rows: Rows, lane: int) -> Numbers:
        """Each value with fresh noise from one lane of its record's stream."""

    def apply(self, frame: pl.DataFrame) -> pl.DataFrame:
        numbers = self._read(frame[self.column.name])
        if not numbers.null_count():
            noisy = self._noisy(numbers.to_numpy(), frame[ROW].to_numpy())
            return frame.with_columns(self._write(pl.Series(self.column.name, noisy)))
        missing = numbers.is_null()
        there = ~missing.to_numpy()
        values, rows = numbers.drop_nulls().to_numpy(), frame[ROW].to_numpy()[there]
        noisy = np.zeros(len(numbers), dtype=values.dtype)
        noisy[there] = self._noisy(values, rows)
        return frame.with_columns(self._write(pl.Series(self.column.name, noisy).set(missing, None)))

    def _noisy(self, values: Numbers, rows: Rows) -> Numbers:
        noisy = np.empty_like(values)
        for start in range(0, len(values), _CHUNK):
            part = slice(start, start + _CHUNK)
            noisy[part] = self._inside(values[part], rows[part])
        return noisy

    def _inside(self, values: Numbers, rows: Rows) -> Numbers:
        noisy = self._draw(values, rows, lane=0)
        if self.bounds is None:
            return noisy
        low, high = self.bounds
        for lane in range(1, DRAWS):
            outside = np.flatnonzero((noisy < low) | (noisy > high))
            if not outside.size:
                return noisy
            noisy[outside] = self._draw(values[outside], rows[outside], lane)
        noisy[noisy < low] = low
        noisy[noisy > high] = high
        return noisy


@dataclass(frozen=True)
class NumberNoiseStep(NoiseStep):
    distribution: NoiseDistribution

    def _read(self, values: pl.Series) -> pl.Series:
        return self.column.numbers(values)

    def _write(self, numbers: pl.Series) -> pl.Series:
        return numbers

    def _draw(self, values: Numbers, rows: Rows, lane: int) -> Numbers:
        exact = values.dtype == np.int64
        noise = self.distribution.noise(values.astype(np.float64), self.stream, rows, lane)
        self._refuse_overflow(values, noise, limit=2.0**63 if exact else np.inf)
        if exact:
            return values.astype(np.int64) + np.rint(noise).astype(np.int64)
        # + 0.0 turns the −0.0 that rounding leaves into 0.0
        return np.asarray(np.round(values.astype(np.float64) + noise, self.column.scale) + 0.0, dtype=np.float64)

    def _refuse_overflow(self, values: Numbers, noise: Floats, limit: float) -> None:
        largest = np.maximum(np.abs(values + noise), np.abs(noise))
        if not largest.max(initial=0.0) < limit:
            beyond = np.count_nonzero(~(largest < limit))
            raise DataError(f"column '{self.column.name}': {beyond} value(s) with noise are too large for a number")


@dataclass(frozen=True)
class DateNoiseStep(NoiseStep):
    """Dates count in days; dates with time in microseconds, moved by whole seconds so that the time blurs too."""

    days: int

    def _read(self, values: pl.Series) -> pl.Series:
        return self.column.dates(values).to_physical().cast(pl.Int64)

    def _write(self, numbers: pl.Series) -> pl.Series:
        if self.column.type is ValueType.DATE:
            return self.column.from_dates(numbers.cast(pl.Int32).cast(pl.Date))
        return self.column.from_dates(numbers.cast(pl.Datetime("us")))

    def _draw(self, values: Numbers, rows: Rows, lane: int) -> Numbers:
        per_day, unit = (1, 1) if self.column.type is ValueType.DATE else (_DAY, _MICRO)
        reach = self.days * per_day
        shift = np.floor(self.stream.uniform(rows, lane) * (2 * reach + 1)).astype(np.int64) - reach
        return values.astype(np.int64) + shift * unit


def limits(bounds: GivenBounds, column: Column) -> Bounds:
    """The bounds in the units that the column counts in; both ends are allowed values."""
    low, high = bounds
    if isinstance(low, datetime.date) or isinstance(high, datetime.date):
        return _date_limits(low, high, column)  # type: ignore[arg-type]
    return _number_limits(low, high, column)


def _number_limits(low: float, high: float, column: Column) -> Bounds:
    """Drawn inwards to the column's digits, so that rounding can't cross them."""
    step = Decimal(1).scaleb(-column.scale)
    lowest = Decimal(repr(low)).quantize(step, ROUND_CEILING, _EXACT)
    highest = Decimal(repr(high)).quantize(step, ROUND_FLOOR, _EXACT)
    if lowest > highest:
        raise DataError(f"column '{column.name}': no value with {column.scale} decimal(s) lies between the bounds")
    return float(lowest), float(highest)


def _date_limits(low: datetime.date, high: datetime.date, column: Column) -> Bounds:
    first, last = (low - _EPOCH).days, (high - _EPOCH).days
    if column.type is ValueType.DATE:
        return first, last
    return first * _DAY * _MICRO, (last + 1) * _DAY * _MICRO - 1
