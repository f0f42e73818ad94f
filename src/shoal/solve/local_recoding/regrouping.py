"""Classes that climbing made, divided anew.

Climbing raises one attribute for everybody at a time, so whom it brings together is a matter of a few nodes of a
lattice that has far too many. Here classes that are near each other are taken together, some hundred combinations at a
time, and their members are put into classes again one by one (k-member clustering, Byun et al. 2007): the member
farthest from the last class starts a new one, and whoever makes it dearer by the least comes in until it is large
enough. The new division is taken where it loses less.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.arrays import Floats, Integers
from shoal.solve.local_recoding.labelled_classes import LabelledClasses, Levels, is_blank, label
from shoal.solve.problem import Problem

WINDOW = 512
"""Combinations that are divided anew together: the work grows with its square."""
LESS = 1e-9


def regroup(problem: Problem, member: Integers, number: int, kept: int, least: int) -> tuple[Integers, int]:
    """The classes from ``kept`` on, divided anew where that loses less; none has fewer than ``least`` records."""
    classes = label(problem, member, number)
    by_class = np.argsort(member, kind="stable")
    starts = np.searchsorted(member[by_class], np.arange(number + 1))
    found, made = member.copy(), kept
    for window in _windows(_by_nearness(problem, classes, kept), np.diff(starts)):
        members = [by_class[starts[each] : starts[each + 1]] for each in window]
        chosen = np.concatenate(members)
        lost = float((classes.records[window] * classes.cost[window]).sum())
        divided = _Window(problem, chosen).divided(least) if len(chosen) <= WINDOW else None
        if divided is not None and divided.lost < lost - LESS:
            found[chosen] = made + divided.member
            made += divided.number
        else:
            found[chosen] = made + np.repeat(np.arange(len(window)), [len(each) for each in members])
            made += len(window)
    return found, made


def _by_nearness(problem: Problem, classes: LabelledClasses, kept: int) -> Integers:
    """The classes in an order in which those are close that tell the same of what most of them tell something of."""
    tops = np.array([ladder.highest for ladder in problem.ladders])
    told = (classes.levels[kept:] < tops).mean(axis=0)
    keys = []
    for place in np.argsort(told, kind="stable"):
        ladder = problem.ladders[place]
        below_top = max(ladder.lowest, ladder.highest - 1)
        group = ladder.groups[below_top][problem.counts.codes[classes.first[kept:], place]]
        keys.append(np.where(classes.levels[kept:, place] > below_top, -1, group))
    return kept + np.lexsort(keys)


def _windows(order: Integers, sizes: Integers) -> Iterator[Integers]:
    """Neighbours in the order, as many as have ``WINDOW`` members together; one alone may have more."""
    first, held = 0, 0
    for place, size in enumerate(sizes[order].tolist()):
        if held and held + size > WINDOW:
            yield order[first:place]
            first, held = place, 0
        held += size
    if held:
        yield order[first:]


@dataclass(frozen=True)
class _Divided:
    member: Integers
    number: int
    lost: float


class _Window:
    """Some combinations, with the level that each two of them have in common, by attribute."""

    def __init__(self, problem: Problem, chosen: Integers) -> None:
        self.problem = problem
        self.records = problem.counts.records[chosen]
        codes, size = problem.counts.codes[chosen], len(chosen)
        attributes = len(problem.ladders)
        levels = max(ladder.highest for ladder in problem.ladders) + 2
        self._common = np.zeros((size, size, attributes), dtype=np.int8)
        losses = np.full((size, attributes, levels), np.inf)
        for place, ladder in enumerate(problem.ladders):
            common = self._common[:, :, place]
            common += np.int8(ladder.lowest)
            for level in range(ladder.lowest, ladder.highest + 1):
                groups = ladder.groups[level][codes[:, place]]
                common += groups[:, None] != groups
                losses[:, place, level] = problem.weights[place] * ladder.losses[level][codes[:, place]]
        self._losses: Floats = losses.reshape(size, -1)
        self._row = np.arange(attributes) * levels

    def divided(self, least: int) -> _Divided | None:
        """Into classes of at least so many records; None where that can't be, or leaves nothing of some class."""
        member = np.full(len(self.records), -1, dtype=np.int64)
        firsts: list[int] = []
        levels: list[Levels] = []
        start = 0
        while self.records[member < 0].sum() >= least:
            free = np.flatnonzero(member < 0)
            start = int(free[self._cost(start, self._common[start, free]).argmax()])
            inside, common = self._gather(start, free[free != start], least)
            member[inside] = len(firsts)
            firsts.append(start)
            levels.append(common)
        if not firsts:
            return None
        return self._with_the_rest(member, np.array(firsts), np.array(levels))

    def _gather(self, start: int, free: Integers, least: int) -> tuple[list[int], Levels]:
        """A class around a member: whoever makes it dearer by the least comes in, until it is large enough."""
        inside, size = [start], int(self.records[start])
        levels, others = self._common[start, start], self._common[start, free]
        while size < least:
            together = np.maximum(levels, others)
            best = int(self._cost(start, together).argmin())
            levels = together[best]
            inside.append(int(free[best]))
            size += int(self.records[free[best]])
            free, others = np.delete(free, best), np.delete(others, best, axis=0)
        return inside, levels

    def _with_the_rest(self, member: Integers, firsts: Integers, levels: Levels) -> _Divided | None:
        """Who is left, fewer than a class needs, joins the class that it makes dearer by the least."""
        sizes = np.bincount(member[member >= 0], self.records[member >= 0], len(firsts))
        costs = self._costs(firsts, levels)
        for left in np.flatnonzero(member < 0):
            together = np.maximum(levels, self._common[firsts, left])
            dearer = self._costs(firsts, together)
            best = int(((sizes + self.records[left]) * dearer - sizes * costs).argmin())
            member[left], levels[best], costs[best] = best, together[best], dearer[best]
            sizes[best] += self.records[left]
        lost = float((sizes * costs).sum())
        if not np.isfinite(lost) or is_blank(self.problem, levels).any():
            return None
        return _Divided(member, len(firsts), lost)

    def _cost(self, first: int, levels: NDArray[np.int8]) -> Floats:
        """What a record of a class loses that one member stands for, on each of several rows of levels."""
        return np.asarray(self._losses[first][levels + self._row].sum(axis=1))

    def _costs(self, firsts: Integers, levels: Levels) -> Floats:
        return np.asarray(np.take_along_axis(self._losses[firsts], levels + self._row, axis=1).sum(axis=1))
