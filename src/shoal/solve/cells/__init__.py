"""Single cells of risky combinations, suppressed or generalised; all others stay as they are."""

from shoal.solve.cells.solver import solve_cells, solve_rare
from shoal.solve.cells.wildcard_solver import solve_wildcards

__all__ = ["solve_cells", "solve_rare", "solve_wildcards"]
