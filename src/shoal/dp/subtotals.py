"""Totals and sub-totals of one answer: added up from its noisy figures, so that they agree and cost nothing.

Noise is put on the smallest groups alone. A total over n of them has n times their variance; its interval says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

Figures = NDArray[np.float64]


@dataclass(frozen=True)
class Subtotals:
    """Rows of an answer as sums of the smallest groups, here called cells."""

    keys: pl.DataFrame
    """By row; a key that was added up over is null."""
    rows_of_cells: tuple[NDArray[np.int64], ...]
    """At each level, in which row a cell is."""
    sizes: NDArray[np.int64]
    """By row, how many cells it is a sum of."""

    @classmethod
    def of(cls, keys: pl.DataFrame, levels: Sequence[Sequence[int]], cells: int) -> Subtotals:
        if not levels:
            return cls(keys, (np.arange(cells),), np.ones(cells, dtype=np.int64))
        frames, places, first = [], [], 0
        for level in levels:
            kept = [keys.columns[place] for place in level]
            rows = keys.select(kept).unique(maintain_order=True) if kept else pl.DataFrame({"\x00all": [0]})
            here = np.zeros(cells, dtype=np.int64)
            if kept:
                found = keys.join(rows.with_row_index("\x00row"), on=kept, how="left", maintain_order="left")
                here = found["\x00row"].to_numpy().astype(np.int64)
            places.append(here + first)
            first += rows.height
            nulls = [pl.lit(None, dtype=keys.schema[name]).alias(name) for name in keys.columns if name not in kept]
            frames.append(rows.with_columns(nulls).select(keys.columns))
        sizes = np.bincount(np.concatenate(places), minlength=first).astype(np.int64)
        return cls(pl.concat(frames), tuple(places), sizes)

    def summed(self, cells: Figures) -> Figures:
        """Of figures by cell (and by draw, in the second dimension) those by row."""
        if len(self.sizes) == len(cells) and len(self.rows_of_cells) == 1:
            return cells
        found = np.zeros((len(self.sizes), *cells.shape[1:]))
        for places in self.rows_of_cells:
            np.add.at(found, places, cells)
        return found


def non_negative(counts: Figures, *, keep_sum: bool) -> Figures:
    """The nearest figures that are not below nought; with ``keep_sum`` among those with the same sum, if it can be.

    >>> non_negative(np.array([5.0, -2.0, 1.0]), keep_sum=True).tolist()
    [4.0, 0.0, 0.0]
    """
    if not keep_sum:
        return np.maximum(counts, 0.0)
    total = counts.sum()
    if total <= 0:
        return np.zeros_like(counts)
    falling = np.sort(counts)[::-1]
    excess = (np.cumsum(falling) - total) / np.arange(1, len(counts) + 1)
    kept = np.flatnonzero(falling > excess)[-1]
    return np.asarray(np.maximum(counts - excess[kept], 0.0), dtype=np.float64)
