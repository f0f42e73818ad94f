"""Global recoding: the node of the generalisation lattice that meets the models at the least cost, provably.

A node says one level per quasi-identifier; what fails a model there is suppressed. Every node has a lower bound of its
cost (see ``utility``); a node whose bound is no better than the best node found needs no look. When no other is left,
the best node is the optimum. This needs no monotonicity at all. What makes it fast is a good node found early, by going
downhill from the top, and what one look says of other nodes:

- A class that is too small for the models (their ``floor``) is too small in every finer partition. Its records are lost
  on all nodes below, which raises their bounds; and if they are more than may be suppressed, all nodes below fall.
- Of a class that fails, some models say how many records a finer partition can keep (``most_kept``): the rest is lost.
- Where nothing may be suppressed and the models are monotone, a node that fails takes all nodes below with it.

So nodes are looked at from the top down. Measures of whole classes are the exception: there a look bounds the nodes
*above*, so the node with the lowest bound is next; but first, on a path from it to the top, the highest node that rules
it out is searched for by bisection.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import inf, prod

import numpy as np

from shoal.kernels.arrays import Mask
from shoal.schema.progress import Progress
from shoal.solve.global_recoding.advice import infeasible
from shoal.solve.global_recoding.budget import Budget
from shoal.solve.global_recoding.node_evaluation import CandidateClasses, NodeEvaluation, NodeEvaluator
from shoal.solve.problem import Problem
from shoal.solve.rollup import ClassTable, Node, Rollup
from shoal.solve.solution import Solution
from shoal.solve.utility import Utility, box

MANY_NODES = 500


class LatticeSearch:
    def __init__(self, problem: Problem, utility: Utility, progress: Progress | None = None) -> None:
        self.problem = problem
        self.utility = utility
        self.judge = NodeEvaluator(problem, utility)
        self.rollup = Rollup(problem, upwards=utility.bounds_above)
        self.lowest = utility.lowest
        self.size = prod(utility.shape)
        self._looked = np.zeros(utility.shape, dtype=bool)
        self.best: NodeEvaluation | None = None
        self.proven = False
        self._budget = Budget()
        self._progress = progress
        self._allowed = problem.allowed
        self._limited = self._allowed < problem.records
        self._bounds = np.ascontiguousarray(utility.start())
        self._flat = self._bounds.reshape(-1)
        self._start = self._flat.copy() if utility.bounds_above else self._flat
        self._strides = [prod(utility.shape[axis + 1 :]) for axis in range(len(utility.shape))]
        # Where people are in several classes, what is counted over the whole table may change as classes merge.
        apart = not len(problem.counts.shared)
        monotone = all((model.local or apart) and model.monotone_under_generalisation for model in problem.models)
        self._failing_falls = self._allowed == 0 and monotone

    @property
    def checked(self) -> int:
        """How many nodes were looked at."""
        return int(np.count_nonzero(self._looked))

    @property
    def cost(self) -> float:
        return inf if self.best is None else self.best.value

    def run(self, budget: Budget | None = None) -> None:
        self._budget = budget or Budget()
        self._go_downhill()
        for place in self._upwards() if self.utility.bounds_above else self._downwards():
            if self._budget.spent and self.best is not None:
                return
            self._settle(place)
            if self._progress:
                self._progress(self.checked, self.size)
        self.proven = True
        self._step_down()
        if self._progress:
            self._progress(self.checked, self.size)

    def _downwards(self) -> Iterator[int]:
        """Nodes that may be better than the best, the highest first: what they tell of nodes below comes in time."""
        steps = np.ix_(*(np.arange(size, dtype=np.int16) for size in self.utility.shape))
        heights = sum(steps, np.zeros((), dtype=np.int16))
        order = np.argsort(-heights.reshape(-1), kind="stable")
        for places in np.split(order, np.cumsum(np.bincount(heights.reshape(-1))[::-1])[:-1]):
            open_ones = places[self._flat[places] < self.cost]
            for place in open_ones[np.argsort(self._flat[open_ones], kind="stable")]:
                if self._flat[place] < self.cost:
                    yield int(place)

    def _upwards(self) -> Iterator[int]:
        """Nodes that may be better than the best, that with the lowest bound first."""
        while self._flat[place := int(self._flat.argmin())] < self.cost:
            yield place

    def solution(self) -> Solution:
        if self.best is None:
            raise infeasible(self.problem, self.rollup)
        return self.judge.solution(self.best, self.size, self.checked, self.bound, optimal=self.proven)

    @property
    def bound(self) -> float:
        """Below what no node can cost, as far as is known by now."""
        return self.cost if self.proven else min(self.cost, float(self._flat.min()))

    def _go_downhill(self) -> None:
        """From the top to a good node, one level at a time: what is known early rules out more."""
        steps = [size - 1 for size in self.utility.shape]
        place = int(self._flat.size - 1)
        value = self._look(place)
        while value < inf:
            below = [
                (self._look(place - stride), place - stride, axis)
                for axis, (stride, step) in enumerate(zip(self._strides, steps, strict=True))
                if step and self._flat[place - stride] < self.cost
            ]
            best = min(below, default=(inf, place, 0))
            if not best[0] < value:
                return
            value, place, axis = best
            steps[axis] -= 1

    def _step_down(self) -> None:
        """Of nodes with the same cost, one that generalises less and suppresses no more."""
        lower = self.best
        while lower is not None:
            self.best, lower = lower, None
            node = self.best.table.node
            for axis, low in enumerate(self.lowest):
                if lower is None and node[axis] > low:
                    lower = self._no_worse((*node[:axis], node[axis] - 1, *node[axis + 1 :]))

    def _no_worse(self, node: Node) -> NodeEvaluation | None:
        self._looked[tuple(level - low for level, low in zip(node, self.lowest, strict=True))] = True
        table = self.rollup.at(node)
        for look in self.judge.looks(table, self.judge.candidates(table, self.judge.too_small(table))):
            fewer = self.best is None or look.suppressed <= self.best.suppressed
            if fewer and look.suppressed <= self._allowed and look.value <= self.cost:
                return look
        return None

    def _settle(self, place: int) -> None:
        """Look at a node; or, on the way upwards, rule it out by the highest node above it that can."""
        path = [place]
        if self.utility.bounds_above and self._limited and (self._failing_falls or self.judge.tells_of_below):
            path = self._path(place)
        low, high = 0, len(path) - 1
        while low <= high:
            middle = (low + high) // 2
            if self._flat[path[middle]] < inf:
                self._look(path[middle])
            if self._flat[place] < self.cost:
                high = middle - 1
            else:
                low = middle + 1

    def _path(self, place: int) -> list[int]:
        """From the node to the top, each step the cheapest by its first bound."""
        path = [place]
        steps = [int(step) for step in np.unravel_index(place, self.utility.shape)]
        while True:
            bound, axis = min(
                (
                    (self._start[place + stride], axis)
                    for axis, (stride, step, size) in enumerate(
                        zip(self._strides, steps, self.utility.shape, strict=True)
                    )
                    if step + 1 < size
                ),
                default=(inf, 0),
            )
            if bound == inf:
                return path
            place += self._strides[axis]
            steps[axis] += 1
            path.append(place)

    def _look(self, place: int) -> float:
        """Judge a node, and learn from it about others. Its cost, where that can matter; otherwise infinite."""
        self._looked.reshape(-1)[place] = True
        steps = np.unravel_index(place, self.utility.shape)
        node = tuple(int(step) + low for step, low in zip(steps, self.lowest, strict=True))
        table = self.rollup.at(node)
        self._budget.spend(table, prod(int(step) + 1 for step in steps))
        lost = self.judge.too_small(table)
        if self._too_many(table, lost):
            return self._rule_out(node)
        if self._settled_by_size(place, table, lost):
            return inf
        candidates = self.judge.candidates(table, lost)
        if self._too_many(table, lost) or self._falls_by_trimming(node, table, candidates, lost):
            return self._rule_out(node)
        bound, self._flat[place] = self._flat[place], inf
        if not bound < self.cost:
            return inf
        looks = [look for look in self.judge.looks(table, candidates) if look.suppressed <= self._allowed]
        if not looks and self._failing_falls:
            return self._rule_out(node)
        for look in looks:
            self.consider(look)
        return min((look.value for look in looks), default=inf)

    def _falls_by_trimming(self, node: Node, table: ClassTable, candidates: CandidateClasses, lost: Mask) -> bool:
        """Whether more is lost than may be, here and below, by what the models can keep at most; else bounds rise."""
        if not self.utility.bounds_above and not self._open_below(node):
            return False
        # Measures of whole classes take nothing from it but what rules nodes out.
        useful = self._limited or not self.utility.bounds_above
        trimmed = self.judge.trimmed(table, candidates) if useful else None
        if self._limited and trimmed is not None and int(trimmed.sum()) > self._allowed:
            return True
        self.utility.tighten(self._bounds, table, lost, trimmed)
        return False

    def _settled_by_size(self, place: int, table: ClassTable, lost: Mask) -> bool:
        """Whether a node is too dear, by a measure of whole classes, even if no class is lost but the small ones."""
        if self._limited or not self.utility.bounds_above or self.utility.value(table, ~lost) < self.cost:
            return False
        self.utility.tighten(self._bounds, table, lost, None)
        self._flat[place] = inf
        return True

    def _too_many(self, table: ClassTable, lost: Mask) -> bool:
        return self._limited and int(table.records[lost].sum()) > self._allowed

    def _open_below(self, node: Node) -> bool:
        """Whether any node below, besides it, may be better than the best. Of many some are: that needs no count."""
        below = self._bounds[box(self.lowest, node)]
        return below.size > MANY_NODES or int(np.count_nonzero(below < self.cost)) > 1

    def _rule_out(self, node: Node) -> float:
        """The node and all below it."""
        self._bounds[box(self.lowest, node)] = inf
        return inf

    def consider(self, look: NodeEvaluation) -> None:
        """Take it for the best, if it is better."""
        fewer = self.best is not None and look.value == self.cost and look.suppressed < self.best.suppressed
        if look.value < self.cost or fewer:
            self.best = look
