"""Non-uniform entropy (De Waal and Willenborg 1999; Gionis and Tassa 2009): how many bits a released cell hides.

Σ over attributes and records of −log₂(records with the original value ÷ records with the released value). A value that
is generalised into a group it dominates hides little. Suppression is ignored; see ``entropy_with_suppressed``.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from shoal.kernels.arrays import Floats, Integers, Mask
from shoal.solve.ladder import Ladder
from shoal.solve.problem import Problem
from shoal.solve.rollup import ClassTable
from shoal.solve.utility.base import Bounds, Utility


class Entropy(Utility):
    key: ClassVar[str] = "entropy"

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self._bits = [
            np.array([self._of_level(place, ladder, level) for level in range(ladder.highest + 1)])
            for place, ladder in enumerate(problem.ladders)
        ]

    def start(self) -> Bounds:
        total = np.zeros(())
        for bits, low in zip(self._bits, self.lowest, strict=True):
            total = np.add.outer(total, bits[low:])
        return total

    def at_best_of(self, nodes: Integers) -> Floats:
        hidden = np.zeros(len(nodes))
        for bits, levels in zip(self._bits, nodes.T, strict=True):
            hidden += bits[levels]
        return hidden

    @property
    def all_suppressed(self) -> float:
        return self.at_best(tuple(ladder.highest for ladder in self.problem.ladders))

    def value(self, table: ClassTable, kept: Mask) -> float:
        return self.at_best(table.node)

    def _of_level(self, place: int, ladder: Ladder, level: int) -> float:
        counts = self.problem.counts
        original = np.bincount(counts.codes[:, place], weights=counts.records, minlength=len(ladder.groups[0]))
        groups = ladder.groups[level]
        generalised = np.bincount(groups, weights=original)[groups]
        there = original > 0
        hidden = original[there] * np.log2(generalised[there] / original[there])
        return float(self.problem.weights[place] * len(self.problem.ladders) * hidden.sum())
