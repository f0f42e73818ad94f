"""Solvers: counts, ladders and privacy models in, the least lossy transformation out. No record is ever seen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shoal.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from shoal.solve.cells import solve_cells, solve_rare, solve_wildcards
    from shoal.solve.global_recoding.solver import solve_lattice
    from shoal.solve.ladder import Ladder, build_ladder
    from shoal.solve.local_recoding import solve_local
    from shoal.solve.problem import Problem, SensitiveAttribute, SensitiveCounts, build_problem
    from shoal.solve.solution import Solution

__all__ = [
    "Ladder",
    "Problem",
    "SensitiveAttribute",
    "SensitiveCounts",
    "Solution",
    "build_ladder",
    "build_problem",
    "solve_cells",
    "solve_lattice",
    "solve_local",
    "solve_rare",
    "solve_wildcards",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "Ladder": "shoal.solve.ladder",
        "Problem": "shoal.solve.problem",
        "SensitiveAttribute": "shoal.solve.problem",
        "SensitiveCounts": "shoal.solve.problem",
        "Solution": "shoal.solve.solution",
        "build_ladder": "shoal.solve.ladder",
        "build_problem": "shoal.solve.problem",
        "solve_cells": "shoal.solve.cells",
        "solve_lattice": "shoal.solve.global_recoding.solver",
        "solve_local": "shoal.solve.local_recoding",
        "solve_rare": "shoal.solve.cells",
        "solve_wildcards": "shoal.solve.cells",
    },
)
