"""A quasi-identifier as the solver sees it: for each level, which distinct values fall together and what that loses."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.errors import InfeasibleError
from shoal.hierarchy import BoundHierarchy


@dataclass(frozen=True)
class Ladder:
    """``groups[level][code]`` is the group of a distinct value, ``losses[level][code]`` the loss of its cell."""

    attribute: str
    groups: tuple[NDArray[np.int64], ...]
    losses: tuple[NDArray[np.float64], ...]
    lowest: int
    weight: float = 1.0

    @property
    def highest(self) -> int:
        return len(self.groups) - 1

    def size(self, level: int) -> int:
        return int(self.groups[level].max(initial=-1)) + 1


def build_ladder(
    bound: BoundHierarchy, values: pl.Series, *, bounds: tuple[int, int] | None = None, weight: float = 1.0
) -> Ladder:
    low, high = bounds or (0, bound.height)
    if high > bound.height:
        raise InfeasibleError(f"solve.levels: '{values.name}' has levels 0 to {bound.height}, there is no {high}")
    levels = range(high + 1)
    groups = tuple(_group(bound.generalise(values, level)) for level in levels)
    losses = tuple(bound.loss(values, level) for level in levels)
    return Ladder(values.name, groups, losses, low, weight)


def _group(labels: pl.Series) -> NDArray[np.int64]:
    ranks = labels.rank("dense").cast(pl.Int64)
    return (ranks.fill_null((ranks.max() or 0) + 1) - 1).to_numpy()  # type: ignore[operator]  # Int64 ranks, so an int
