"""Columns in a few codes that both tables are put in, so that cells of marginals can be counted.

Numbers and dates stand in bins that hold about equally many records of the original each; numbers of which there are
few stand for themselves. A category keeps its most frequent labels, the rest is one code, and so is what is missing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.kernels.arrays import Floats, as_floats

BINS = 20
"""Of a number or date."""
MOST_LABELS = 98
"""Of a category; with one code for rarer labels and one for missing ones, three categories have a million cells."""

CellCodes = NDArray[np.int32]


@dataclass(frozen=True)
class CodedColumn:
    name: str
    before: CellCodes
    after: CellCodes
    size: int
    """Codes that there can be."""

    @classmethod
    def of(cls, name: str, original: pl.Series, synthetic: pl.Series) -> CodedColumn:
        if _many_numbers(original, synthetic):
            return cls._binned(name, _physical(original), _physical(synthetic))
        return cls._labelled(name, original.cast(pl.String), synthetic.cast(pl.String))

    @classmethod
    def _binned(cls, name: str, before: pl.Series, after: pl.Series) -> CodedColumn:
        numbers, others = as_floats(before), as_floats(after)
        there = np.sort(numbers[~np.isnan(numbers)])
        edges = np.unique(there[(np.arange(1, BINS) * len(there)) // BINS])
        missing = len(edges) + 1

        def placed(values: Floats) -> CellCodes:
            places = np.where(np.isnan(values), missing, np.searchsorted(edges, values, side="right"))
            return places.astype(np.int32)

        return cls(name, placed(numbers), placed(others), missing + 1)

    @classmethod
    def _labelled(cls, name: str, before: pl.Series, after: pl.Series) -> CodedColumn:
        counted = before.drop_nulls().alias("label").value_counts(name="records")
        kept = counted.sort("records", "label", descending=[True, False]).head(MOST_LABELS)["label"]
        rare = len(kept)

        def placed(labels: pl.Series) -> CellCodes:
            places = labels.replace_strict(
                kept, pl.Series(range(rare), dtype=pl.Int32), default=rare, return_dtype=pl.Int32
            )
            return places.set(labels.is_null(), rare + 1).to_numpy()

        return cls(name, placed(before), placed(after), rare + 2)


def _many_numbers(original: pl.Series, synthetic: pl.Series) -> bool:
    ordered = all(side.dtype.is_numeric() or side.dtype.is_temporal() for side in (original, synthetic))
    return ordered and original.dtype.is_temporal() == synthetic.dtype.is_temporal() and original.n_unique() > BINS


def _physical(values: pl.Series) -> pl.Series:
    return values.cast(pl.Datetime("us")).to_physical() if values.dtype in _DATES else values.to_physical()


_DATES = (pl.Date, pl.Datetime)
