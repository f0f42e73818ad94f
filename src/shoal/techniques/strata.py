"""Strata: the records that share their values of some columns. Permutation, PRAM and sampling stay inside them."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.kernels.arrays import Integers

_CODE = "__shoal_stratum__"


def stratum_codes(frame: pl.DataFrame, within: tuple[str, ...]) -> Integers:
    """The number of each record's stratum, counted in order of first appearance. A missing value is a stratum too.

    >>> stratum_codes(pl.DataFrame({"sex": ["f", "m", None, "f"]}), ("sex",)).tolist()
    [0, 1, 2, 0]
    """
    if not within:
        return np.zeros(frame.height, dtype=np.int64)
    comparable = [key for name in within for key in _comparable(frame, name)]
    keys = frame.select(key.alias(str(number)) for number, key in enumerate(comparable))
    strata = keys.unique(maintain_order=True).with_row_index(_CODE)
    joined = keys.join(strata, on=keys.columns, how="left", nulls_equal=True, maintain_order="left")
    return joined[_CODE].cast(pl.Int64).to_numpy()


def _comparable(frame: pl.DataFrame, name: str) -> list[pl.Expr]:
    """The column, in such a way that a join finds its values again: NaN is not equal to itself."""
    if not frame.schema[name].is_float():
        return [pl.col(name)]
    return [pl.col(name).fill_nan(0.0), pl.col(name).is_nan()]


def random_order(strata: Integers, words: NDArray[np.uint64]) -> Integers:
    """The records sorted by stratum, and at random within it, by one random word for each.

    Stratum and word share 64 bits, so that one sort does; the bits left for the word nearly always tell the records of
    a stratum apart. Where they don't, the whole words decide: a stratum's order doesn't depend on how many there are.
    """
    bits = int(strata.max(initial=0)).bit_length()
    keys = words >> np.uint64(bits)
    if bits:
        keys |= strata.astype(np.uint64) << np.uint64(64 - bits)
    order = np.argsort(keys, kind="stable")
    if bits and (np.diff(keys[order]) == 0).any():
        return np.lexsort((words, strata))
    return order


def places_within(strata: Integers, order: Integers) -> Integers:
    """Each record's place in its stratum, from 0, where ``order`` sorts the records by stratum first.

    >>> places_within(np.array([0, 1, 0]), np.array([2, 0, 1])).tolist()
    [1, 0, 0]
    """
    size = np.bincount(strata)
    first = np.cumsum(size) - size
    places = np.empty(len(strata), dtype=np.int64)
    places[order] = np.arange(len(strata)) - first[strata[order]]
    return places
