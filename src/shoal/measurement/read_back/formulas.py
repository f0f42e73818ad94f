"""Attributes that can be computed from released numbers and dates: q ≈ w₁c₁ + … + wₘcₘ + b, found by least squares.

Fitted twice: records that the first fit is far from are left out of the second, so that a few that break the rule don't
hide it. A formula counts if, on records, its result rounded to the nearest original value is the right one as often as
the rule asks, or lies under the right label of a higher level.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import polars as pl

from shoal.kernels.arrays import Floats, Integers, Mask
from shoal.measurement.read_back.column_types import kinds_of
from shoal.measurement.read_back.disclosure_rule import DisclosureRule
from shoal.measurement.read_back.levels import Codes, Levels
from shoal.measurement.read_back.readings import nearest, numbers_in
from shoal.schema import Column

MOST_COLUMNS = 20
FEWEST_VALUES = 3
_PER_COLUMN = 10
"""Records for each column of a formula, at least."""
_FEW = 500
_MARGIN = 0.15
"""Of a few records, a formula that holds is never wrong so much more often."""
_TRIMMED = 0.9
_IDLE = 1e-6
_ALIKE = 1e-12
"""Columns that differ by no more than the root of this are one."""


@dataclass(frozen=True)
class Formula:
    columns: tuple[Column, ...]
    weights: Floats
    level: int
    values: Floats
    places: Integers


@dataclass(frozen=True)
class NumericColumn:
    """A column that is numbers or dates, and its cells as numbers; NaN for what can't be read."""

    column: Column
    cells: Floats = field(repr=False)


@dataclass(frozen=True)
class _Asked:
    """What a formula has to give, record by record."""

    levels: Levels
    numbers: Floats
    codes: Codes
    values: Floats
    """The distinct numbers in order, and the original value that each is."""
    places: Integers
    rule: DisclosureRule

    def labels(self, level: int, there: Mask | slice) -> Integers:
        return self.levels.compact[level][0][self.codes[there]]

    @cached_property
    def coarsest(self) -> int | None:
        """The highest level that tells records apart; None if nearly all have one label there."""
        for level in reversed(range(self.levels.height)):
            shares = np.bincount(self.labels(level, slice(None))) / len(self.codes)
            if (shares > 0).sum() > 1:
                return level if shares.max() < self.rule.share else None
        return None


def fit(
    levels: Levels, original: pl.Series, columns: Sequence[NumericColumn], rule: DisclosureRule
) -> Iterator[Formula]:
    """By each column alone; where none does, by all together. All are of the same records."""
    numbers = _as_numbers(original) if columns else None
    if numbers is None:
        return
    codes = levels.value_codes(original)
    asked = _Asked(levels, numbers, codes, *_values(numbers, codes), rule)
    if len(asked.values) < FEWEST_VALUES:
        return
    alone = [found for one in columns if (found := _fitted((one,), asked)) is not None]
    yield from alone
    if not any(found.level == 0 for found in alone) and 1 < len(columns) <= MOST_COLUMNS:
        together = _fitted(columns, asked)
        needed = () if together is None else _needed(together, columns)
        if 0 < len(needed) < len(columns):
            together = _fitted(needed, asked) or together
        if together is not None:
            yield together


def _needed(found: Formula, columns: Sequence[NumericColumn]) -> tuple[NumericColumn, ...]:
    """The columns that make a difference to the result."""
    weight = np.abs(found.weights[:-1]) * np.array([np.nanstd(one.cells) for one in columns])
    return tuple(one for one, moved in zip(columns, weight, strict=True) if moved > _IDLE * weight.max())


