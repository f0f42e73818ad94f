"""Solvers: counts, ladders and privacy models in, the least lossy transformation out. No record is ever seen."""

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
