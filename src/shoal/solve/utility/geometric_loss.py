"""Geometric loss: what ARX minimises by default.

Per attribute the summed share of leaves, scaled so that untouched data give 0 and all-suppressed 1, cut to ten
decimals; then the geometric mean of these, shifted by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from shoal.kernels.arrays import Floats
from shoal.solve.ladder import Ladder
from shoal.solve.utility.separable import Separable

DECIMALS = 1e10


class GeometricLoss(Separable):
    key: ClassVar[str] = "geometric_loss"

    def cost(self, ladder: Ladder, level: int) -> Floats:
        return ladder.share(level)

    def combine(self, sums: Sequence[Floats]) -> Floats:
        total: Floats = np.ones(())
        for weight, ladder, lost in zip(self.problem.weights, self.problem.ladders, sums, strict=True):
            least = self.records / ladder.leaves
            scaled = (lost - least) / (self.records - least) if ladder.leaves > 1 else lost / self.records
            cut = np.floor(np.maximum(scaled, 0.0) * DECIMALS) / DECIMALS
            total = total * (cut + 1.0) ** weight
        return total - 1.0
