"""What a solver minimises: one measure per file. Lower is better."""

from shoal.solve.utility.base import Utility, box, make_utility
from shoal.solve.utility.class_measures import Ambiguity, AverageClassSize, Discernibility
from shoal.solve.utility.entropy import Entropy
from shoal.solve.utility.loss_measures import GeometricLoss, Loss, Precision

__all__ = [
    "Ambiguity",
    "AverageClassSize",
    "Discernibility",
    "Entropy",
    "GeometricLoss",
    "Loss",
    "Precision",
    "Utility",
    "box",
    "make_utility",
]