def _fitted(columns: Sequence[NumericColumn], asked: _Asked) -> Formula | None:
    matrix, rule = np.column_stack([one.cells for one in columns]), asked.rule
    there = np.isfinite(matrix).all(axis=1) & np.isfinite(asked.numbers)
    if there.sum() < max(rule.records, _PER_COLUMN * (len(columns) + 1)):
        return None
    matrix, numbers = matrix[there], asked.numbers[there]
    weights = _least_squares(matrix, numbers)
    tried = [] if weights is None else list(_near(weights, matrix, numbers))
    if not _may_count(tried, matrix, there, asked):
        return None
    values = np.unique(numbers)
    weights = max(tried, key=lambda one: _hits(one, matrix, numbers, values))
    computed = nearest(asked.values, matrix @ weights[:-1] + weights[-1])
    found = np.where(computed >= 0, asked.places[computed], -1)
    for level in range(asked.levels.height):
        true = asked.labels(level, there)
        right = (found >= 0) & (asked.levels.compact[level][0][found] == true)
        usual = np.bincount(true).argmax()
        telling = int((right & (true != usual)).sum()) >= rule.records
        if right.mean() >= rule.share and telling:
            return Formula(tuple(one.column for one in columns), weights, level, asked.values, asked.places)
    return None


def _may_count(tried: Sequence[Floats], matrix: Floats, there: Mask, asked: _Asked) -> bool:
    """Whether one of the formulas is right often enough in a few records, on the highest level that says anything."""
    if not tried or asked.coarsest is None:
        return bool(tried)
    step = max(1, len(matrix) // _FEW)
    labels = asked.levels.compact[asked.coarsest][0]
    few, true = matrix[::step], asked.labels(asked.coarsest, there)[::step]
    for weights in tried:
        computed = nearest(asked.values, few @ weights[:-1] + weights[-1])
        right = (computed >= 0) & (labels[asked.places[computed]] == true)
        if right.mean() >= asked.rule.share - _MARGIN:
            return True
    return False


def _least_squares(matrix: Floats, numbers: Floats) -> Floats | None:
    scale = np.abs(matrix).max(axis=0)
    scale[scale == 0] = 1.0
    scaled = matrix / scale
    weights = _solved(scaled, numbers)
    off = np.abs(scaled @ weights[:-1] + weights[-1] - numbers)
    near = off <= np.quantile(off, _TRIMMED)
    if near.sum() > matrix.shape[1]:
        weights = _solved(scaled[near], numbers[near])
    if not np.isfinite(weights).all():
        return None
    weights[:-1] /= scale
    return weights


def _solved(matrix: Floats, numbers: Floats) -> Floats:
    """The weights of the columns, then what is added: by normal equations, with what they leave over fitted again."""
    means, mean = matrix.mean(axis=0), numbers.mean()
    apart = matrix - means
    squares = apart.T @ apart
    weights: Floats = np.zeros(matrix.shape[1])
    for _ in range(2):
        left = numbers - mean - apart @ weights
        weights = weights + np.linalg.lstsq(squares, apart.T @ left, rcond=_ALIKE)[0]
    return np.append(weights, mean - means @ weights)


def _near(weights: Floats, matrix: Floats, numbers: Floats) -> Iterator[Floats]:
    """As fitted; with round factors, as an age falls by one a year; each with what is added in the middle of what is
    left over, since whole numbers are often rounded down."""
    for factors in (weights[:-1], np.array([float(f"{factor:.2g}") for factor in weights[:-1]])):
        left = numbers - matrix @ factors
        yield np.append(factors, weights[-1])
        yield np.append(factors, np.median(left))
        yield np.append(factors, sum(np.quantile(left, [0.02, 0.98])) / 2)


def _hits(weights: Floats, matrix: Floats, numbers: Floats, values: Floats) -> int:
    near = nearest(values, matrix @ weights[:-1] + weights[-1])
    return int(((near >= 0) & (values[near] == numbers)).sum())


def _as_numbers(original: pl.Series) -> Floats | None:
    frame = original.alias("value").to_frame()
    column = kinds_of(frame, ["value"])["value"]
    return numbers_in(frame, [column])[:, 0] if column.is_number or column.is_date else None


def _values(numbers: Floats, codes: Codes) -> tuple[Floats, Integers]:
    """The distinct numbers in order, and the place of the original value that each is."""
    there = np.isfinite(numbers) & (codes >= 0)
    values, first = np.unique(numbers[there], return_index=True)
    return values, codes[there][first].astype(np.int64)
