"""Information loss of a clustering by Byun, Kamra, Bertino and Li (2007), the measure of the paper's table 4.1.

    IL(cluster) = size · ( Σ numeric  (max − min) ÷ domain range  +  Σ categorical  height of the lowest common
                           ancestor ÷ height of the hierarchy )

and IL(clustering) is the sum. A record loses 0 when its cluster is uniform and 1 per attribute at most, so IL ÷ records
÷ attributes lies between 0 and 1. The paper's figures are bare sums, which grow with the table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from shoal.errors import InputError
from shoal.kernels.arrays import Floats, Integers
from shoal.solve.cells.table import Levels
from shoal.solve.ladder import Ladder
from shoal.solve.problem import Problem

Numeric = Mapping[str, Floats]
"""For each numeric attribute, the number that each code of it stands for."""


def information_loss(problem: Problem, member: Integers, *, numeric: Numeric | None = None) -> float:
    """Of the clustering that puts combination i into cluster ``member[i]``; below 0 stands for no cluster."""
    clusters = Shapes(problem, numeric).of(member)
    return float(clusters.losses.sum())


def common_levels(ladder: Ladder, codes: Integers, member: Integers, number: int) -> Levels:
    """Per cluster, the lowest level on which all its values are one; one above the highest where there is none."""
    found = np.full(number, ladder.highest + 1, dtype=np.int8)
    for level in range(ladder.highest, ladder.lowest - 1, -1):
        groups = ladder.groups[level][codes]
        one = np.zeros(number, dtype=np.int64)
        one[member] = groups
        differs = np.zeros(number, dtype=bool)
        differs[member[groups != one[member]]] = True
        found[~differs] = level
    return found


@dataclass
class Clustered:
    """Clusters as they grow: their records, and per attribute how wide each one is (0 to 1)."""

    size: Floats
    widths: Floats
    low: Floats
    high: Floats
    head: Integers
    """One combination of each cluster."""

    @property
    def losses(self) -> Floats:
        lost: Floats = self.size * self.widths.sum(axis=1)
        return lost


class Shapes:
    """How wide sets of combinations are. Numbers by their range, the rest by their lowest common ancestor."""

    def __init__(self, problem: Problem, numeric: Numeric | None = None) -> None:
        self.problem = problem
        self.records = problem.counts.records
        self.codes = problem.counts.codes.astype(np.int64)
        self.values: list[Floats | None] = [
            _checked(ladder, (numeric or {}).get(ladder.attribute)) for ladder in problem.ladders
        ]
        unknown = set(numeric or {}) - {ladder.attribute for ladder in problem.ladders}
        if unknown:
            raise InputError(f"numeric: no quasi-identifier is called {', '.join(sorted(unknown))}")
        self.ranges = [1.0 if values is None else float(np.ptp(values)) or 1.0 for values in self.values]

    def of(self, member: Integers) -> Clustered:
        """The clusters of a partition; combinations with a negative number are left out."""
        rows = np.flatnonzero(member >= 0)
        member = member[rows]
        number = int(member.max(initial=-1)) + 1
        shape = (number, len(self.values))
        low, high, widths = (np.full(shape, start, order="F") for start in (np.inf, -np.inf, 0.0))
        for place, (ladder, values) in enumerate(zip(self.problem.ladders, self.values, strict=True)):
            codes = self.codes[rows, place]
            if values is None:
                levels = common_levels(ladder, codes, member, number)
                widths[:, place] = self._width_of(ladder, levels)
            else:
                np.minimum.at(low[:, place], member, values[codes])
                np.maximum.at(high[:, place], member, values[codes])
                widths[:, place] = (high[:, place] - low[:, place]) / self.ranges[place]
        head = np.zeros(number, dtype=np.int64)
        head[member] = rows
        size = np.bincount(member, weights=self.records[rows], minlength=number).astype(np.float64)
        return Clustered(size, widths, low, high, head)

    def with_row(self, clusters: Clustered, row: int) -> Floats:
        """The widths of every cluster if the row joined it."""
        widths = clusters.widths.copy(order="F")
        for place, (ladder, values) in enumerate(zip(self.problem.ladders, self.values, strict=True)):
            code = self.codes[row, place]
            if values is None:
                heads = self.codes[clusters.head, place]
                widths[:, place] = np.maximum(widths[:, place], self._meeting(ladder, code)[heads])
            else:
                low = np.minimum(clusters.low[:, place], values[code])
                high = np.maximum(clusters.high[:, place], values[code])
                widths[:, place] = (high - low) / self.ranges[place]
        return widths

    def add(self, clusters: Clustered, row: int, cluster: int, widths: Floats) -> None:
        clusters.size[cluster] += self.records[row]
        clusters.widths[cluster] = widths
        for place, values in enumerate(self.values):
            if values is not None:
                value = values[self.codes[row, place]]
                clusters.low[cluster, place] = min(clusters.low[cluster, place], value)
                clusters.high[cluster, place] = max(clusters.high[cluster, place], value)

    def _meeting(self, ladder: Ladder, code: int) -> Floats:
        """How wide the lowest common ancestor of a value and each value is; levels nest."""
        found = np.full(len(ladder.groups[0]), ladder.highest + 1, dtype=np.int8)
        for level in range(ladder.highest, ladder.lowest - 1, -1):
            groups = ladder.groups[level]
            found[groups == groups[code]] = level
        return self._width_of(ladder, found)

    @staticmethod
    def _width_of(ladder: Ladder, levels: Levels) -> Floats:
        return np.minimum(levels / max(1, ladder.height), 1.0)


def _checked(ladder: Ladder, values: Sequence[float] | Floats | None) -> Floats | None:
    if values is None:
        return None
    numbers = np.asarray(values, dtype=np.float64)
    if numbers.shape != ladder.groups[0].shape or not np.isfinite(numbers).all():
        raise InputError(f"numeric: '{ladder.attribute}' needs one number for each of its values, none missing")
    return numbers
