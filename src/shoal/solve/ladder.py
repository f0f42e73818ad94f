"""A quasi-identifier as the solver sees it: for each level, which distinct values fall together and what that loses."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import polars as pl

from shoal.errors import InfeasibleError
from shoal.hierarchy import BoundHierarchy
from shoal.hierarchy.reading import group_of
from shoal.schema.arrays import Floats, Integers


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
    groups = tuple(group_of(bound.generalise(values, level)) for level in levels)
    losses = tuple(bound.loss(values, level) for level in levels)
    return Ladder(values.name, groups, losses, low, bound.height, bound.leaf_count or max(1, len(values)), weight)
