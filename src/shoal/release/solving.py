"""Which solver a policy asks for."""

from __future__ import annotations

from collections.abc import Callable

from shoal.policy import Solve
from shoal.privacy.k_anonymity import KAnonymity
from shoal.solve import Problem, Solution, solve_cells, solve_lattice, solve_local, solve_rare
from shoal.solve.clusters import solution_of, solve_clusters
from shoal.solve.decoys import fill_up

Progress = Callable[[int, int], None]


def solve(problem: Problem, wanted: Solve, progress: Progress | None = None) -> Solution:
    solution = _solve(problem, wanted, progress)
    return fill_up(problem, solution, wanted.decoys.limit) if wanted.decoys else solution


def _solve(problem: Problem, wanted: Solve, progress: Progress | None) -> Solution:
    match wanted.recoding:
        case "global":
            return solve_lattice(problem, wanted.utility, time_limit=wanted.time_limit, progress=progress)
        case "local":
            return solve_local(problem, progress=progress)
        case "cells":
            return solve_cells(problem, progress=progress)
        case "rare":
            return solve_rare(problem, progress=progress)
        case "clustered":
            return _clustered(problem)


def _clustered(problem: Problem) -> Solution:
    """The second level leaves clusters of half the size, so twice the k that is asked for goes in, if that can be."""
    k = max(model.k for model in problem.models if isinstance(model, KAnonymity) and not model.attributes)
    twice = 2 * k <= problem.records
    return solution_of(problem, solve_clusters(problem, 2 * k if twice else k, second_level=twice))
