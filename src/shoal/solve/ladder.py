"""A quasi-identifier as the solver sees it: for each level, which distinct values fall together and what that loses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from shoal.errors import InfeasibleError
from shoal.hierarchy import BoundHierarchy
from shoal.hierarchy.base import TOP
from shoal.hierarchy.value_order import group_of
from shoal.kernels.arrays import Floats, Integers, Mask


@dataclass(frozen=True)
class Ladder:
    """``groups[level][code]`` is the group of a distinct value, ``losses[level][code]`` the loss of its cell.

    Levels nest: values in one group are in one group on every higher level. ``lowest`` and the number of levels are
    what the policy allows; ``height`` is what the hierarchy has.
    """

    attribute: str
    groups: tuple[Integers, ...]
    losses: tuple[Floats, ...]
    lowest: int
    height: int
    leaves: int
    """How many values the attribute can have: those the hierarchy knows, else those in the data."""
    weight: float = 1.0
    starred: tuple[Mask, ...] = ()
    """Per level, the distinct values that are ``*`` there already; empty where none is below the top."""
    pooled: Mask | None = None
    """The distinct values whose label on level 1 says that they are none of those that keep their name."""

    @property
    def highest(self) -> int:
        return len(self.groups) - 1

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """How many groups there are on each level."""
        return tuple(int(groups.max(initial=-1)) + 1 for groups in self.groups)

    def size(self, level: int) -> int:
        return self.sizes[level]

    def share(self, level: int) -> Floats:
        """The share of the attribute's values that each distinct value's cell stands for; 1 ÷ leaves as it is."""
        return (self.losses[level] * (self.leaves - 1) + 1) / self.leaves


def build_ladder(
    bound: BoundHierarchy, values: pl.Series, *, bounds: tuple[int, int] | None = None, weight: float = 1.0
) -> Ladder:
    low, high = bounds or (0, bound.height)
    if high > bound.height:
        raise InfeasibleError(f"solve.levels: '{values.name}' has levels 0 to {bound.height}, there is no {high}")
    levels = range(high + 1)
    labels = [bound.generalise(values, level) for level in levels]
    groups = tuple(group_of(each) for each in labels)
    losses = tuple(bound.loss(values, level) for level in levels)
    leaves = bound.leaf_count or max(1, len(values))
    pooled = bound.pooled(values)
    return Ladder(
        values.name, groups, losses, low, bound.height, leaves, weight, _starred(labels, bound.height), pooled
    )


def _starred(labels: Sequence[pl.Series], height: int) -> tuple[Mask, ...]:
    """On level 0 a star is a value like others."""
    none = np.zeros(len(labels[0]), dtype=bool)
    below = [(each.cast(pl.String) == TOP).fill_null(value=False).to_numpy() for each in labels[1:height]]
    return (none, *below, none)[: len(labels)] if any(each.any() for each in below) else ()
