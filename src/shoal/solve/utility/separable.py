"""Measures that look at one attribute at a time: a sum over cells per attribute, then one figure of these sums.

What a record loses in an attribute depends on the level of that attribute only, so the sums of all nodes are known at
once. A suppressed record costs at least as much as any kept one. That gives two bounds: what a node costs without any
suppression; and, once a node above is known to lose certain records, what it costs when these are suppressed.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.arrays import Floats, Integers, Mask
from shoal.solve.ladder import Ladder
from shoal.solve.problem import Problem
from shoal.solve.rollup import ClassTable
from shoal.solve.utility.base import Bounds, Utility, box


class Separable(Utility):
    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self._costs = [[self.cost(ladder, level) for level in range(ladder.highest + 1)] for ladder in problem.ladders]
        self._by_group = [
            [_per_group(ladder, level, costs) for level, costs in enumerate(levels)]
            for ladder, levels in zip(problem.ladders, self._costs, strict=True)
        ]
        self._gains: dict[tuple[int, int], Floats] = {}
        codes = problem.counts.codes
        self._values = [
            _counted(codes[:, place], problem.counts.records, len(ladder.groups[0]))
            for place, ladder in enumerate(problem.ladders)
        ]
        axes = range(len(self.shape))
        self._along = [[-1 if axis == place else 1 for axis in axes] for place in axes]
        self._sums = [np.stack(levels) @ records for levels, records in zip(self._costs, self._values, strict=True)]

    @abstractmethod
    def cost(self, ladder: Ladder, level: int) -> Floats:
        """What a record with each distinct value costs on a level, in [0, 1]; suppressed it costs 1."""

    @abstractmethod
    def combine(self, sums: Sequence[Floats]) -> Floats:
        """The figure from the sums of costs per attribute; the arrays broadcast against each other."""

    def start(self) -> Bounds:
        highest = tuple(ladder.highest for ladder in self.problem.ladders)
        return self._bounds(highest)

    def at_best_of(self, nodes: Integers) -> Floats:
        sums = [sums[levels] for sums, levels in zip(self._sums, nodes.T, strict=True)]
        return np.broadcast_to(self.combine(sums), len(nodes))

    def value(self, table: ClassTable, kept: Mask) -> float:
        records = np.where(kept, table.records, 0.0)
        suppressed = self.problem.records - float(records.sum())
        sums = [
            np.array(by_group @ costs[level] + suppressed)
            for by_group, costs, level in zip(self._in_groups(table, records), self._by_group, table.node, strict=True)
        ]
        return float(self.combine(sums))

    def _in_groups(self, table: ClassTable, counted: Floats) -> Iterator[Floats]:
        """For each attribute, what was counted in the classes, by the attribute's group.

        Sums go by group first: a dot product over all classes would wake BLAS's threads, which costs more than it
        saves.
        """
        total = counted.sum(keepdims=True)
        for ladder, level, codes in zip(self.problem.ladders, table.node, table.codes, strict=True):
            size = ladder.size(level)
            yield total if size == 1 else _counted(codes, counted, size)

    def tighten(self, bounds: Bounds, table: ClassTable, lost: Mask, trimmed: Integers | None) -> None:
        part = bounds[box(self.lowest, table.node)]
        gone = np.where(lost, table.records, 0) if trimmed is None else trimmed
        if gone.any():
            np.maximum(part, self._bounds(table.node, self._added(table, gone)), out=part)

    def _added(self, table: ClassTable, gone: Integers) -> list[Floats]:
        """Per attribute and level up to the node's, what lost records cost more at least than kept ones.

        Which records of a class they are may be open, so they are taken for those that cost most anyway. Where whole
        classes are lost that is known, but working it out finds hardly any more nodes to leave out.
        """
        by_group = self._in_groups(table, gone.astype(np.float64))
        return [self._gain(place, level) @ next(by_group) for place, level in enumerate(table.node)]

    def _gain(self, place: int, level: int) -> Floats:
        """For each level from the lowest to this one and each group on this one: 1 − the highest cost in the group."""
        if (place, level) not in self._gains:
            ladder = self.problem.ladders[place]
            gains = np.empty((level - ladder.lowest + 1, ladder.size(level)))
            for row, below in enumerate(range(ladder.lowest, level + 1)):
                highest = np.zeros(ladder.size(level))
                np.maximum.at(highest, ladder.groups[level], self._costs[place][below])
                gains[row] = 1 - highest
            self._gains[place, level] = gains
        return self._gains[place, level]

    def _bounds(self, highest: Sequence[int], added: Sequence[Floats] | None = None) -> Bounds:
        """Of all nodes up to one, with what is added to the costs of its attributes on each level."""
        sums = []
        for place, (costs, low, high) in enumerate(zip(self._sums, self.lowest, highest, strict=True)):
            along = costs[low : high + 1]
            if added is not None:
                along = along + added[place]
            sums.append(along.reshape(self._along[place]))
        return np.asarray(self.combine(sums), dtype=np.float64)


class WeightedMean(Separable):
    """The weighted mean of the cells' costs."""

    def combine(self, sums: Sequence[Floats]) -> Floats:
        total: Floats = np.zeros(())
        # From the last axis to the first, so that what is there already lies in one piece.
        for weight, lost in zip(self.problem.weights[::-1], sums[::-1], strict=True):
            total = total + lost * (weight / self.records)
        return total


def _counted(codes: NDArray[np.int32] | Integers, records: Integers | Floats, size: int) -> Floats:
    return np.asarray(np.bincount(codes, records, size), dtype=np.float64)


def _per_group(ladder: Ladder, level: int, costs: Floats) -> Floats:
    """The cost by group instead of by value: all values of a group cost the same."""
    found = np.zeros(ladder.size(level))
    found[ladder.groups[level]] = costs
    return found
