"""Lattices too large to be searched whole: first made smaller where that is provable, then searched downhill.

1. For each attribute, the lowest level that can be part of any solution is found: with all other attributes at the top,
   a level on which too many classes are too small for the models (their ``floor``) rules out all nodes below it. What
   is left may be small enough for the exact search.
2. Otherwise from several nodes that will do, one step at a time, always to the best of the nodes one level below; where
   none of them is better, to the best of those with one attribute lower and another higher. The result is not proven to
   be the best; ``bound`` says below what no node can be.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from math import inf, prod

import numpy as np

from shoal.solve.advice import infeasible
from shoal.solve.judge import Judge, Look
from shoal.solve.problem import Problem
from shoal.solve.rollup import Node, Rollup
from shoal.solve.solution import Solution
from shoal.solve.utility import make_utility

Progress = Callable[[int, int], None]


class Descent:
    def __init__(self, problem: Problem, utility: str, progress: Progress | None) -> None:
        self.problem = problem
        self.utility = make_utility(utility, problem)
        self.judge = Judge(problem, self.utility)
        self.rollup = Rollup(problem)
        self.size = prod(ladder.highest - ladder.lowest + 1 for ladder in problem.ladders)
        self.looked: dict[Node, float] = {}
        self.best: Look | None = None
        self._progress = progress

    @property
    def lowest(self) -> Node:
        return tuple(ladder.lowest for ladder in self.problem.ladders)

    @property
    def highest(self) -> Node:
        return tuple(ladder.highest for ladder in self.problem.ladders)

    def run(self, deadline: float | None) -> None:
        for start in self._starts():
            node, cost = start, self._look(start)
            while cost < inf:
                better = self._best_of(self._below(node), deadline)
                if not better[0] < cost:
                    better = self._best_of(self._beside(node), deadline)
                if not better[0] < cost:
                    break
                cost, node = better
            if _late(deadline) and self.best is not None:
                return

    def solution(self, total: int) -> Solution:
        if self.best is None:
            raise infeasible(self.problem, self.rollup)
        bound = min(self.best.value, self.utility.at_best(self.lowest))
        return self.judge.solution(self.best, total, len(self.looked), bound, optimal=False)

    def _starts(self) -> Iterator[Node]:
        """The top; then the top with one attribute as low as it goes; then all attributes half way up."""
        yield self.highest
        for place, low in enumerate(self.lowest):
            yield (*self.highest[:place], low, *self.highest[place + 1 :])
        yield tuple((low + high + 1) // 2 for low, high in zip(self.lowest, self.highest, strict=True))

    def _below(self, node: Node) -> list[Node]:
        steps = [
            (*node[:place], node[place] - 1, *node[place + 1 :])
            for place, low in enumerate(self.lowest)
            if node[place] > low
        ]
        return sorted(steps, key=self.utility.at_best)

    def _beside(self, node: Node) -> list[Node]:
        """One attribute a level lower, another a level higher."""
        return [
            (*lower[:place], lower[place] + 1, *lower[place + 1 :])
            for lower in self._below(node)
            for place, high in enumerate(self.highest)
            if lower[place] == node[place] < high
        ]

    def _best_of(self, nodes: list[Node], deadline: float | None) -> tuple[float, Node]:
        return min(((self._look(node), node) for node in nodes if not _late(deadline)), default=(inf, self.highest))

    def _look(self, node: Node) -> float:
        """The cost of a node; infinite where the models can't be met."""
        if node not in self.looked:
            self.looked[node] = self._judged(node)
            if self._progress:
                self._progress(len(self.looked), self.size)
        return self.looked[node]

    def _judged(self, node: Node) -> float:
        if self.best is not None and self.utility.at_best(node) >= self.best.value:
            return inf
        table = self.rollup.at(node)
        lost = self.judge.too_small(table)
        if int(table.records[lost].sum()) > self.problem.allowed:
            return inf
        cost = inf
        for look in self.judge.looks(table, self.judge.candidates(table, lost)):
            if look.suppressed <= self.problem.allowed:
                cost = min(cost, look.value)
                if self.best is None or look.value < self.best.value:
                    self.best = look
        return cost


def raise_lowest(problem: Problem) -> Problem:
    """The same problem without the levels that are too low for any solution."""
    judge = Judge(problem, make_utility("loss", problem))
    rollup = Rollup(problem)
    highest = tuple(ladder.highest for ladder in problem.ladders)

    def too_low(place: int, level: int) -> bool:
        table = rollup.at((*highest[:place], level, *highest[place + 1 :]))
        lost = judge.too_small(table)
        judge.candidates(table, lost)
        return int(table.records[lost].sum()) > problem.allowed

    ladders = []
    for place, ladder in enumerate(problem.ladders):
        levels = range(ladder.lowest, ladder.highest)
        possible = next((level for level in levels if not too_low(place, level)), ladder.highest)
        ladders.append(replace(ladder, lowest=possible))
    return replace(problem, ladders=ladders)


def descend(problem: Problem, utility: str, deadline: float | None, progress: Progress | None, total: int) -> Solution:
    """``total`` is how many nodes the lattice had before it was made smaller."""
    descent = Descent(problem, utility, progress)
    descent.run(deadline)
    return descent.solution(total)


def _late(deadline: float | None) -> bool:
    return deadline is not None and time.monotonic() > deadline
