"""Ambiguity: the mean number of original combinations that a released record could stand for, ∏ leaves per cell.

A suppressed record could be any.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from shoal.kernels.arrays import Floats, Mask
from shoal.solve.problem import Problem
from shoal.solve.rollup import ClassTable
from shoal.solve.utility.merging import Merging


class Ambiguity(Merging):
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

    def _possible(self, table: ClassTable) -> Floats:
        possible = np.ones(table.number)
        for levels, level, codes in zip(self._leaves, table.node, table.codes, strict=True):
            possible = possible * levels[level][codes]
        return possible
