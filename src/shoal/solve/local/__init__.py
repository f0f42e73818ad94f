"""Local recoding: levels that differ from class to class."""

from shoal.solve.local.solver import solve_local

__all__ = ["solve_local"]
