"""Combinations that found no company join the class that grows dearer by the least.

When combination i with n records joins a class of s records that lose c each, all of them lose c′ on the levels that
they then have in common: this costs (s + n)·c′ − s·c. Suppressing i costs n. Candidates are the classes near i in a
hierarchical order of the table, so that the work stays linear.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.arrays import Integers, Mask
from shoal.solve.local_recoding.admissible_classes import ClassAdmission
from shoal.solve.local_recoding.labelled_classes import LabelledClasses, Levels, costs_of, label
from shoal.solve.problem import Problem

Matrix = NDArray[np.float32]

CHUNK = 512
CANDIDATES = 4096


class Joiner:
    def __init__(self, problem: Problem, judge: ClassAdmission, member: Integers, number: int) -> None:
        self.problem = problem
        self.judge = judge
        self.member = member
        self.number = number
        self.classes: LabelledClasses = label(problem, member, number)

    def run(self, allowed: int) -> None:
        """Places all but ``allowed`` records, as far as the models let it, and those too for whom it is worth it."""
        free = np.flatnonzero((self.member < 0) & (self.problem.counts.records > 0))
        if not len(free) or not self.number:
            return
        free, near = self._by_nearness(free)
        records = self.problem.counts.records[free]
        waiting, surplus = int(records.sum()), int(records.sum()) - allowed
        for first in range(0, len(free), CHUNK):
            part = slice(first, first + CHUNK)
            here = int(records[part].sum())
            candidates = near.around(first, min(first + CHUNK, len(free)))
            placed = self._place(free[part], candidates, -(-max(0, surplus) * here // waiting))
            waiting, surplus = waiting - here, surplus - placed

    def _place(self, free: Integers, candidates: Integers, wanted: int) -> int:
        """Joins free combinations to candidates, cheapest first, one newcomer per class and round."""
        costs = self._growth(free, candidates)
        records = self.problem.counts.records[free]
        placed = 0
        while len(free):
            best = costs.argmin(axis=1)
            gain = records - costs[np.arange(len(free)), best]
            rows = _first_of_each(np.argsort(-gain, kind="stable"), best)
            forced = placed + np.cumsum(records[rows]) - records[rows] < wanted
            rows = rows[np.isfinite(gain[rows]) & ((gain[rows] > 0) | forced)]
            if not len(rows):
                break
            columns = best[rows]
            welcome = self._welcome(free[rows], candidates[columns])
            costs[rows[~welcome], columns[~welcome]] = np.inf
            rows, columns = rows[welcome], columns[welcome]
            self._join(free[rows], candidates[columns])
            placed += int(records[rows].sum())
            refused = ~np.isfinite(costs[:, columns])
            stay = np.ones(len(free), dtype=bool)
            stay[rows] = False
            costs[:, columns] = np.where(refused, np.inf, self._growth(free, candidates[columns]))
            free, records, costs = free[stay], records[stay], costs[stay]
        return placed

    def _growth(self, free: Integers, classes: Integers) -> Matrix:
        """What each class (a column) would cost more with each combination (a row); infinite where it can't be."""
        lost = np.zeros((len(free), len(classes)), dtype=np.float32)
        counts, first = self.problem.counts, self.classes.first[classes]
        for place, ladder in enumerate(self.problem.ladders):
            rows, columns = counts.codes[free, place], counts.codes[first, place]
            levels = self.classes.levels[classes, place]
            weight = self.problem.weights[place]
            lost += (weight * ladder.losses[ladder.lowest][rows]).astype(np.float32)[:, None]
            for level in range(ladder.lowest, ladder.highest):
                groups = np.where(levels > level, -1, ladder.groups[level][columns]).astype(np.int32)
                step = weight * (ladder.losses[level + 1] - ladder.losses[level])[rows]
                apart = ladder.groups[level][rows].astype(np.int32)[:, None] != groups
                lost += apart * step.astype(np.float32)[:, None]
            top = ladder.groups[ladder.highest]
            if top.any():
                lost[top[rows][:, None] != top[columns]] = np.inf
        size = self.classes.records[classes].astype(np.float32)
        lost *= size + counts.records[free].astype(np.float32)[:, None]
        lost -= size * self.classes.cost[classes].astype(np.float32)
        return lost

    def _welcome(self, free: Integers, classes: Integers) -> Mask:
        """Whether each class still holds with its newcomer."""
        if self.judge.by_size:
            return np.ones(len(free), dtype=bool)
        place = np.full(self.number + 1, -1, dtype=np.int64)
        place[classes] = np.arange(len(classes))
        group = place[self.member]
        old = np.flatnonzero(group >= 0)
        chosen = np.concatenate((old, free))
        return self.judge.holds(chosen, np.concatenate((group[old], np.arange(len(free)))), len(classes))

    def _join(self, free: Integers, classes: Integers) -> None:
        levels = np.maximum(self.classes.levels[classes], self._common(free, self.classes.first[classes]))
        self.member[free] = classes
        self.classes.levels[classes] = levels
        self.classes.records[classes] += self.problem.counts.records[free]
        self.classes.cost[classes] = costs_of(self.problem, free, levels)

    def _common(self, one: Integers, other: Integers) -> Levels:
        """Per pair of combinations and attribute, the lowest level they agree on."""
        levels = np.empty((len(one), len(self.problem.ladders)), dtype=np.int8)
        for place, ladder in enumerate(self.problem.ladders):
            left, right = self.problem.counts.codes[one, place], self.problem.counts.codes[other, place]
            levels[:, place] = ladder.lowest
            for groups in ladder.groups[ladder.lowest : ladder.highest]:
                levels[:, place] += groups[left] != groups[right]
        return levels

    def _by_nearness(self, free: Integers) -> tuple[Integers, _Near]:
        """The free combinations, and the classes, in one order in which those that share coarse groups are close."""
        everyone = np.concatenate((self.classes.first, free))
        keys = [everyone]
        for place, ladder in enumerate(self.problem.ladders):
            codes = self.problem.counts.codes[everyone, place]
            keys.extend(ladder.groups[level][codes] for level in range(ladder.lowest, ladder.highest))
        order = np.lexsort(keys)
        is_class = order < self.number
        return everyone[order[~is_class]], _Near(order[is_class], np.cumsum(is_class, dtype=np.int64)[~is_class])


class _Near:
    def __init__(self, classes: Integers, position: Integers) -> None:
        self.classes = classes
        self.position = position

    def around(self, first: int, last: int) -> Integers:
        """The classes about the middle of the free combinations from ``first`` to ``last``."""
        middle = int(self.position[(first + last) // 2])
        start = max(0, min(middle - CANDIDATES // 2, len(self.classes) - CANDIDATES))
        return self.classes[start : start + CANDIDATES]


def _first_of_each(order: Integers, kind: Integers) -> Integers:
    """The first of each kind in an order, in that order."""
    _, first = np.unique(kind[order], return_index=True)
    return order[np.sort(first)]
