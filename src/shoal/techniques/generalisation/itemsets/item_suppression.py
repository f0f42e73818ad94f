"""Items left out of single records, until every combination of at most m items that occurs has k people.

A rare combination can't become commoner by leaving things out: it has to go from all records that have it, and each of
them loses one of its items. Which one is chosen record by record: that which is in most of the record's rare
combinations per loss, then that which most people have (it can spare one). Leaving out an item makes others rarer, so
what is left is counted again until nothing is rare. Smaller combinations come first; what they take along needs no
second look.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.arrays import Floats, Integers, Mask
from shoal.techniques.generalisation.itemsets.baskets import Baskets, combinations

_NOTHING = 1e-9
"""Loss of a cell that says nothing any more, so that it can be divided by."""


def common_cells(baskets: Baskets, k: int, m: int) -> Mask:
    """Which cells stay."""
    stays = np.ones(len(baskets), dtype=np.bool_)
    while True:
        left = np.flatnonzero(stays)
        chosen = _chosen(baskets.keep(stays), k, m)
        if not len(chosen):
            return stays
        stays[left[chosen]] = False


def _chosen(baskets: Baskets, k: int, m: int) -> Integers:
    """Cells that hit every rare combination of the smallest size that has any."""
    spare = np.zeros(0)
    for found in combinations(baskets, k, m):
        if not len(spare):
            spare = found.support[found.which].astype(np.float64)
        rare = found.rare(k)
        if len(rare):
            return hitting(rare, baskets, spare)
    return np.empty(0, dtype=np.int64)


def hitting(rare: NDArray[np.int32], baskets: Baskets, spare: Floats) -> Integers:
    """Cells, at least one of each row of ``rare``: in every record the best one, then the best for what remains, …"""
    chosen = []
    while len(rare):
        cells, times = np.unique(rare, return_counts=True)
        records = baskets.records[cells]
        per_loss = times / np.maximum(baskets.weights[cells], _NOTHING)
        order = np.lexsort((-spare[cells], -per_loss, records))
        best = cells[order[np.flatnonzero(np.diff(records[order], prepend=-1))]]
        chosen.append(best.astype(np.int64))
        rare = rare[~np.isin(rare, best).any(axis=1)]
    return np.concatenate(chosen)
