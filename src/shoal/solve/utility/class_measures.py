"""Measures of whole classes. Merging classes never makes them better, so a node bounds every node above it.

- *average class size*: records ÷ (kept classes, and one more if any record is suppressed).
- *discernibility* (Bayardo and Agrawal 2005): Σ |class|², suppressed classes counted like the others.
- *ambiguity*: the mean number of original combinations that a released record could stand for, ∏ leaves per cell; a
  suppressed record could be any.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import numpy as np

from shoal.kernels.arrays import Integers, Mask
from shoal.solve.problem import Problem
from shoal.solve.rollup import ClassTable
from shoal.solve.utility.base import Bounds, Utility, box_above


class _Merging(Utility):
    bounds_above: ClassVar[bool] = True

    def start(self) -> Bounds:
        return np.zeros(self.shape)

    @property
    def all_suppressed(self) -> float:
        return float(self.records)

    @abstractmethod
    def at_least(self, table: ClassTable) -> float:
        """What this node and every node above it costs at least."""

    def tighten(self, bounds: Bounds, table: ClassTable, lost: Mask, trimmed: Integers | None) -> None:
        part = bounds[box_above(self.lowest, table.node)]
        np.maximum(part, self.at_least(table), out=part)


class AverageClassSize(_Merging):
    key: ClassVar[str] = "average_class_size"

    def value(self, table: ClassTable, kept: Mask) -> float:
        there = table.records > 0
        classes = int((kept & there).sum()) + bool((~kept & there).any())
        return self.records / max(1, classes)

    def at_least(self, table: ClassTable) -> float:
        return self.records / (int((table.records > 0).sum()) + 1)


class Discernibility(_Merging):
    key: ClassVar[str] = "discernibility"

    def value(self, table: ClassTable, kept: Mask) -> float:
        return self.at_least(table)

    def at_least(self, table: ClassTable) -> float:
        sizes = table.records.astype(np.float64)
        return float((sizes * sizes).sum())


class Ambiguity(_Merging):
    key: ClassVar[str] = "ambiguity"

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self._leaves = []
        self._all = 1.0
        for ladder in problem.ladders:
            levels = []
            for level in range(ladder.highest + 1):
                leaves = np.zeros(ladder.size(level))
                leaves[ladder.groups[level]] = ladder.losses[level] * (ladder.leaves - 1) + 1
                levels.append(leaves)
            self._leaves.append(levels)
            self._all *= ladder.leaves

    def value(self, table: ClassTable, kept: Mask) -> float:
        possible = np.where(kept, self._possible(table), self._all)
        return float((possible * table.records).sum()) / self.records

    def at_least(self, table: ClassTable) -> float:
        return float((self._possible(table) * table.records).sum()) / self.records

    def _possible(self, table: ClassTable) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        possible = np.ones(table.number)
        for levels, level, codes in zip(self._leaves, table.node, table.codes, strict=True):
            possible = possible * levels[level][codes]
        return possible
