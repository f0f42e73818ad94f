"""Global recoding: the node of the generalisation lattice that meets the models at the least cost, provably.

A node says one level per quasi-identifier; what fails a model there is suppressed. Every node has a lower bound of its
cost (see ``utility``), and the one with the lowest is taken next. When that bound is no better than the best node
found, the best node is the optimum. This needs no monotonicity at all. What makes it fast is what one look says of
other nodes:

- A class that is too small for the models (their ``floor``) is too small in every finer partition. Its records are lost
  on all nodes below, which raises their bounds; and if they are more than may be suppressed, all nodes below fall.
- Where nothing may be suppressed and the models are monotone, a node that fails takes all nodes below with it.

So instead of the next node itself, nodes above it are looked at: on a path to the top, the highest one that rules the
next node out is found by bisection, and it mostly rules out thousands with it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import inf, prod

import numpy as np
from numpy.typing import NDArray

from shoal.privacy import Classes, kept_by
from shoal.solve.advice import infeasible
from shoal.solve.problem import Problem
from shoal.solve.rollup import ClassTable, Rollup
from shoal.solve.solution import Solution
from shoal.solve.utility import Loss, Utility, box, make_utility

Progress = Callable[[int, int], None]
Mask = NDArray[np.bool_]
Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Look:
    """A node looked at. ``kept`` is None where its bound alone ruled it out."""

    table: ClassTable
    suppressed: int
    value: float
    kept: Mask | None

    @property
    def withheld(self) -> Mask:
        """For each combination, whether its records are suppressed."""
        return np.zeros(len(self.table.member), dtype=bool) if self.kept is None else ~self.kept[self.table.member]


def solve_lattice(
    problem: Problem,
    utility: str = "loss",
    *,
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> Solution:
    """With a time limit (in seconds) the best node so far, said not to be optimal, unless it was proven by then."""
    search = Search(problem, make_utility(utility, problem), progress)
    search.run(None if time_limit is None else time.monotonic() + time_limit)
    if search.best is None:
        raise infeasible(problem, search.rollup)
    return search.solution()


class Search:
    def __init__(self, problem: Problem, utility: Utility, progress: Progress | None = None) -> None:
        self.problem = problem
        self.utility = utility
        self.rollup = Rollup(problem)
        self.lowest = utility.lowest
        self.size = prod(utility.shape)
        self.checked = 0
        self.best: Look | None = None
        self.proven = False
        self._progress = progress
        self._allowed = problem.allowed
        self._bounds = np.ascontiguousarray(utility.start())
        self._flat = self._bounds.reshape(-1)
        self._start = self._flat.copy()
        self._strides = [prod(utility.shape[axis + 1 :]) for axis in range(len(utility.shape))]
        monotone = all(model.local and model.monotone_under_generalisation for model in problem.models)
        self._looks_across = not all(model.local for model in problem.models)
        self._failing_falls = self._allowed == 0 and monotone

    @property
    def cost(self) -> float:
        return inf if self.best is None else self.best.value

    def run(self, deadline: float | None = None) -> None:
        while True:
            place = int(self._flat.argmin())
            if not self._flat[place] < self.cost:
                self.proven = True
                return
            self._settle(place)
            if self._progress:
                self._progress(self.checked, self.size)
            if deadline is not None and self.best is not None and time.monotonic() > deadline:
                return

    def solution(self) -> Solution:
        look = self.best
        if look is None:
            raise infeasible(self.problem, self.rollup)
        levels = {ladder.attribute: level for ladder, level in zip(self.problem.ladders, look.table.node, strict=True)}
        kept = np.ones(look.table.number, dtype=bool) if look.kept is None else look.kept
        loss = look.value if isinstance(self.utility, Loss) else Loss(self.problem).value(look.table, kept)
        return Solution(
            levels,
            loss=loss,
            objective=look.value,
            optimal=self.proven,
            nodes_total=self.size,
            nodes_checked=self.checked,
            suppressed=look.suppressed,
            withheld=look.withheld,
            bound=look.value if self.proven else min(look.value, float(self._bounds.min())),
        )

    def _settle(self, place: int) -> None:
        """Rule a node out by the highest node above it that can, or look at it."""
        path = self._path(place) if self._looks_tell_of_below else [place]
        low, high = 0, len(path) - 1
        while low <= high:
            middle = (low + high) // 2
            if self._flat[path[middle]] < inf:
                self._look(path[middle])
            if self._flat[place] < self.cost:
                high = middle - 1
            else:
                low = middle + 1

    @cached_property
    def _looks_tell_of_below(self) -> bool:
        floor = self.problem.floor
        return self._failing_falls or floor.people > 1 or floor.records > 1 or any(floor.distinct.values())

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

    def _look(self, place: int) -> None:
        """Judge a node, and learn from it about others."""
        self.checked += 1
        steps = np.unravel_index(place, self.utility.shape)
        node = tuple(int(step) + low for step, low in zip(steps, self.lowest, strict=True))
        table = self.rollup.at(node)
        there = table.records > 0
        lost = there & ~self._above_floor(table)
        suppressed = int(table.records[lost].sum())
        if suppressed > self._allowed:
            self._bounds[box(self.lowest, node)] = inf
            return
        self.utility.tighten(self._bounds, table, lost, self.cost)
        if self._flat[place] < self.cost:
            self._judge(table, ~lost)
        self._flat[place] = inf

    def _judge(self, table: ClassTable, candidates: Mask) -> None:
        """By all models. Where a model takes away the smallest classes, equal ones can go in different orders."""
        orders = [np.arange(table.number)]
        if any(model.takes_smallest for model in self.problem.models):
            orders.append(orders[0][::-1])
        for order in orders:
            kept = self._kept(table, candidates, order)
            suppressed = int(table.records[~kept].sum())
            if suppressed <= self._allowed:
                self._consider(Look(table, suppressed, self.utility.value(table, kept), kept))
            elif self._failing_falls:
                self._bounds[box(self.lowest, table.node)] = inf

    def _consider(self, look: Look) -> None:
        if look.value < self.cost:
            self.best = look

    def _above_floor(self, table: ClassTable) -> Mask:
        floor = self.problem.floor
        above = table.people >= floor.people
        if floor.records > floor.people or table.people is not table.records:
            above &= table.records >= floor.records
        for name, least in floor.distinct.items():
            if least > 1:
                some = self.problem.tallies[name].within(table.member, table.number).only(above)
                above[above] = some.distinct() >= least
        return above

    def _kept(self, table: ClassTable, candidates: Mask, order: Integers) -> Mask:
        kept = candidates.copy()
        if self.problem.models and candidates.any():
            chosen = order[candidates[order]]
            kept[chosen] = kept_by(self.problem.models, self._classes(table).at(chosen))
        return kept

    def _classes(self, table: ClassTable) -> Classes:
        problem = self.problem
        population = problem.population
        if population is not None:
            population = np.bincount(table.member, weights=population, minlength=table.number).astype(np.int64)
        return Classes(
            table.records,
            table.people,
            {name: tally.within(table.member, table.number) for name, tally in problem.tallies.items()},
            population,
            tuple(ladder.attribute for ladder in problem.ladders),
            table.cells if self._looks_across else None,
            None
            if not len(problem.counts.shared)
            else (lambda groups, number: problem.counts.people_in(groups[table.member], number)),
        )
