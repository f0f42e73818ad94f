"""Sets of items as cells, and the combinations of items that occur in them, with how many people have each.

Combinations are found level by level (Agrawal and Srikant, 1994): those of s items are those of s − 1 that are common
enough, each with a later item of the same record. What a rare combination would grow into is rarer still, and the rare
one is reported itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.errors import DataError
from shoal.kernels.arrays import Floats, Integers, Mask

MOST = 40_000_000
"""Occurrences of combinations of one size that are held at once: about 1.5 GB."""


@dataclass(frozen=True)
class Baskets:
    """One entry for each cell, that is, each item of each record: sorted by record, then item; none twice."""

    records: Integers
    items: Integers
    weights: Floats
    """What is lost if the cell is left out."""
    people: Integers
    """The person of each record."""

    def __len__(self) -> int:
        return len(self.items)

    def keep(self, cells: Mask) -> Baskets:
        return Baskets(self.records[cells], self.items[cells], self.weights[cells], self.people)

    def recoded(self, labels: Integers, worth: Floats) -> tuple[Baskets, Integers]:
        """With each item under its label, and for each cell here its place there.

        Items of a record that get the same label become one cell, which is worth what they are together.
        """
        span = int(labels.max(initial=0)) + 1
        keys, where = np.unique(self.records * span + labels[self.items], return_inverse=True)
        weights = np.bincount(where, weights=worth[self.items], minlength=len(keys)).astype(np.float64)
        return Baskets(keys // span, keys % span, weights, self.people), where


@dataclass(frozen=True)
class ItemCombinations:
    """All occurrences of combinations of one size: ``cells[i]`` are the cells of occurrence i, in their order."""

    cells: NDArray[np.int32]
    which: Integers
    """The number of the combination that occurs."""
    support: Integers
    """How many people have each combination."""

    def rare(self, k: int) -> NDArray[np.int32]:
        """The cells of each occurrence of a combination that fewer than k people have."""
        return self.cells[self.support[self.which] < k]


def combinations(baskets: Baskets, k: int, m: int) -> Iterator[ItemCombinations]:
    """Those of 1, 2, … m items. A combination with a rare beginning is left out: the beginning was there before."""
    if not m:
        return
    cells = np.arange(len(baskets), dtype=np.int32)[:, np.newaxis]
    found = _counted(baskets, cells, baskets.items)
    yield found
    ends = np.searchsorted(baskets.records, baskets.records, side="right")
    for _ in range(1, m):
        common = found.support[found.which] >= k
        cells, codes = found.cells[common], found.which[common]
        last = cells[:, -1].astype(np.int64)
        further = ends[last] - last - 1
        _refuse_too_many(int(further.sum()))
        origin = np.repeat(np.arange(len(cells)), further)
        step = np.arange(len(origin)) - np.repeat(np.cumsum(further) - further, further)
        added = last[origin] + 1 + step
        cells = np.column_stack((cells[origin], added.astype(np.int32)))
        found = _counted(baskets, cells, codes[origin] * (baskets.items.max(initial=0) + 1) + baskets.items[added])
        yield found


def _counted(baskets: Baskets, cells: NDArray[np.int32], codes: Integers) -> ItemCombinations:
    _, which, support = np.unique(codes, return_inverse=True, return_counts=True)
    number = len(baskets.people)
    if int(baskets.people.max(initial=-1)) + 1 < number and len(cells):
        who = baskets.people[baskets.records[cells[:, 0]]]
        support = np.bincount(np.unique(which * number + who) // number)
    return ItemCombinations(cells, which, support)


def _refuse_too_many(occurrences: int) -> None:
    if occurrences > MOST:
        raise DataError(
            f"{occurrences} combinations of items would have to be looked at, {MOST} is the most",
            advice="use a smaller m, generalise the items first, or suppress the records with the most items",
        )
