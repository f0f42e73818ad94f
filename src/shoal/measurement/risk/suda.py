"""Special uniques: records that few attributes single out, scored (SUDA2, R-03).

A minimal sample unique is a set of attributes by which a record is the only one in the table while no part of the set
is enough. The fewer attributes it takes, the surer the record is unique in the population too: of n attributes and
sets of up to m, a set of k counts (n − k) · (n − k − 1) · … · (n − m + 1), which is (n − k)! if every size is searched,
and a record's score is the sum over its sets (Elliot, Manning and Ford 2002).

DIS-SUDA spreads the file's chance that a match with a unique is right (data intrusion simulation: Elliot 2000; Skinner
and Elliot 2002) over the records by their scores. With U uniques, P records in pairs and a sampled fraction π of the
population, the odds of a wrong match are P(1 − π) ÷ (Uπ) for the file; a record's own are these times its share of
score to the power −q in the mean, so that they average to the file's. With n attributes, q = 1 + (8 − n)/20, as
sdcMicro has it: the more attributes there are, the more scores differ by themselves.

A missing cell is a value of its own, as everywhere in Shoal's classes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import perm
from typing import Any

import numpy as np
import polars as pl

from shoal.errors import InputError
from shoal.kernels.arrays import Floats, Integers
from shoal.measurement.risk.minimal_uniques import find_uniques

THRESHOLDS = (0.01, 0.05, 0.1, 0.2, 0.5)
QUANTILES = (0.5, 0.75, 0.9, 0.95, 0.99)


@dataclass(frozen=True)
class Suda:
    """What the search found. ``to_dict`` has figures only; rows and values stay with who asked."""

    keys: tuple[str, ...]
    max_size: int
    fraction: float
    records: int
    alone: Integers = field(repr=False)
    """The rows that are alone by all keys: only they can have a score."""
    in_pairs: int
    by_size: tuple[int, ...]
    """Minimal sample uniques of one attribute, of two, and so on."""
    points: Floats = field(repr=False)
    """Per row alone and key, what sets with the key give to the row's score."""
    score: Floats = field(repr=False)
    """Per row alone."""
    cells: pl.DataFrame = field(repr=False, compare=False)
    """The keys of the rows alone."""

    @cached_property
    def scores(self) -> Floats:
        """Per row of the table; zero where nothing singles the record out."""
        return self._per_row(self.score)

    @cached_property
    def dis(self) -> Floats:
        """Per row of the table, the chance that a match with the record is right; zero where it has no score."""
        scored = self.score > 0
        chance = np.zeros_like(self.score)
        if scored.any():
            spread = self.score[scored] ** -power(len(self.keys))
            wrong = self.in_pairs * (1 - self.fraction) / (len(self.alone) * self.fraction)
            chance[scored] = 1 / (1 + wrong * spread / spread.mean())
        return self._per_row(chance)

    @cached_property
    def contributions(self) -> Floats:
        """Per row of the table and key, the share of the row's score that comes from sets with the key."""
        total = self.score[:, None]
        return self._per_row(np.divide(self.points, total, out=np.zeros_like(self.points), where=total > 0))

    @property
    def attributes(self) -> dict[str, float]:
        """Per key, the percentage of all scores that comes from sets with the key. They overlap: no sum of 100."""
        total = self.score.sum()
        shares = 100 * self.points.sum(axis=0) / total if total else np.zeros(len(self.keys))
        return dict(zip(self.keys, shares.tolist(), strict=True))

    def levels(self, key: str) -> pl.DataFrame:
        """The ``value``s that score, with their percentage of what the key contributes. Holds data: not for reports."""
        given = self.points[:, self.keys.index(key)]
        table = pl.DataFrame({"value": self.cells[key], "contribution": given}).filter(pl.col("contribution") > 0)
        summed = table.group_by("value").agg(pl.col("contribution").sum()).sort("value")
        return summed.with_columns(pl.col("contribution") * 100 / pl.col("contribution").sum())

    def summary(self) -> dict[str, Any]:
        """Figures of the whole table; no value of the data."""
        scored = self.dis[self.scores > 0]
        return {
            "records": self.records,
            "alone": len(self.alone),
            "scored": len(scored),
            "score_max": float(self.score.max(initial=0.0)),
            "dis_max": float(scored.max(initial=0.0)),
            "dis_quantiles": {f"{q:g}": float(np.quantile(scored, q)) if len(scored) else 0.0 for q in QUANTILES},
            "dis_above": {f"{limit:g}": int((scored > limit).sum()) for limit in THRESHOLDS},
            "attributes": self.attributes,
            "minimal_uniques": {str(size): number for size, number in enumerate(self.by_size, 1)},
        }

    def to_dict(self) -> dict[str, Any]:
        """The summary with what was asked."""
        asked = {"keys": list(self.keys), "max_size": self.max_size, "fraction": self.fraction}
        return {**asked, **self.summary()}

    def _per_row(self, figures: Floats) -> Floats:
        rows = np.zeros((self.records, *figures.shape[1:]))
        rows[self.alone] = figures
        return rows


def power(keys: int) -> float:
    """How steeply DIS-SUDA follows the score; never the wrong way round, which the formula would come to at 29 keys.

    >>> power(4), round(power(7), 2), power(40)
    (1.2, 1.05, 0.0)
    """
    return max(0.0, 1 + (8 - keys) / 20)


def suda(
    frame: pl.DataFrame | pl.LazyFrame, keys: Sequence[str], *, max_size: int | None = None, fraction: float = 0.01
) -> Suda:
    """Score every record of the table; ``fraction`` is the share of the population that was sampled.

    >>> table = pl.DataFrame({"sex": ["m", "m", "f"], "age": [30, 30, 30], "job": ["cook", "cook", "cook"]})
    >>> suda(table, ["sex", "age", "job"]).scores.tolist()
    [0.0, 0.0, 2.0]
    """
    names = tuple(keys)
    _check(names, frame.collect_schema().names(), max_size, fraction)
    table = frame.select(names).collect(engine="streaming") if isinstance(frame, pl.LazyFrame) else frame[list(names)]
    size = min(max_size or len(names), len(names))
    uniques = find_uniques(table, size)
    score = np.zeros(len(uniques.alone))
    points = np.zeros((len(uniques.alone), len(names)))
    by_size = [0] * size
    for found in uniques.minimal:
        taken = len(found.attributes)
        weight = perm(len(names) - taken, size - taken)
        by_size[taken - 1] += len(found.records)
        score[found.records] += weight
        points[found.records[:, None], found.attributes] += weight
    cells = table[uniques.alone]
    return Suda(
        names, size, fraction, table.height, uniques.alone, uniques.in_pairs, tuple(by_size), points, score, cells
    )


def _check(keys: tuple[str, ...], columns: Sequence[str], max_size: int | None, fraction: float) -> None:
    if not keys or len(set(keys)) < len(keys):
        raise InputError("suda: needs one or more keys, each named once")
    if absent := [key for key in keys if key not in columns]:
        raise InputError(f"suda: the table has no column {', '.join(map(repr, absent))}")
    if max_size is not None and max_size < 1:
        raise InputError("suda: max_size is 1 or more")
    if not 0 < fraction <= 1:
        raise InputError("suda: fraction is more than 0 and at most 1")
