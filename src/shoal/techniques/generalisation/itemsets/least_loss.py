"""Sets of items made k^m-anonymous with the least loss that was found.

The loss is the mean over all items of all records: 1 for an item that is left out, otherwise what its label loses
in the hierarchy, (leaves under it − 1) ÷ (leaves − 1).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from shoal.errors import InfeasibleError
from shoal.kernels.arrays import Integers, Mask
from shoal.techniques.generalisation.itemsets.baskets import Baskets
from shoal.techniques.generalisation.itemsets.hierarchy_cut import ItemTree, find_cut
from shoal.techniques.generalisation.itemsets.item_suppression import common_cells


@dataclass(frozen=True)
class ItemsetRelease:
    """What becomes of the items: the level of each, and which cells stay."""

    levels: Integers
    stays: Mask
    loss: float


def least_loss(baskets: Baskets, tree: ItemTree, k: int, m: int, *, may_leave_out: bool) -> ItemsetRelease:
    """The best of: generalise as far as it pays and leave out the rest, leave out only, generalise only.

    Of equal ones that which leaves out least.
    """
    candidates = _candidates(baskets, tree, k, m, may_leave_out=may_leave_out)
    return min(candidates, key=lambda release: (release.loss, -np.count_nonzero(release.stays)))


def _candidates(baskets: Baskets, tree: ItemTree, k: int, m: int, *, may_leave_out: bool) -> Iterator[ItemsetRelease]:
    as_they_are = np.zeros(tree.labels.shape[1], dtype=np.int64)
    if may_leave_out:
        yield _released(baskets, tree, as_they_are, k, m)
    if len(tree.labels) > 1:
        if may_leave_out:
            yield _released(baskets, tree, find_cut(baskets, tree, k, m, may_leave_out=True), k, m)
        general = _released(baskets, tree, find_cut(baskets, tree, k, m, may_leave_out=False), k, m)
        if not may_leave_out and not general.stays.all():
            raise InfeasibleError(
                f"fewer than {k} records or people have any items, so no hierarchy is coarse enough",
                advice="allow `suppress: true`, or use a smaller k",
            )
        yield general


def _released(baskets: Baskets, tree: ItemTree, levels: Integers, k: int, m: int) -> ItemsetRelease:
    recoded, where = tree.recode(baskets, levels)
    stays = common_cells(recoded, k, m)[where]
    losses = tree.at(levels)[1][baskets.items]
    return ItemsetRelease(levels, stays, float(np.where(stays, losses, 1.0).mean()) if len(baskets) else 0.0)
