"""Which items to generalise how far: a cut through their hierarchy, the same for all records.

After Terrovitis, Mamoulis and Kalnis (2008): combinations of one item are made common enough first, then those of two,
up to m. Each round looks at the groups of the hierarchy above the items of rare combinations. To generalise to such a
group costs the loss of all items under it, wherever they occur; it gains the rare combinations that then fall together
and are common enough (by the sum of their people, which is the most that can be). Taken is

- if items may be left out: the group that saves most, if any does: what leaving out would lose by those combinations,
  less its cost;
- if not: the group that gains most for its cost, until no combination is rare;

and with it others that are nearly as good and have no items in common with it.

Groups only grow, so what was made common stays common.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from shoal.kernels.arrays import Floats, Integers, Mask
from shoal.techniques.generalisation.itemsets.baskets import Baskets, ItemCombinations, combinations
from shoal.techniques.generalisation.itemsets.item_suppression import common_cells, hitting

_LITTLE = 1e-9
"""Instead of no gain or no cost, so that the one can be divided by the other."""
_NEARLY = 0.5
"""Groups without common items are taken in the same round if they are worth this share of the best one."""


@dataclass(frozen=True)
class ItemTree:
    """``labels[l, i]`` is the number of item i's label on level l, ``losses[l, i]`` what is lost by it, 0 … 1."""

    labels: Integers
    losses: Floats

    def at(self, levels: Integers) -> tuple[Integers, Floats]:
        """The label of each item, and its loss, where each is on a level of its own."""
        items = np.arange(len(levels))
        return self.labels[levels, items], self.losses[levels, items]

    def recode(self, baskets: Baskets, levels: Integers) -> tuple[Baskets, Integers]:
        labels, losses = self.at(levels)
        return baskets.recoded(labels, 1.0 - losses)


def find_cut(baskets: Baskets, tree: ItemTree, k: int, m: int, *, may_leave_out: bool) -> Integers:
    """The level of each item."""
    levels = np.zeros(tree.labels.shape[1], dtype=np.int64)
    times = np.bincount(baskets.items, minlength=len(levels))
    for size in range(1, m + 1):
        while True:
            recoded, _ = tree.recode(baskets, levels)
            # Smaller combinations that are still rare will be left out, and those they are in with them.
            recoded = recoded.keep(common_cells(recoded, k, size - 1))
            *_, found = combinations(recoded, k, size)
            groups = _best_groups(_Rare.of(recoded, found, k), tree, levels, times, may_leave_out=may_leave_out)
            if not groups:
                break
            for level, under in groups:
                levels[under] = np.maximum(levels[under], level)
    return levels


@dataclass(frozen=True)
class _Rare:
    """The distinct combinations of one size, by the labels in use."""

    labels: Integers
    """One row for each combination."""
    support: Integers
    k: int
    rate: float
    """What leaving out loses for one occurrence of a rare combination, on average."""

    @classmethod
    def of(cls, baskets: Baskets, found: ItemCombinations, k: int) -> _Rare:
        first = np.unique(found.which, return_index=True)[1]
        rare = found.rare(k)
        spared = np.zeros(len(baskets))
        lost = baskets.weights[hitting(rare, baskets, spared)].sum() if len(rare) else 0.0
        return cls(baskets.items[found.cells[first]], found.support, k, float(lost) / max(len(rare), 1))

    @property
    def involved(self) -> Integers:
        return np.unique(self.labels[self.support < self.k])

    def gained(self, merged: Mask) -> int:
        """People of rare combinations that become common if all these labels become one."""
        inside = merged[self.labels]
        touched = inside.any(axis=1)
        support = self.support[touched]
        rows = np.sort(np.where(inside[touched], len(merged), self.labels[touched]), axis=1)
        # The new label may be there several times over; once is enough.
        rows[:, :-1][rows[:, 1:] == rows[:, :-1]] = -1
        which = _numbered(np.sort(rows, axis=1) + 1)
        together = np.bincount(which, weights=support)[which]
        return int(support[(support < self.k) & (together >= self.k)].sum())


def _best_groups(
    rare: _Rare, tree: ItemTree, levels: Integers, times: Integers, *, may_leave_out: bool
) -> list[tuple[int, Mask]]:
    """Levels, and which items to raise to each; none where nothing is rare, or nothing is worth it."""
    now, losses = tree.at(levels)
    valued = []
    for level, under in _groups(tree, levels, np.isin(now, rare.involved)):
        merged = np.zeros(tree.labels.max() + 1, dtype=np.bool_)
        merged[now[under]] = True
        gain = rare.gained(merged)
        cost = float((times[under] * np.maximum(tree.losses[level, under] - losses[under], 0.0)).sum())
        value = rare.rate * gain - cost if may_leave_out else max(gain, _LITTLE) / max(cost, _LITTLE)
        valued.append((value, level, under))
    best = max((value for value, _, _ in valued), default=0.0)
    taken, chosen = np.zeros(len(now), dtype=np.bool_), []
    for value, level, under in sorted(valued, key=lambda one: -one[0]):
        if value > 0.0 and value >= _NEARLY * best and not taken[under].any():
            taken |= under
            chosen.append((level, under))
    return chosen


def _groups(tree: ItemTree, levels: Integers, involved: Mask) -> Iterator[tuple[int, Mask]]:
    """The groups above the involved items, lowest first, with all the items under each."""
    now, _ = tree.at(levels)
    for level in range(1, len(tree.labels)):
        below = involved & (levels < level)
        for label in np.unique(tree.labels[level, below]):
            under = tree.labels[level] == label
            if (now[under] != label).any():
                yield level, under


def _numbered(rows: Integers) -> Integers:
    """Equal rows of whole numbers ≥ 0 get equal numbers."""
    base = int(rows.max(initial=0)) + 1
    which = np.zeros(len(rows), dtype=np.int64)
    for column in rows.T:
        which = np.unique(which * base + column, return_inverse=True)[1]
    return which
