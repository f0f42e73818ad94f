"""The classes that a solution would release, without writing anything."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.hierarchy import BoundHierarchy
from shoal.hierarchy.value_order import group_of
from shoal.privacy import Classes
from shoal.schema import Counts
from shoal.solve import Problem, Solution

Integers = NDArray[np.int64]


class ReleasedClasses:
    """The classes of a solution as the written table would show them: by their labels, whatever level they are on."""

    def __init__(self, problem: Problem, hierarchies: Mapping[str, BoundHierarchy]) -> None:
        self.problem = problem
        self._labels = [_numbered_labels(hierarchies[name], problem.counts, name) for name in problem.counts.attributes]

    def classes(self, solution: Solution) -> Classes:
        """Their records and people. A record with nothing but stars is in none, unless all are like that."""
        counts = self.problem.counts
        cells = self._cells(solution)
        shown = (counts.records > 0) & ~solution.withheld
        stars = np.array([labels[-1, 0] for labels in self._labels])
        telling = shown & (cells != stars).any(axis=1)
        rows = np.flatnonzero(telling if telling.any() else shown)
        if not len(rows):
            return Classes(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))
        kinds, group = np.unique(cells[rows], axis=0, return_inverse=True)
        number = len(kinds)
        member = np.full(counts.size, number, dtype=np.int64)
        member[rows] = group.reshape(-1)
        classes = self.problem.classes(member, number + 1)
        pairs = None
        if len(counts.shared):
            everywhere = np.column_stack((counts.shared[:, 0], member[counts.shared[:, 1]]))
            pairs = np.unique(everywhere[everywhere[:, 1] < number], axis=0)
        return Classes(classes.records[:number], classes.people[:number], pairs=pairs)

    def _cells(self, solution: Solution) -> Integers:
        counts = self.problem.counts
        columns = []
        for place, (name, labels) in enumerate(zip(counts.attributes, self._labels, strict=True)):
            levels = solution.levels[name] if solution.cells is None else solution.cells[:, place]
            columns.append(labels[levels, counts.codes[:, place]])
        return np.column_stack(columns)


def _numbered_labels(hierarchy: BoundHierarchy, counts: Counts, name: str) -> Integers:
    """By level and code, a number for the label: equal numbers, equal labels, also across levels."""
    values = counts.values_of(name)
    levels = range(hierarchy.height + 1)
    labels = pl.concat([hierarchy.generalise(values, level).cast(pl.String) for level in levels])
    return group_of(labels).reshape(len(levels), len(values))
