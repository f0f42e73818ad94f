"""Attributes that can be computed from released numbers and dates: q ≈ w₁c₁ + … + wₘcₘ + b, found by least squares.

Fitted twice: records that the first fit is far from are left out of the second, so that a few that break the rule don't
hide it. A formula counts if, on records, its result rounded to the nearest original value is the right one as often as
the rule asks, or lies under the right label of a higher level.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from shoal.measurement.read_back.levels import Codes, Levels
from shoal.measurement.read_back.readings import nearest, numbers_in
from shoal.measurement.read_back.rule import Rule
from shoal.schema import Column
from shoal.schema.arrays import Floats, Integers
from shoal.schema.detect import detect

MOST_COLUMNS = 20
FEWEST_VALUES = 3
_PER_COLUMN = 10
"""Records for each column of a formula, at least."""
_TRIMMED = 0.9
_IDLE = 1e-6


@dataclass(frozen=True)
class Formula:
    columns: tuple[Column, ...]
    weights: Floats
    level: int
    values: Floats
    places: Integers


def fit(
    levels: Levels, original: pl.Series, sample: pl.DataFrame, columns: Sequence[Column], rule: Rule
) -> Iterator[Formula]:
    """By each column alone; where none does, by all together."""
    numbers = _as_numbers(original)
    if numbers is None or not columns:
        return
    codes = levels.value_codes(original)
    values, places = _values(numbers, codes)
    if len(values) < FEWEST_VALUES:
        return
    tried = (_fitted((one,), numbers, codes, (values, places), levels, sample, rule) for one in columns)
    alone = [found for found in tried if found is not None]
    yield from alone
    if not any(found.level == 0 for found in alone) and 1 < len(columns) <= MOST_COLUMNS:
        together = _fitted(tuple(columns), numbers, codes, (values, places), levels, sample, rule)
        needed = () if together is None else _needed(together, sample)
        if 0 < len(needed) < len(columns):
            together = _fitted(needed, numbers, codes, (values, places), levels, sample, rule) or together
        if together is not None:
            yield together


def _needed(found: Formula, sample: pl.DataFrame) -> tuple[Column, ...]:
    """The columns that make a difference to the result."""
    weight = np.abs(found.weights[:-1]) * np.nanstd(numbers_in(sample, found.columns), axis=0)
    return tuple(one for one, moved in zip(found.columns, weight, strict=True) if moved > _IDLE * weight.max())


def _fitted(  # noqa: PLR0913, PLR0917  # what a fit is made of
    columns: tuple[Column, ...],
    numbers: Floats,
    codes: Codes,
    known: tuple[Floats, Integers],
    levels: Levels,
    sample: pl.DataFrame,
    rule: Rule,
) -> Formula | None:
    matrix = numbers_in(sample, columns)
    there = np.isfinite(matrix).all(axis=1) & np.isfinite(numbers)
    if there.sum() < max(rule.records, _PER_COLUMN * (len(columns) + 1)):
        return None
    weights = _least_squares(matrix[there], numbers[there])
    if weights is None:
        return None
    weights = max(
        _near(weights, matrix[there], numbers[there]), key=lambda one: _hits(one, matrix[there], numbers[there])
    )
    computed = nearest(known[0], matrix[there] @ weights[:-1] + weights[-1])
    found = np.where(computed >= 0, known[1][computed], -1)
    for level, names in enumerate(levels.labels):
        true = names[codes[there]]
        right = (found >= 0) & (names[found] == true)
        usual = np.bincount(true).argmax()
        telling = int((right & (true != usual)).sum()) >= rule.records
        if right.mean() >= rule.share and telling:
            return Formula(columns, weights, level, *known)
    return None


def _least_squares(matrix: Floats, numbers: Floats) -> Floats | None:
    scale = np.abs(matrix).max(axis=0)
    scale[scale == 0] = 1.0
    table = np.column_stack([matrix / scale, np.ones(len(matrix))])
    weights: Floats = np.linalg.lstsq(table, numbers, rcond=None)[0]
    off = np.abs(table @ weights - numbers)
    near = off <= np.quantile(off, _TRIMMED)
    if near.sum() >= table.shape[1]:
        weights = np.linalg.lstsq(table[near], numbers[near], rcond=None)[0]
    if not np.isfinite(weights).all():
        return None
    weights[:-1] /= scale
    return weights


def _near(weights: Floats, matrix: Floats, numbers: Floats) -> Iterator[Floats]:
    """As fitted; with round factors, as an age falls by one a year; each with what is added in the middle of what is
    left over, since whole numbers are often rounded down."""
    for factors in (weights[:-1], np.array([float(f"{factor:.2g}") for factor in weights[:-1]])):
        left = numbers - matrix @ factors
        yield np.append(factors, weights[-1])
        yield np.append(factors, np.median(left))
        yield np.append(factors, sum(np.quantile(left, [0.02, 0.98])) / 2)


def _hits(weights: Floats, matrix: Floats, numbers: Floats) -> int:
    values = np.unique(numbers)
    near = nearest(values, matrix @ weights[:-1] + weights[-1])
    return int(((near >= 0) & (values[near] == numbers)).sum())


def _as_numbers(original: pl.Series) -> Floats | None:
    name = original.name or "value"
    column = detect(original.alias(name).to_frame().lazy(), [name])[name]
    if not (column.is_number or column.is_date):
        return None
    return numbers_in(original.alias(name).to_frame(), [column])[:, 0]


def _values(numbers: Floats, codes: Codes) -> tuple[Floats, Integers]:
    """The distinct numbers in order, and the place of the original value that each is."""
    there = np.isfinite(numbers) & (codes >= 0)
    values, first = np.unique(numbers[there], return_index=True)
    return values, codes[there][first].astype(np.int64)
