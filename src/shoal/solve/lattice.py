"""Global recoding: the node of the generalisation lattice that meets the models with the least loss, provably.

A node says one level per quasi-identifier. What a node loses without any suppression is a sum over attributes, so it is
known before the node is looked at, and it is a lower bound of what the node really loses: a suppressed cell loses 1, a
generalised one at most that. Nodes are taken in the order of their bound; when the next bound is no better than the
best node found, that node is the optimum. This needs no monotonicity of models or measures.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import floor, prod

import numpy as np
from numpy.typing import NDArray

from shoal.errors import InfeasibleError
from shoal.privacy import Classes, PrivacyModel
from shoal.schema import Counts
from shoal.solve.ladder import Ladder
from shoal.solve.solution import Solution

Node = tuple[int, ...]
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Outcome:
    """A node looked at: which combinations fail a model, how many records that suppresses, what is lost."""

    failing: NDArray[np.bool_]
    suppressed: int
    loss: float


def solve_lattice(
    counts: Counts,
    ladders: Sequence[Ladder],
    models: Sequence[PrivacyModel],
    *,
    suppression_limit: float = 0.0,
    progress: Progress | None = None,
) -> Solution:
    lattice = _Lattice(counts, ladders, models)
    allowed = floor(suppression_limit * counts.total_records + 1e-9)
    best: tuple[float, Node, Outcome] | None = None
    least_suppressed = counts.total_records
    checked = 0
    for bound, node in lattice.by_bound():
        if best is not None and bound >= best[0]:
            break
        outcome = lattice.evaluate(node)
        checked += 1
        least_suppressed = min(least_suppressed, outcome.suppressed)
        if outcome.suppressed <= allowed and (best is None or outcome.loss < best[0]):
            best = (outcome.loss, node, outcome)
        if progress:
            progress(checked, lattice.size)
    if best is None:
        raise _infeasible(models, least_suppressed, allowed)
    loss, node, outcome = best
    levels = {ladder.attribute: level for ladder, level in zip(ladders, node, strict=True)}
    return Solution(
        levels,
        loss=loss,
        objective=loss,
        optimal=True,
        nodes_total=lattice.size,
        nodes_checked=checked,
        suppressed=outcome.suppressed,
        withheld=outcome.failing,
    )


class _Lattice:
    def __init__(self, counts: Counts, ladders: Sequence[Ladder], models: Sequence[PrivacyModel]) -> None:
        self.counts = counts
        self.ladders = ladders
        self.models = models
        self.size = prod(ladder.highest - ladder.lowest + 1 for ladder in ladders)
        weights = sum(ladder.weight for ladder in ladders) or 1.0
        shares = counts.records / max(1, counts.total_records)
        self._cell_losses = [
            [ladder.weight / weights * losses[counts.codes[:, place]] * shares for losses in ladder.losses]
            for place, ladder in enumerate(ladders)
        ]
        self._bounds = [[float(cells.sum()) for cells in levels] for levels in self._cell_losses]

    def by_bound(self) -> Iterator[tuple[float, Node]]:
        """All nodes, from the lowest lower bound to the highest; ties from the least generalised."""
        first = tuple(ladder.lowest for ladder in self.ladders)
        waiting = [(self._bound(first), sum(first), first)]
        seen = {first}
        while waiting:
            bound, _, node = heapq.heappop(waiting)
            yield bound, node
            for place, ladder in enumerate(self.ladders):
                above = (*node[:place], node[place] + 1, *node[place + 1 :])
                if above[place] <= ladder.highest and above not in seen:
                    seen.add(above)
                    heapq.heappush(waiting, (self._bound(above), sum(above), above))

    def evaluate(self, node: Node) -> Outcome:
        groups, number = self._classes(node)
        records = np.zeros(number, dtype=np.int64)
        np.add.at(records, groups, self.counts.records)
        classes = Classes(records, self.counts.people_in(groups, number))
        holds = np.ones(number, dtype=bool)
        for model in self.models:
            holds &= model.holds(classes)
        failing = ~holds[groups]
        suppressed = int(records[~holds].sum())
        kept = sum(float(cells[level][~failing].sum()) for cells, level in zip(self._cell_losses, node, strict=True))
        return Outcome(failing, suppressed, kept + suppressed / max(1, self.counts.total_records))

    def _bound(self, node: Node) -> float:
        return sum(levels[level] for levels, level in zip(self._bounds, node, strict=True))

    def _classes(self, node: Node) -> tuple[NDArray[np.int64], int]:
        """The class of each combination at a node, numbered from 0."""
        groups = np.zeros(self.counts.size, dtype=np.int64)
        number = 1
        for place, (ladder, level) in enumerate(zip(self.ladders, node, strict=True)):
            size = ladder.size(level)
            if number * size > np.iinfo(np.int64).max // 2:
                _, groups = np.unique(groups, return_inverse=True)
                number = int(groups.max(initial=-1)) + 1
            groups = groups * size + ladder.groups[level][self.counts.codes[:, place]]
            number *= size
        _, groups = np.unique(groups, return_inverse=True)
        return groups, int(groups.max(initial=-1)) + 1


def _infeasible(models: Sequence[PrivacyModel], least: int, allowed: int) -> InfeasibleError:
    named = " and ".join(model.explain().rstrip(".") for model in models)
    return InfeasibleError(
        f"no generalisation meets the privacy models ({named}): at least {least} records would have to be suppressed, "
        f"{allowed} may be",
        advice="raise solve.suppression_limit, lower the demands, widen solve.levels or drop a quasi-identifier",
    )
