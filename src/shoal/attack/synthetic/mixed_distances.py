"""Distances between records of numbers and labels (after Gower 1971), and nearest records by all of them.

A number adds its difference as a share of the range in which 99 % of the original lie, so that one outlier does not
make everybody else alike; a label adds 1 where it differs. What is missing is a label of its own. Every pair is worked
out: there is no index that could miss one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from shoal.kernels.arrays import Floats, Integers, as_floats

_TAIL = 0.005
_AT_ONCE = 2_000_000
"""Pairs of records that are held in memory together."""


@dataclass(frozen=True)
class NumberScale:
    middle: float
    width: float


@dataclass(frozen=True)
class MixedPoints:
    """How columns become coordinates: numbers by their scale, everything else by its label."""

    scales: Mapping[str, NumberScale]

    @classmethod
    def of(cls, frame: pl.DataFrame) -> MixedPoints:
        numbers = (name for name, dtype in frame.schema.items() if dtype.is_numeric() or dtype.is_temporal())
        return cls({name: _scale(frame[name]) for name in numbers})


def _scale(column: pl.Series) -> NumberScale:
    numbers = as_floats(column.to_physical())
    numbers = numbers[np.isfinite(numbers)]
    if not len(numbers):
        return NumberScale(0.0, 1.0)
    low, high = np.quantile(numbers, (_TAIL, 1 - _TAIL))
    width = float(high - low) or float(numbers.max() - numbers.min()) or 1.0
    return NumberScale(float(np.median(numbers)), width)


@dataclass(frozen=True)
class Neighbours:
    """Of each of the people, the nearest records: how far, and which."""

    distances: Floats
    places: Integers


@dataclass(frozen=True)
class PointSet:
    numbers: Floats
    labels: tuple[pl.Series, ...]

    @classmethod
    def of(cls, frame: pl.DataFrame, points: MixedPoints, names: Sequence[str]) -> PointSet:
        numbers: list[Floats] = []
        labels: list[pl.Series] = []
        for name in names:
            scale = points.scales.get(name)
            if scale is None:
                labels.append(frame[name].cast(pl.String))
                continue
            values = as_floats(frame[name].to_physical())
            gone = ~np.isfinite(values)
            numbers.append((np.where(gone, scale.middle, values) - scale.middle) / scale.width)
            labels.append(pl.Series(name, gone).cast(pl.String))
        return cls(np.column_stack(numbers) if numbers else np.empty((frame.height, 0)), tuple(labels))

    def nearest(self, among: PointSet, neighbours: int) -> Neighbours:
        """In the order of their distance, the first of equally near ones first."""
        from scipy.spatial.distance import cdist

        mine, theirs = _coded_alike(self.labels, among.labels)
        rows, records = len(self.numbers), len(among.numbers)
        neighbours = min(neighbours, records)
        distances, places = np.empty((rows, neighbours)), np.empty((rows, neighbours), dtype=np.int64)
        step = max(1, _AT_ONCE // max(records, 1))
        for first in range(0, rows, step):
            some = slice(first, first + step)
            apart = np.zeros((len(self.numbers[some]), records))
            if self.numbers.shape[1]:
                apart += cdist(self.numbers[some], among.numbers, "cityblock")
            if mine.shape[1]:
                apart += cdist(mine[some], theirs, "hamming") * mine.shape[1]
            for place in range(neighbours):
                nearest = apart.argmin(axis=1)
                each = np.arange(len(nearest))
                distances[some, place], places[some, place] = apart[each, nearest], nearest
                apart[each, nearest] = np.inf
        return Neighbours(distances, places)


def _coded_alike(mine: Sequence[pl.Series], theirs: Sequence[pl.Series]) -> tuple[Floats, Floats]:
    """Labels of both as the same codes; columns in which nobody differs are left out."""
    coded: list[tuple[Floats, Floats]] = []
    for ours, others in zip(mine, theirs, strict=True):
        both = pl.concat([ours.alias("label"), others.alias("label")]).fill_null("\0").cast(pl.Categorical)
        codes = both.to_physical().to_numpy().astype(np.float64)
        if len(codes) and codes.min() != codes.max():
            coded.append((codes[: len(ours)], codes[len(ours) :]))
    if not coded:
        return np.empty((len(mine[0]) if mine else 0, 0)), np.empty((len(theirs[0]) if theirs else 0, 0))
    return np.column_stack([each[0] for each in coded]), np.column_stack([each[1] for each in coded])
