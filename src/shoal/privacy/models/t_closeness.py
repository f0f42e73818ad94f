"""t-closeness (ISO/IEC 20889, 10.2.3): in every class a sensitive attribute is spread almost as in the whole table.

l different values still tell much where one of them is rare in the table and frequent in the class. Here q, the shares
of the values in a class, may be at most t away from p, their shares in the whole table, suppressed records included:
that is how far an attacker's belief can move. The distance is the earth mover's, the least work that turns p into q,
for a distance of 0 to 1 between values (Li et al. 2007). In closed form:

- *equal*: all values are 1 apart. ½ Σ |qᵢ − pᵢ|, the total variation distance.
- *hierarchical*: values are level ÷ height apart where they first fall together in a hierarchy. The total variation
  distance of the shares on each level below the top, on average over these levels.
- *ordered*: neighbours are 1 ÷ (m − 1) apart. Σ |(q₁ − p₁) + … + (qᵢ − pᵢ)| ÷ (m − 1) over the m values in order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from shoal.errors import InputError
from shoal.kernels.arrays import Floats, Integers, Mask
from shoal.privacy.base import ROUNDING, ClosenessModel, Figures, MinimumClass
from shoal.privacy.classes import Classes, Histograms
from shoal.privacy.figures import Figure, Obstacle, no_obstacle
from shoal.privacy.retention_bounds import within_distance
from shoal.schema import Column

SIZES_TRIED = 1000
"""How many sizes are tried to find the smallest class that can be close enough."""


Number = TypeVar("Number", np.float64, np.int64)


class ClosenessDistance(StrEnum):
    EQUAL = "equal"
    HIERARCHICAL = "hierarchical"
    ORDERED = "ordered"


class TCloseness(ClosenessModel):
    """
    Monotone under generalisation: each distance is a norm of q − p, so a mixture is no farther away than its parts.

    >>> histograms = Histograms(np.array([2, 2]), np.array([0, 0]), np.array([0, 1]), np.array([3, 1]), 1)
    >>> TCloseness(attribute="ill", t=0.2, distance="equal").spread(np.array([[3, 1]]), histograms).tolist()
    [0.25]
    """

    key = "t_closeness"
    title = "t-closeness"
    clause = "ISO/IEC 20889, 10.2.3"
    example = "{attribute: diagnosis, t: 0.3, distance: equal}"
    listing_order = 80
    bound = "t"

    t: float = Field(ge=0, le=1, description="How far a class may be from the whole table; 0: not at all.")
    distance: ClosenessDistance = Field(
        description="How far values are from each other: equal, hierarchical or ordered."
    )

    def spread(self, block: Integers, histograms: Histograms) -> Figures:
        surplus = block / block.sum(axis=1, keepdims=True) - _shares(histograms.whole)
        if self.distance is ClosenessDistance.EQUAL:
            return _equal(surplus)
        if self.distance is ClosenessDistance.ORDERED:
            return _ordered(surplus[:, histograms.whole > 0])
        if not histograms.tree:
            raise InputError(
                f"t_closeness: '{self.attribute}' has no hierarchy for the hierarchical distance",
                advice="give the attribute a hierarchy, or choose the distance equal or ordered",
            )
        return _hierarchical(surplus, histograms.tree)

    def accepts(self, figures: Figures) -> Mask:
        return figures <= self.t + ROUNDING

    def retention_bounds(self, block: Integers, histograms: Histograms) -> Integers:
        """By the ordered distance: what lacks of the values up to each one, or of those above it, has to be moved."""
        blocks, shares, most = [block], [_shares(histograms.whole)], self.t + ROUNDING
        if self.distance is ClosenessDistance.ORDERED:
            occurs = histograms.whole > 0
            blocks, shares = [_both_sides(block[:, occurs])], [_both_sides(shares[0][occurs])]
            most *= max(1, shares[0].size // 2)
        if self.distance is ClosenessDistance.HIERARCHICAL:
            blocks += [_sums(block, groups) for groups in histograms.tree[:-1]]
            shares += [_sums(shares[0][None, :], groups)[0] for groups in histograms.tree[:-1]]
        return within_distance(block.sum(axis=1), blocks, shares, most)

    def minimum_class_in(self, spread: Mapping[str, Histograms]) -> MinimumClass:
        """By the hierarchical distance: the smallest class that can be close enough on all levels, each by itself."""
        histograms = spread[self.attribute]
        if self.distance is not ClosenessDistance.HIERARCHICAL or not histograms.tree or not histograms.whole.any():
            return super().minimum_class_in(spread)
        whole = _shares(histograms.whole)[None, :]
        levels = [whole[0], *(_sums(whole, groups)[0] for groups in histograms.tree[:-1])]
        return MinimumClass(
            records=next((size for size in range(1, SIZES_TRIED) if self._near(levels, size)), SIZES_TRIED)
        )

    def _near(self, levels: Sequence[Figures], size: int) -> bool:
        nearest = [_equal(_largest_remainders(known, size) / size - known) for known in levels]
        return bool(self.accepts(np.asarray(sum(nearest) / len(levels))))

    def minimum_class(self, whole: Mapping[str, Integers]) -> MinimumClass:
        """The smallest class that can be close enough, and how many values it needs; unknown without the hierarchy."""
        if self.distance is ClosenessDistance.HIERARCHICAL:
            return MinimumClass()
        counts = whole[self.attribute]
        known = _shares(counts[counts > 0])
        distinct = self._least_distinct(known)
        last = distinct + SIZES_TRIED
        records = next((size for size in range(distinct, last) if self._reachable(known, size)), last)
        return MinimumClass(records=records, distinct={self.attribute: distinct})

    def _reachable(self, known: Figures, size: int) -> bool:
        """Whether any class of that many records can be close enough: whether the closest one is."""
        if self.distance is ClosenessDistance.EQUAL:
            return bool(self.accepts(_equal(_largest_remainders(known, size) / size - known)))
        rounded = np.rint(np.cumsum(known) * size)
        return bool(self.accepts(_ordered(np.diff(rounded, prepend=0) / size - known)))

    def _least_distinct(self, known: Figures) -> int:
        """By the equal distance: it is at least the share of the values that are absent, which are the rarest at best.

        By the ordered one only whether a single value will do: a class of those is as near as one of one record.
        """
        if self.distance is ClosenessDistance.ORDERED:
            return 1 if self._reachable(known, 1) else 2
        absent = 1 - np.cumsum(np.sort(known)[::-1])
        return 1 + int((~self.accepts(absent)).sum())

    @classmethod
    def measured_by(cls) -> tuple[Figure, ...]:
        return (
            cls._figure("t", ClosenessDistance.EQUAL),
            cls._figure("t_ordered", ClosenessDistance.ORDERED, _no_order),
            cls._figure("t_hierarchical", ClosenessDistance.HIERARCHICAL, _no_hierarchy),
        )

    @classmethod
    def _figure(cls, name: str, distance: ClosenessDistance, obstacle: Obstacle | None = None) -> Figure:
        return Figure(
            name,
            f"t-closeness: t, {distance} distance",
            lambda attribute, bound, _k: cls(attribute=attribute, t=bound, distance=distance),
            obstacle=obstacle or no_obstacle,
        )

    def explain(self) -> str:
        return (
            f"Finding a person's group moves what one would guess of '{self.attribute}' from the whole table by at "
            f"most {self.t:g} ({self.distance} distance, 0 to 1)."
        )


def _shares(counts: Integers) -> Figures:
    return np.asarray(counts / counts.sum())


def _equal(surplus: Figures) -> Figures:
    return np.asarray(np.abs(surplus).sum(axis=-1) / 2)


def _ordered(surplus: Figures) -> Figures:
    steps = max(1, surplus.shape[-1] - 1)
    return np.asarray(np.abs(np.cumsum(surplus, axis=-1)).sum(axis=-1) / steps)


def _hierarchical(surplus: Figures, tree: tuple[Integers, ...]) -> Figures:
    """On the top level all values are one group, so only the levels below it tell classes apart."""
    distances = [_equal(surplus), *(_equal(_sums(surplus, groups)) for groups in tree[:-1])]
    return np.asarray(sum(distances) / len(tree))


def _both_sides(counts: NDArray[Number]) -> NDArray[Number]:
    """The values up to each but the last, and those above it."""
    up_to = np.cumsum(counts, axis=-1)
    return np.concatenate((up_to[..., :-1], up_to[..., -1:] - up_to[..., :-1]), axis=-1)


def _sums(surplus: NDArray[Number], groups: Integers) -> NDArray[Number]:
    """The surplus of each group of values."""
    order = np.argsort(groups, kind="stable")
    starts = np.flatnonzero(np.diff(groups[order], prepend=-1))
    return np.add.reduceat(surplus[:, order], starts, axis=1)


def _largest_remainders(known: Figures, size: int) -> Floats:
    """Whole numbers that add up to the size and have the least equal distance to the shares."""
    quotas = known * size
    counts = np.floor(quotas)
    missing = size - int(counts.sum())
    if missing > 0:
        counts[np.argsort(counts - quotas, kind="stable")[:missing]] += 1
    return counts


def _no_order(_classes: Classes, _attribute: str, column: Column | None) -> str | None:
    ordered = column is not None and (column.is_number or column.is_date)
    return None if ordered else "its values are neither numbers nor dates"


def _no_hierarchy(classes: Classes, attribute: str, _column: Column | None) -> str | None:
    known = bool(classes.histograms(attribute).tree)
    return None if known else "no policy gives it a hierarchy and a model that looks at it"
