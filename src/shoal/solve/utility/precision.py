"""Precision: the mean over all cells of level ÷ height of the hierarchy (Sweeney's Prec is one minus this)."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from shoal.kernels.arrays import Floats
from shoal.solve.ladder import Ladder
from shoal.solve.utility.separable import WeightedMean


class Precision(WeightedMean):
    key: ClassVar[str] = "precision"

    def cost(self, ladder: Ladder, level: int) -> Floats:
        return np.full(len(ladder.groups[0]), level / ladder.height)
