"""Global recoding: which search a lattice gets, by its size, and for how long.

Up to ``MOST_NODES`` nodes the exact search (``search``); if it has to end early it is handed what the step by step
search finds, so that it is never worse than that. Beyond, after levels that can't be part of any solution are left out,
the step by step search alone (``descent``), with a bound of its own (``relaxation``).
"""

from __future__ import annotations

from dataclasses import replace
from math import prod

from shoal.schema.progress import Progress
from shoal.solve.blas_threads import one_blas_thread
from shoal.solve.global_recoding.budget import Budget
from shoal.solve.global_recoding.descent import Descent, raise_lowest
from shoal.solve.global_recoding.lattice_search import LatticeSearch
from shoal.solve.global_recoding.relaxation import relaxed_bound
from shoal.solve.problem import Problem
from shoal.solve.solution import Solution
from shoal.solve.utility import make_utility

MOST_NODES = 10_000_000
"""Nodes that the exact search keeps bounds for; larger lattices are made smaller first, or searched downhill."""
MOST_SECONDS = 600.0
"""After so much work the exact search ends with the best so far, if the policy sets no limit."""
LARGE_SECONDS = 60.0
"""The same for the step by step search."""
BOUND_SECONDS = 20.0
"""The most work that goes into the bound of a lattice too large for the exact search."""


@one_blas_thread
def solve_lattice(
    problem: Problem,
    utility: str = "loss",
    *,
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> Solution:
    """The best node; within a limit the best so far, said not to be optimal, unless it was proven by then.

    The limit is in seconds as ``Budget`` counts them, so that equal problems have equal solutions.
    """
    total, smaller = lattice_size(problem), problem
    if total > MOST_NODES:
        smaller = raise_lowest(problem)
    if lattice_size(smaller) > MOST_NODES:
        descent = _descended(smaller, utility, time_limit, progress)
        work = Budget.of_seconds(min(BOUND_SECONDS, time_limit or BOUND_SECONDS))
        return descent.solution(total, relaxed_bound(smaller, utility, work))
    search = LatticeSearch(smaller, make_utility(utility, smaller), progress)
    search.run(Budget.of_seconds(MOST_SECONDS if time_limit is None else time_limit))
    looks = 0
    if not search.proven:
        descent = _descended(smaller, utility, time_limit, progress)
        looks = len(descent.looked)
        if descent.best is not None:
            search.consider(descent.best)
    found = search.solution()
    return replace(found, nodes_total=total, nodes_checked=min(total, found.nodes_checked + looks))


def lattice_size(problem: Problem) -> int:
    return prod(ladder.highest - ladder.lowest + 1 for ladder in problem.ladders)


def _descended(problem: Problem, utility: str, time_limit: float | None, progress: Progress | None) -> Descent:
    descent = Descent(
        problem, utility, Budget.of_seconds(LARGE_SECONDS if time_limit is None else time_limit), progress
    )
    descent.run()
    return descent
