"""Solvers: counts, ladders and privacy models in, the least lossy transformation out. No record is ever seen."""

from shoal.solve.ladder import Ladder, build_ladder
from shoal.solve.lattice import solve_lattice
from shoal.solve.solution import Solution

__all__ = ["Ladder", "Solution", "build_ladder", "solve_lattice"]
