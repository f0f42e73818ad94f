"""What a solver minimises: one measure per file, each registers itself under its name. Lower is better."""

from shoal.solve.utility.base import Utility, box, make_utility, utilities

__all__ = ["Utility", "box", "make_utility", "utilities"]
