"""What a locally recoded table looks like, judged anew by its released cells alone.

Classes that are released with equal cells are one class for whoever sees the table, and models that look at the whole
table have not been asked yet. So the finished table is grouped again by what is released, all models judge it, and what
fails is suppressed. So is a record of which nothing is left, unless that is so for all of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.arrays import Integers, Mask
from shoal.privacy import kept_by
from shoal.solve.local_recoding.labelled_classes import is_blank
from shoal.solve.local_recoding.lattice_sweep import node_costs
from shoal.solve.problem import Problem
from shoal.solve.truthful_labels import truthful

Levels = NDArray[np.int8]


@dataclass(frozen=True)
class LocalRelease:
    cells: Levels
    """Per combination and attribute, the level that is released."""
    withheld: Mask
    suppressed: int
    loss: float


def judged(problem: Problem, cells: Levels, left_out: Mask) -> LocalRelease:
    """The table with these cells, without the combinations left out and without the classes that fail."""
    cells = truthful(problem, cells, ~left_out)
    withheld = left_out.copy()
    shown = np.flatnonzero(~left_out)
    if len(shown):
        values = _released_values(problem, cells, shown)
        first, group = _grouped(values)
        number = len(first)
        member = np.full(problem.counts.size, number, dtype=np.int64)
        member[shown] = group
        labels = np.vstack((values[first], np.full((1, values.shape[1]), -1)))
        classes = problem.classes(member, number + 1, labels)
        kept = (classes.records > 0) & (np.arange(number + 1) < number)
        kept[kept] = kept_by(problem.models, classes.only(kept))
        withheld[shown] = ~kept[group]
    blank = is_blank(problem, cells) & ~withheld
    if not blank[~withheld].all():
        withheld |= blank
    suppressed = int(problem.counts.records[withheld].sum())
    return LocalRelease(cells, withheld, suppressed, problem.loss(cells, withheld))


def top_node(problem: Problem) -> Levels:
    """Everyone on the highest levels."""
    highest = np.array([ladder.highest for ladder in problem.ladders], dtype=np.int8)
    return np.tile(highest, (problem.counts.size, 1))


def coarser(problem: Problem, cells: Levels) -> Iterator[Levels]:
    """The cells as they are, then raised to higher and higher nodes, cheapest step first, up to the top for all."""
    yield cells
    costs = node_costs(problem)
    node = [0] * len(costs)
    while any(step < len(cost) - 1 for step, cost in zip(node, costs, strict=True)):
        _, place = min(
            (cost[step + 1] - cost[step], place)
            for place, (step, cost) in enumerate(zip(node, costs, strict=True))
            if step < len(cost) - 1
        )
        node[place] += 1
        floor = [ladder.lowest + step for ladder, step in zip(problem.ladders, node, strict=True)]
        yield np.maximum(cells, np.array(floor, dtype=np.int8))


def _released_values(problem: Problem, cells: Levels, shown: Integers) -> Integers:
    """Numbers for the released values: equal numbers, equal values."""
    values = np.zeros((len(shown), len(problem.ladders)), dtype=np.int64)
    for place, ladder in enumerate(problem.ladders):
        codes, levels = problem.counts.codes[shown, place], cells[shown, place]
        before = 0
        for level, groups in enumerate(ladder.groups):
            here = levels == level
            values[here, place] = before + groups[codes[here]]
            before += ladder.size(level)
    return values


def _grouped(values: Integers) -> tuple[Integers, Integers]:
    """Equal rows: the first of each kind, and the kind of each row."""
    key = np.zeros(len(values), dtype=np.int64)
    reach = 1
    for column in values.T:
        size = int(column.max()) + 1
        if reach * size >= 1 << 62:
            key = np.unique(key, return_inverse=True)[1]
            reach = len(values)
        key = key * size + column
        reach *= size
    _, first, group = np.unique(key, return_index=True, return_inverse=True)
    return first, group
