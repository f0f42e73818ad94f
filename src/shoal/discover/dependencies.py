"""Which columns tell others: functional dependencies, measured on the records that were looked at.

A column tells another if the records that share its value nearly always share the other's too: Goodman and Kruskal's
lambda (1954), which is the share of errors that knowing the one saves in guessing the other. Values that only one
record has say nothing and are left out. Two columns that tell each other say the same thing twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import polars as pl
from numpy.typing import NDArray

SURE = 0.97
"""The lambda from which a column is said to tell another."""
FEWEST = 20
"""Records that must share a value with others for anything to be said."""
LEAST = 0.3
"""… and their share of all."""

Codes = NDArray[np.int64]


@dataclass(frozen=True)
class Dependency:
    """The column ``by`` tells ``told``."""

    by: str
    told: str
    strength: float
    both_ways: bool = False


def dependencies(frame: pl.DataFrame, names: Sequence[str]) -> list[Dependency]:
    """Between all pairs of the columns.

    >>> places = pl.DataFrame({"city": ["Pune", "Agra", "Thane"] * 20, "state": ["MH", "UP", "MH"] * 20})
    >>> [(one.by, one.told) for one in dependencies(places, ["city", "state"])]
    [('city', 'state')]
    """
    coded = {name: _codes(frame[name]) for name in names}
    return [found for pair in combinations(names, 2) for found in _between(*pair, coded[pair[0]], coded[pair[1]])]


def _between(first: str, second: str, own: Codes, other: Codes) -> Iterator[Dependency]:
    forth, back = told(own, other), told(other, own)
    if forth >= SURE and back >= SURE:
        yield Dependency(first, second, min(forth, back), both_ways=True)
    elif forth >= SURE:
        yield Dependency(first, second, forth)
    elif back >= SURE:
        yield Dependency(second, first, back)


def _codes(values: pl.Series) -> Codes:
    """Numbers from 0 for the values, -1 for a missing one."""
    ranks = values.cast(pl.String).rank("dense").cast(pl.Int64) - 1
    return ranks.fill_null(-1).to_numpy().astype(np.int64)


def told(own: Codes, other: Codes) -> float:
    """Lambda of guessing ``other`` by ``own``, over the records whose own value others share; 0 if these are few."""
    present = (own >= 0) & (other >= 0)
    own, other = own[present], other[present]
    if not own.size:
        return 0.0
    shared = np.bincount(own)[own] > 1
    if shared.sum() < max(FEWEST, LEAST * own.size):
        return 0.0
    own, other = own[shared], other[shared]
    wide = int(other.max()) + 1
    pairs, records = np.unique(own * wide + other, return_counts=True)
    starts = np.flatnonzero(np.diff(pairs // wide, prepend=-1))
    right = int(np.maximum.reduceat(records, starts).sum())
    guessed = int(np.bincount(other).max())
    total = other.size
    return 0.0 if guessed == total else (right - guessed) / (total - guessed)
