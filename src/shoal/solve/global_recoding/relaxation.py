"""Below what no node can cost, where a lattice is too large for a proof: easier problems are solved instead, exactly.

Two things are made easier. *Fewer attributes*: with some attributes at the top, classes are unions of what they were,
so none falls below the minimum class that was above it: by that alone, nobody is suppressed who was not suppressed
before. A loss that is a mean over attributes is a mean of what groups of attributes lose, and no group loses less than
its own optimum. *Fewer levels*: neighbouring levels that differ little in what they lose are taken for one, which makes
classes as the highest of them does and costs what the lowest of them costs. Groups can be larger then.

Large groups say more than small ones, fine levels more than coarse ones, and which of the two counts for more depends
on the table. So it is tried in several ways while the work lasts, and the highest bound is taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import expm1, isfinite, log1p, prod

import numpy as np

from shoal.kernels.arrays import Floats, Integers
from shoal.privacy.models.k_anonymity import KAnonymity
from shoal.solve.global_recoding.budget import Budget
from shoal.solve.global_recoding.lattice_search import LatticeSearch
from shoal.solve.ladder import Ladder
from shoal.solve.problem import Problem
from shoal.solve.utility import make_utility

GROUP_NODES = 2_000_000
"""The largest lattice of a group."""
WIDTHS = (0.0, 0.2, 0.15, 0.1)
"""By how much the mean loss of levels may differ that are taken for one. What one leaves, others have."""
ROUNDING = 1e-9


def relaxed_bound(problem: Problem, utility: str, budget: Budget) -> float:
    """Zero where nothing is known."""
    people = problem.minimum_class.people
    if utility not in ("loss", "precision", "geometric_loss") or people < 2 or problem.population is not None:
        return 0.0
    bound, left = 0.0, budget.left
    for tries, width in enumerate(WIDTHS):
        given = left / (len(WIDTHS) - tries)
        work = Budget(given)
        bound = max(bound, _bound_by_groups(problem, utility, work, width))
        if isfinite(left):
            left -= given - work.left
    return bound


def _bound_by_groups(problem: Problem, utility: str, budget: Budget, width: float) -> float:
    if budget.spent:
        return 0.0
    ladders = [_with_fewer_levels(problem, utility, place, width) for place in range(len(problem.ladders))]
    geometric = utility == "geometric_loss"
    bound = 0.0
    for places in _groups(ladders):
        counts, _ = problem.counts.project(tuple(ladders[place].attribute for place in places))
        part = Problem(
            counts,
            [ladders[place] for place in places],
            [KAnonymity(k=problem.minimum_class.people)],
            suppression_limit=problem.suppression_limit,
        )
        search = LatticeSearch(part, make_utility("geometric_loss" if geometric else "loss", part))
        search.run(budget)
        bound += float(problem.weights[places].sum()) * (log1p(search.bound) if geometric else search.bound)
    return max(0.0, (expm1(bound) if geometric else bound) - ROUNDING)


def _with_fewer_levels(problem: Problem, utility: str, place: int, width: float) -> Ladder:
    """Level 0 stays beneath, as the values are, but is none that a node can have."""
    ladder = problem.ladders[place]
    values = np.bincount(problem.counts.codes[:, place], problem.counts.records, len(ladder.groups[0]))
    runs: list[tuple[int, int]] = []
    costs: list[Floats] = []
    for level in range(ladder.lowest, ladder.highest + 1):
        cost = np.full(len(values), level / ladder.height) if utility == "precision" else ladder.losses[level]
        if runs and float(((cost - costs[-1]) * values).sum()) <= width * problem.records:
            runs[-1] = (runs[-1][0], level)
        else:
            runs.append((level, level))
            costs.append(cost)
    groups = [ladder.groups[high] for _, high in runs]
    least = [_least_in_group(group, cost) for group, cost in zip(groups, costs, strict=True)]
    return replace(
        ladder,
        groups=(ladder.groups[0], *groups),
        losses=(ladder.losses[0], *least),
        lowest=1,
        starred=(),
        pooled=None,
    )


def _least_in_group(groups: Integers, cost: Floats) -> Floats:
    least = np.full(int(groups.max(initial=0)) + 1, np.inf)
    np.minimum.at(least, groups, cost)
    return least[groups]


def _groups(ladders: Sequence[Ladder]) -> list[list[int]]:
    """The attributes dealt, those with most values first, into as few groups of equal size as can be searched."""
    levels = [ladder.highest for ladder in ladders]
    order = sorted(range(len(ladders)), key=lambda place: (-len(ladders[place].groups[0]), place))
    for number in range(1, len(order) + 1):
        groups: list[list[int]] = [[] for _ in range(number)]
        for place in order:
            smallest = min(groups, key=lambda group: prod(levels[each] for each in group))
            smallest.append(place)
        if max(prod(levels[place] for place in group) for group in groups) <= GROUP_NODES:
            return groups
    return [[place] for place in order]
