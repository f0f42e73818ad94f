"""The arrays that pass between rooms: their names, and how they are made of columns and of each other."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]


def as_floats(values: pl.Series) -> Floats:
    """Numbers as an array, with NaN for those that are missing."""
    return values.cast(pl.Float64).fill_null(np.nan).to_numpy()


def places_among(values: pl.Series, among: pl.Series) -> pl.Series:
    """The place of each value among distinct ones; null where it isn't one of them. A missing value may be one.

    >>> places_among(pl.Series(["b", None, "x"]), pl.Series(["a", "b", None])).to_list()
    [1, 2, None]
    """
    known = pl.DataFrame({"value": among, "place": np.arange(len(among))})
    asked = pl.DataFrame({"value": values.cast(among.dtype)})
    return asked.join(known, on="value", how="left", nulls_equal=True, maintain_order="left")["place"]


def sums_by(groups: Integers, counted: Integers, number: int) -> Integers:
    """What was counted, added up within each of so many groups.

    >>> sums_by(np.array([0, 2, 0]), np.array([5, 7, 1]), 3).tolist()
    [6, 0, 7]
    """
    return np.bincount(groups, weights=counted, minlength=number).astype(np.int64)
