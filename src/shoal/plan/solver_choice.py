"""Which solver a policy asks for."""

from __future__ import annotations

from dataclasses import replace

from shoal.errors import InfeasibleError, InputError
from shoal.policy import Solve
from shoal.privacy.models.k_anonymity import KAnonymity
from shoal.schema.progress import Progress
from shoal.solve import Problem, Solution, solve_lattice
from shoal.solve.decoys import fill_up
from shoal.solve.global_recoding.solver import lattice_size

QUICK = 300_000_000
"""Nodes × combinations up to which local recoding is compared with the optimum of global recoding: some seconds."""


def solve_by_policy(problem: Problem, wanted: Solve, progress: Progress | None = None) -> Solution:
    solution = _solve(problem, wanted, progress)
    return fill_up(problem, solution, wanted.decoys.limit) if wanted.decoys else solution


def _solve(problem: Problem, wanted: Solve, progress: Progress | None) -> Solution:
    for model in problem.models if wanted.recoding != "global" else ():
        if only := model.global_recoding_only:
            raise InputError(f"{model.key} {only.condition} goes with recoding: global only, or {only.remedy}")
    match wanted.recoding:
        case "global":
            return solve_lattice(problem, wanted.utility, time_limit=wanted.time_limit, progress=progress)
        case "local":
            return _local(problem, progress)
        case "cells":
            from shoal.solve import solve_cells, solve_wildcards

            by_stars = solve_wildcards if wanted.starred == "wildcard" else solve_cells
            return by_stars(problem, progress=progress)
        case "rare":
            from shoal.solve import solve_rare

            return solve_rare(problem, progress=progress)
        case "clustered":
            return _clustered(problem, progress)


def _local(problem: Problem, progress: Progress | None) -> Solution:
    """The heuristic's solution; one level for all where that loses less, or where the heuristic finds none."""
    from shoal.solve import solve_local

    try:
        found = solve_local(problem, progress=progress)
    except InfeasibleError:
        return replace(solve_lattice(problem, progress=progress), recoding="local", optimal=False)
    quick = lattice_size(problem) * problem.counts.size <= QUICK and all(model.local for model in problem.models)
    if not quick:
        return found
    try:
        one_level = solve_lattice(problem, progress=progress)
    except InfeasibleError:
        return found
    return found if found.loss <= one_level.loss else replace(one_level, recoding="local", optimal=False)


def _clustered(problem: Problem, progress: Progress | None) -> Solution:
    """The second level leaves clusters of half the size, so twice the k that is asked for goes in, if that can be."""
    from shoal.solve.clusters import solution_of, solve_clusters

    k = max(model.k for model in problem.models if isinstance(model, KAnonymity) and model.plain)
    twice = 2 * k <= problem.records
    return solution_of(problem, solve_clusters(problem, 2 * k if twice else k, second_level=twice, progress=progress))
