"""Local recoding: levels that differ from class to class."""

from shoal.solve.local_recoding.solver import solve_local

__all__ = ["solve_local"]
