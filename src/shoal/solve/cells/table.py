"""The released table while a cell-by-cell solver works on it: a level per cell, and the classes that follow from it.

The one way to change it is `CellTable.move`, which asks the models about the whole table that would come out and takes
back every part of the move that breaks a class. So whatever a heuristic proposes, what stands in the table holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.arrays import Floats, Integers, Mask
from shoal.privacy import kept_by
from shoal.solve.ladder import Ladder
from shoal.solve.problem import Problem

Levels = NDArray[np.int8]
Pattern = tuple[int, ...]

SAME_PRICE = 1e-9
_NUMBERS = 1 << 62


def number_rows(columns: Sequence[Integers], rows: int) -> tuple[Integers, Integers]:
    """Equal rows get equal numbers, counted from 0; and for each number, a row that has it.

    >>> member, where = number_rows([np.array([7, 0, 7]), np.array([1, 1, 1])], 3)
    >>> member.tolist(), where.tolist()
    ([1, 0, 1], [1, 2])
    """
    key = np.zeros(rows, dtype=np.int64)
    span = 1
    for column in columns:
        size = int(column.max(initial=0)) + 1
        if span * size > _NUMBERS:
            key = np.unique(key, return_inverse=True)[1].astype(np.int64)
            span = int(key.max(initial=0)) + 1
        key = key * size + column
        span *= size
    distinct, member = np.unique(key, return_inverse=True)
    where = np.zeros(len(distinct), dtype=np.int64)
    where[member] = np.arange(rows)
    return member.astype(np.int64), where


def judge(problem: Problem, levels: Levels, present: Mask) -> tuple[Mask, Integers]:
    """Groups the released cells of the rows present: whether the class of each row holds, and the number of its class.

    Values of different levels are different values. Combinations of the population alone stay on their lowest level, so
    a class with changed cells is credited with fewer people of the population than look like it: the safe side.
    """
    real = problem.counts.records > 0
    rows = np.flatnonzero(present | ~real)
    cells = [
        numbers[levels[rows, place], problem.counts.codes[rows, place]]
        for place, numbers in enumerate(_cell_numbers(ladder) for ladder in problem.ladders)
    ]
    found, where = number_rows(cells, len(rows))
    number = len(where)
    member = np.full(problem.counts.size, number, dtype=np.int64)
    member[rows] = found
    shown = np.zeros((number + 1, len(cells)), dtype=np.int64)
    for place, column in enumerate(cells):
        shown[:number, place] = column[where]
    classes = problem.classes(member, number + 1, shown)
    filled = classes.records > 0
    filled[number] = False
    held = np.zeros(number + 1, dtype=bool)
    held[filled] = kept_by(problem.models, classes.only(filled))
    return held[member] & real, member


def blank_rows(problem: Problem, levels: Levels) -> Mask:
    """Rows that show nothing at all. Such a row is a suppressed record and belongs to no class."""
    tops = np.array([ladder.height for ladder in problem.ladders])
    blank: Mask = (levels == tops).all(axis=-1) & bool(len(tops) and (tops > 0).all())
    return blank


def _cell_numbers(ladder: Ladder) -> Integers:
    """By level and code, a number for the released value."""
    starts = np.cumsum([0, *(ladder.size(level) for level in range(ladder.highest))])
    return np.stack([groups + first for groups, first in zip(ladder.groups, starts, strict=True)])


class CellTable:
    """``levels`` per combination and attribute, and ``settled``: which combinations are in a class that holds.

    ``allowed[a]`` are the levels that a cell of attribute a may have, the first being the level of a cell left alone;
    ``prices[a]`` what a cell costs per record, by level and code. A combination without a class costs 1, as much as
    all attributes together.
    """

    def __init__(self, problem: Problem, allowed: Sequence[Sequence[int]], prices: Sequence[Floats]) -> None:
        self.problem = problem
        self.allowed = allowed
        self.prices = prices
        self.codes = [problem.counts.codes[:, place].astype(np.int64) for place in range(len(problem.ladders))]
        self.lowest: Pattern = tuple(levels[0] for levels in allowed)
        self.levels: Levels = np.tile(np.array(self.lowest, dtype=np.int8), (problem.counts.size, 1))
        self.real: Mask = problem.counts.records > 0
        self.settled, self.member = judge(problem, self.levels, self.real)
        self.risky: Mask = self.real & ~self.settled
        self.paid = np.where(self.settled, self.price(np.arange(problem.counts.size), self.lowest), 1.0)

    @cached_property
    def mass(self) -> Integers:
        """People per combination, those of several combinations counted in each: no class has more than the sum."""
        shared = np.bincount(self.problem.counts.shared[:, 1], minlength=self.problem.counts.size)
        return self.problem.counts.people + shared.astype(np.int64)

    @cached_property
    def least(self) -> int:
        """The people without whom no class can hold."""
        return max(1, self.problem.minimum_class.people)

    @property
    def unsettled(self) -> Integers:
        return np.flatnonzero(self.real & ~self.settled)

    @property
    def unsettled_records(self) -> int:
        return int(self.problem.counts.records[self.unsettled].sum())

    def blank(self, pattern: Pattern) -> bool:
        return bool(blank_rows(self.problem, np.array(pattern, dtype=np.int8)))

    def price(self, rows: Integers, pattern: Sequence[int] | Levels) -> Floats:
        """What each row costs per record on the levels of a pattern."""
        total = np.zeros(len(rows))
        for prices, codes, level in zip(self.prices, self.codes, pattern, strict=True):
            total += prices[level][codes[rows]]
        return total

    def prices_of(self, levels: Levels) -> Floats:
        """What each combination costs per record, each on levels of its own."""
        total = np.zeros(len(levels))
        for place, (prices, codes) in enumerate(zip(self.prices, self.codes, strict=True)):
            total += prices[levels[:, place], codes]
        return total

    def groups(self, rows: Integers, pattern: Sequence[int]) -> tuple[Integers, int]:
        """Which of the rows look alike on the levels of a pattern."""
        columns = [
            ladder.groups[level][codes[rows]]
            for ladder, codes, level in zip(self.problem.ladders, self.codes, pattern, strict=True)
            if ladder.size(level) > 1
        ]
        member, where = number_rows(columns, len(rows))
        return member, len(where)

    def move(self, rows: Integers, onto: Levels | Pattern) -> int:
        """Puts rows on new levels (one pattern, or one per row) as far as all classes then hold; how many stay moved.

        A row of a class that would break, or whose leaving would break the class it was in, stays where it was.
        """
        levels = np.broadcast_to(np.asarray(onto, dtype=np.int8), (len(rows), len(self.codes)))
        moving = np.ones(len(rows), dtype=bool)
        while moving.any():
            trial, present = self.levels.copy(), self.settled.copy()
            trial[rows[moving]] = levels[moving]
            present[rows[moving]] = True
            held, member = judge(self.problem, trial, present)
            broken = present & ~held
            if not broken.any():
                self._commit(rows[moving], levels[moving], trial, present, member)
                return int(moving.sum())
            left = np.zeros(int(self.member.max()) + 1, dtype=bool)
            left[self.member[broken & self.settled]] = True
            back = moving & (~held[rows] | (self.settled[rows] & left[self.member[rows]]))
            moving = moving & ~back if back.any() else np.zeros_like(moving)
        return 0

    def _commit(self, rows: Integers, levels: Levels, trial: Levels, settled: Mask, member: Integers) -> None:
        self.levels, self.settled, self.member = trial, settled, member
        paid = np.zeros(len(rows))
        for place, (prices, codes) in enumerate(zip(self.prices, self.codes, strict=True)):
            paid += prices[levels[:, place], codes[rows]]
        self.paid[rows] = paid
