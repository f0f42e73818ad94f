"""Single cells of risky combinations, suppressed or generalised; all others stay as they are."""

from shoal.solve.cells.solver import solve_cells, solve_rare

__all__ = ["solve_cells", "solve_rare"]
