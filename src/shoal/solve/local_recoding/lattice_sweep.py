"""Classes by sweeping the generalisation lattice once, from the cheapest node upwards.

At every node the combinations that are still free fall into groups; the groups that hold become classes and leave. So
each combination goes with the first company it can have, and a class of node v holds nobody that a cheaper node could
have served. This is one sort of the free combinations per node, and they become few very soon.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, prod

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.arrays import Floats, Integers, Mask
from shoal.schema.progress import Progress
from shoal.solve.local_recoding.admissible_classes import ClassAdmission
from shoal.solve.local_recoding.class_trimming import Trimmer
from shoal.solve.problem import Problem

Node = tuple[int, ...]

NODES = 8192
"""How many of the cheapest nodes are swept; what is then still free climbs."""
CLIMBS = 4
DECLINE, SLOW_DECLINE = 16, 2
"""How many times fewer combinations are free on average than at the start: by size alone, and with other models."""
WORK_PER_COMBINATION = 300
WORK = 10_000_000
"""Positions sorted in all, over all nodes; beyond it nodes are left out, evenly over what remains."""


class Sweep:
    def __init__(self, problem: Problem, judge: ClassAdmission) -> None:
        self.problem = problem
        self.judge = judge
        self.trimmer = Trimmer(judge, judge.shaped) if judge.shaped else None
        self.member = np.full(problem.counts.size, -1, dtype=np.int64)
        self.number = 0
        self.visited = 0
        self.swept = 0
        """How many of the classes were found among the cheapest nodes; the others by climbing."""
        self.costs = node_costs(problem)
        self.total = prod(len(cost) for cost in self.costs)
        self._sizes = [[ladder.size(level) for level in range(ladder.highest + 1)] for ladder in problem.ladders]
        self._keep(np.arange(problem.counts.size))

    def run(self, progress: Progress | None = None) -> None:
        """Gives classes to as many combinations as find company; ``member`` is −1 for the others."""
        nodes = cheapest_nodes(self.costs, NODES)
        work = float(WORK_PER_COMBINATION * self.problem.counts.size + WORK)
        decline = DECLINE if self.judge.by_size else SLOW_DECLINE
        at = 0
        while at < len(nodes) and len(self.free):
            self.visit(self._lowest(nodes[at]))
            work -= len(self.free)
            if progress:
                progress(at + 1, len(nodes))
            ahead = len(self.free) * (len(nodes) - at) / decline
            at += max(1, ceil(ahead / max(work, 1.0)))
        self.swept = self.number
        if len(nodes) < self.total:
            self._climb()
        if progress:
            progress(len(nodes), len(nodes))

    def visit(self, node: Sequence[int]) -> None:
        """Makes classes of the groups that hold at a node."""
        self.visited += 1
        order, group, number = self._groups(node)
        chosen = self.free[order]
        large = self.judge.large(chosen, group, number)
        if not large.any():
            return
        here = large[group]
        place = np.cumsum(large) - 1
        order, chosen, group, number = order[here], chosen[here], place[group[here]], int(large.sum())
        taken = self._taken(chosen, group, number)
        if not taken.any():
            return
        self._found(chosen[taken], group[taken], number)
        stay = np.ones(len(self.free), dtype=bool)
        stay[order[taken]] = False
        self._keep(self.free[stay])

    def _taken(self, chosen: Integers, group: Integers, number: int) -> Mask:
        """Which of the combinations in large groups find company."""
        if self.judge.by_size:
            return np.ones(len(chosen), dtype=bool)
        if self.trimmer is None:
            return self.judge.holds(chosen, group, number)[group]
        return self.trimmer.part(chosen, group, number)

    def _found(self, chosen: Integers, group: Integers, number: int) -> None:
        present = np.zeros(number, dtype=bool)
        present[group] = True
        self.member[chosen] = self.number + (np.cumsum(present) - 1)[group]
        self.number += int(present.sum())

    def _keep(self, free: Integers) -> None:
        self.free = free
        codes = self.problem.counts.codes
        self._codes = [codes[free, place].astype(np.intp) for place in range(len(self.problem.ladders))]

    def _groups(self, node: Sequence[int]) -> tuple[Integers, Integers, int]:
        """The free combinations sorted by their group at a node, and the group of each, from 0."""
        size = len(self.free)
        key = np.zeros(size, dtype=np.int64)
        reach = 1
        for place, (ladder, level) in enumerate(zip(self.problem.ladders, node, strict=True)):
            groups = self._sizes[place][level]
            if groups == 1:
                continue
            if reach * groups >= 1 << 62:
                key = np.unique(key, return_inverse=True)[1]
                reach = size
            key *= groups
            key += ladder.groups[level][self._codes[place]]
            reach *= groups
        order, sorted_keys = _sorted(key, reach)
        new = np.empty(size, dtype=bool)
        new[:1] = True
        np.not_equal(sorted_keys[1:], sorted_keys[:-1], out=new[1:])
        group = np.cumsum(new) - 1
        return order, group, int(group[-1]) + 1

    def _climb(self) -> None:
        """Where the lattice is too large to sweep: raise, again and again, the attribute that pays best."""
        for _ in range(CLIMBS):
            before = len(self.free)
            node = [ladder.lowest for ladder in self.problem.ladders]
            while len(self.free) and (raised := self._best_raise(node)) is not None:
                node = raised
                self.visit(node)
            if len(self.free) in {0, before}:
                return

    def _best_raise(self, node: list[int]) -> list[int] | None:
        best: tuple[float, list[int]] | None = None
        for place, ladder in enumerate(self.problem.ladders):
            if node[place] == ladder.highest:
                continue
            raised = [*node[:place], node[place] + 1, *node[place + 1 :]]
            order, group, number = self._groups(raised)
            chosen = self.free[order]
            served = self.problem.counts.records[chosen] @ self.judge.large(chosen, group, number)[group]
            paid = self.costs[place][raised[place] - ladder.lowest] - self.costs[place][node[place] - ladder.lowest]
            worth = (served + 1) / max(paid, 1e-9)
            if best is None or worth > best[0]:
                best = (worth, raised)
        return None if best is None else best[1]

    def _lowest(self, steps: Sequence[int]) -> Node:
        return tuple(ladder.lowest + int(step) for ladder, step in zip(self.problem.ladders, steps, strict=True))


def node_costs(problem: Problem) -> list[Floats]:
    """Per attribute, from its lowest level up, what the whole table would lose on each level."""
    counts = problem.counts
    costs = []
    for place, ladder in enumerate(problem.ladders):
        records = np.bincount(counts.codes[:, place], weights=counts.records, minlength=len(ladder.losses[0]))
        lost = [float(losses @ records) for losses in ladder.losses[ladder.lowest :]]
        costs.append(np.array(lost) * problem.weights[place] / max(1, problem.records))
    return costs


def cheapest_nodes(costs: Sequence[Floats], most: int) -> NDArray[np.int8]:
    """The cheapest nodes in the order of their cost, as steps above the lowest level.

    The cheapest sums of all attributes have prefixes among the cheapest sums of the first ones, so that no more than
    ``most`` prefixes are ever kept.

    >>> cheapest_nodes([np.array([0, 0.5]), np.array([0, 0.2, 0.9])], 4).tolist()
    [[0, 0], [0, 1], [1, 0], [1, 1]]
    """
    sums, nodes = np.zeros(1), np.zeros((1, 0), dtype=np.int8)
    for cost in costs:
        sums = (sums[:, None] + cost).reshape(-1)
        steps = np.tile(np.arange(len(cost), dtype=np.int8), len(nodes))
        nodes = np.column_stack((np.repeat(nodes, len(cost), axis=0), steps))
        order = np.argsort(sums, kind="stable")[:most]
        sums, nodes = sums[order], nodes[order]
    return nodes


def _sorted(key: Integers, reach: int) -> tuple[Integers, Integers]:
    """The order that sorts keys below ``reach``, and the keys in it; the position rides along where it fits."""
    bits = len(key).bit_length()
    if reach.bit_length() + bits > 62:
        order = np.argsort(key, kind="stable")
        return order, key[order]
    packed = (key << bits) | np.arange(len(key))
    packed.sort()
    return packed & ((1 << bits) - 1), packed >> bits
