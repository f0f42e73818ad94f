"""Which rows are looked at, and whether row i of both tables is the same record."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from shoal.kernels.arrays import Integers
from shoal.measurement.usefulness.associations import pearson
from shoal.measurement.usefulness.attribute_pairs import AttributePair
from shoal.randomness import Stream

Rows = Integers

_AGREEMENT = 0.5


def sample_rows(stream: Stream, rows: int, most: int, *, lane: int = 0) -> Rows:
    """All row numbers, or a simple random sample of ``most`` of them, in order."""
    if rows <= most:
        return np.arange(rows, dtype=np.int64)
    words = stream.words(np.arange(rows, dtype=np.uint64), lane)[:, 0]
    return np.sort(np.argpartition(words, most)[:most])


def look_aligned(pairs: Sequence[AttributePair]) -> bool:
    """Whether the rows seem to stand in the same order: over the attributes that vary, the median agreement beyond
    chance (Cohen's κ for categories, Pearson's correlation for numbers) is at least one half.

    A release with most attributes swapped fails this; whoever knows its order says so.
    """
    usable = [pair for pair in pairs if pair.problem is None]
    if not usable or any(len(pair.original) != len(pair.released) for pair in usable):
        return False
    found = [agreement for pair in usable if (agreement := _agreement(pair)) is not None]
    return bool(found) and float(np.median(found)) >= _AGREEMENT


def unchanged(pair: AttributePair) -> float:
    """The share of cells that are as in the original, row by row; a missing cell that was missing is unchanged."""
    return float(pair.original.eq_missing(pair.released).mean() or 0.0)  # type: ignore[arg-type]


def _agreement(pair: AttributePair) -> float | None:
    if pair.numeric:
        return pearson(*pair.numbers())
    both = pl.DataFrame({"before": pair.recoded, "after": pair.released}).drop_nulls()
    if not both.height:
        return None
    before, after = (both[side].value_counts(normalize=True, name="share") for side in ("before", "after"))
    joined = before.join(after, left_on="before", right_on="after", suffix="_after")
    chance = float((joined["share"] * joined["share_after"]).sum())
    if chance >= 1:
        return None
    same = float(both.select((pl.col("before") == pl.col("after")).mean()).item())
    return (same - chance) / (1 - chance)
