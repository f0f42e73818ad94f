"""Lattices too large to be searched whole: first made smaller where that is provable, then searched step by step.

1. For each attribute, the lowest level that can be part of any solution is found: with all other attributes at the top,
   a level on which too many classes are too small for the models (their ``floor``) rules out all nodes below it. What
   is left may be small enough for the exact search.
2. Otherwise downhill from the top, always to the best of the nodes one level below. Where none is better, one attribute
   goes down and others up in exchange: the exchanges are tried in the order of what they are expected to cost, by what
   single steps were seen to suppress. Where no exchange helps, one attribute is moved by force, as low or as high as it
   goes, the others are mended around it, and it goes downhill from there; where that doesn't help either, two at once,
   for as long again as it took to come so far. All of it follows from the counts, nothing is drawn by lot.

The result is not proven to be the best. ``relaxation`` says below what no node can be.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import inf, prod

import numpy as np

from shoal.kernels.arrays import Integers
from shoal.schema.progress import Progress
from shoal.solve.global_recoding.advice import infeasible
from shoal.solve.global_recoding.budget import Budget
from shoal.solve.global_recoding.node_evaluation import NodeEvaluation, NodeEvaluator
from shoal.solve.problem import Problem
from shoal.solve.rollup import Node, Rollup
from shoal.solve.solution import Solution
from shoal.solve.utility import make_utility

FIRST_TRIED = 6
"""Steps that are tried at once, of those that are expected to be best."""
EXCHANGES = 80
"""Exchanges that are tried around one node."""
STRIDE = 7919
"""A large prime, so that steps of it go all around a list before they come back."""


class Descent:
    def __init__(self, problem: Problem, utility: str, budget: Budget, progress: Progress | None = None) -> None:
        self.problem = problem
        self.utility = make_utility(utility, problem)
        self.judge = NodeEvaluator(problem, self.utility)
        self.rollup = Rollup(problem)
        self.budget = budget
        self.size = prod(ladder.highest - ladder.lowest + 1 for ladder in problem.ladders)
        self.lowest: Node = tuple(ladder.lowest for ladder in problem.ladders)
        self.highest: Node = tuple(ladder.highest for ladder in problem.ladders)
        self.looked: dict[Node, tuple[float, int]] = {}
        """The cost of a node, infinite where the models can't be met; and how many records it suppresses at least."""
        self.best: NodeEvaluation | None = None
        self._progress = progress
        self._steps = [np.zeros(high, dtype=np.int64) for high in self.highest]
        """By attribute and level, how many more records the step down to it was last seen to suppress."""

    @property
    def cost(self) -> float:
        return inf if self.best is None else self.best.value

    def run(self, start: Node | None = None) -> None:
        node = self._exchanged(self._downhill(start or self.highest, thorough=True))
        better: Node | None = node
        while better is not None and not self.budget.spent:
            node = better
            better = self._after_kicks(node, self._kicks(node))
            if better is None:
                better = self._after_kicks(node, self._double_kicks(node), most=2 * len(self.looked))

    def _after_kicks(self, node: Node, kicks: Iterator[Node], most: float = inf) -> Node | None:
        """A better node from where one of the kicks leads to, if any does before so many nodes were looked at."""
        value = self._value(node)
        for kicked in kicks:
            if self.budget.spent or len(self.looked) > most:
                return None
            landed = self._exchanged(self._downhill(kicked, thorough=False))
            if self._value(landed) < value:
                return landed
        return None

    def solution(self, total: int, bound: float) -> Solution:
        if self.best is None:
            raise infeasible(self.problem, self.rollup)
        least = max(bound, self.utility.at_best(self.lowest))
        return self.judge.solution(self.best, total, len(self.looked), min(self.cost, least), optimal=False)

    def _downhill(self, node: Node, *, thorough: bool) -> Node:
        """From a node that will do, or from the nearest above it that does, to one with no better node just below."""
        node = self._mended(node)
        while not self.budget.spent and self._value(node) < inf:
            better = self._best_step(node, list(self._below(node)), thorough=thorough)
            if better is None:
                break
            node = better
        return node

    def _best_step(self, node: Node, steps: list[Node], *, thorough: bool) -> Node | None:
        """The best of the nodes, if it is better than this one; in haste, the best of the first that are."""
        value = self._value(node)
        if not steps:
            return None
        order = self._in_order(node, np.array(steps))
        several = len(order) if thorough else FIRST_TRIED
        for first in range(0, len(order), several):
            found = min((self._value(step), step) for step in order[first : first + several])
            if found[0] < value:
                return found[1]
        return None

    def _exchanged(self, node: Node) -> Node:
        """The node after all exchanges that make it better, each followed by steps down."""
        while not self.budget.spent:
            for above in self._above(node):
                self._value(above)
            value = self._value(node)
            pairs = self._exchanges(node)
            pairs = pairs[self.utility.at_best_of(pairs) < value]
            order = self._in_order(node, pairs)[:EXCHANGES]
            better = next((pair for pair in order if self._value(pair) < value), None)
            if better is None:
                return node
            node = self._downhill(better, thorough=False)
        return node

    def _kicks(self, node: Node) -> Iterator[Node]:
        """One attribute by force at its top, or on a lower level; the others are still where they were."""
        return (_with(node, place, level) for place, level in self._forced(node))

    def _double_kicks(self, node: Node) -> Iterator[Node]:
        """Two attributes by force: every such pair, in an order in which neighbours have little in common."""
        moves = self._forced(node)
        for offset in range(1, len(moves)):
            for first, (place, level) in enumerate(moves):
                other, other_level = moves[(first + offset * STRIDE) % len(moves)]
                if place < other:
                    yield _with(_with(node, place, level), other, other_level)

    def _forced(self, node: Node) -> list[tuple[int, int]]:
        up = [(place, high) for place, high in enumerate(self.highest) if node[place] < high]
        return up + [(place, level) for place, low in enumerate(self.lowest) for level in range(low, node[place])]

    def _mended(self, node: Node) -> Node:
        """A node that will do: attributes are raised, those first that are expected to save most for their price."""
        while self._value(node) == inf and node != self.highest and not self.budget.spent:
            steps = self._in_order(node, np.array(list(self._above(node))))
            node = min(steps[:FIRST_TRIED], key=lambda step: (self._value(step), self._suppressed(step), step))
        return node

    def _in_order(self, node: Node, others: Integers) -> list[Node]:
        """Nodes by what they can be expected to cost, from what single steps near this node suppressed."""
        records = max(1, self.problem.records)
        gone = np.full(len(others), self._suppressed(node))
        for place, (level, steps) in enumerate(zip(node, self._steps, strict=True)):
            from_top = np.concatenate((np.cumsum(steps[::-1])[::-1], [0]))
            gone += from_top[others[:, place]] - from_top[level]
        share = np.clip(gone / records, 0, 1)
        too_many = np.maximum(0, gone - self.problem.allowed) / records
        kept = self.utility.at_best_of(others)
        dearest = self.utility.all_suppressed
        expected = kept + share * np.maximum(0.0, dearest - kept) + too_many * dearest
        return [tuple(row) for row in others[np.argsort(expected, kind="stable")].tolist()]

    def _below(self, node: Node) -> Iterator[Node]:
        return (_with(node, place, node[place] - 1) for place, low in enumerate(self.lowest) if node[place] > low)

    def _above(self, node: Node) -> Iterator[Node]:
        return (_with(node, place, node[place] + 1) for place, high in enumerate(self.highest) if node[place] < high)

    def _exchanges(self, node: Node) -> Integers:
        """One attribute one or two levels lower, another one or two higher."""
        places = range(len(node))
        pairs = [
            _with(_with(node, down, lower), up, higher)
            for down in places
            for lower in range(max(self.lowest[down], node[down] - 2), node[down])
            for up in places
            if up != down
            for higher in range(node[up] + 1, min(self.highest[up], node[up] + 2) + 1)
        ]
        return np.array(pairs, dtype=np.int64).reshape(-1, len(node))

    def _value(self, node: Node) -> float:
        return self._seen(node)[0]

    def _suppressed(self, node: Node) -> int:
        return self._seen(node)[1]

    def _seen(self, node: Node) -> tuple[float, int]:
        if node not in self.looked:
            if self.budget.spent and self.looked:
                return inf, self.problem.records
            self.looked[node] = self._judged(node)
            self._learn(node)
            if self._progress:
                self._progress(len(self.looked), self.size)
        return self.looked[node]

    def _learn(self, node: Node) -> None:
        """What the steps to and from neighbours that were looked at suppress."""
        here = self.looked[node][1]
        for place, level in enumerate(node):
            above = self.looked.get(_with(node, place, level + 1))
            if above is not None:
                self._steps[place][level] = here - above[1]
            below = self.looked.get(_with(node, place, level - 1))
            if below is not None:
                self._steps[place][level - 1] = below[1] - here

    def _judged(self, node: Node) -> tuple[float, int]:
        table = self.rollup.at(node)
        self.budget.spend(table, 1)
        lost = self.judge.too_small(table)
        gone = int(table.records[lost].sum())
        if gone > self.problem.allowed:
            return inf, gone
        cost = inf
        for look in self.judge.looks(table, self.judge.candidates(table, lost)):
            gone = look.suppressed
            if look.suppressed <= self.problem.allowed:
                cost = min(cost, look.value)
                if look.value < self.cost:
                    self.best = look
        return cost, gone


def raise_lowest(problem: Problem) -> Problem:
    """The same problem without the levels that are too low for any solution."""
    judge = NodeEvaluator(problem, make_utility("loss", problem))
    rollup = Rollup(problem)
    highest = tuple(ladder.highest for ladder in problem.ladders)

    def too_low(place: int, level: int) -> bool:
        table = rollup.at(_with(highest, place, level))
        lost = judge.too_small(table)
        judge.candidates(table, lost)
        return int(table.records[lost].sum()) > problem.allowed

    ladders = []
    for place, ladder in enumerate(problem.ladders):
        levels = range(ladder.lowest, ladder.highest)
        possible = next((level for level in levels if not too_low(place, level)), ladder.highest)
        ladders.append(replace(ladder, lowest=possible))
    return replace(problem, ladders=ladders)


def _with(node: Node, place: int, level: int) -> Node:
    return (*node[:place], level, *node[place + 1 :])
