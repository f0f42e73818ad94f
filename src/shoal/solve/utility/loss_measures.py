"""Losses by how much of an attribute's domain a released cell stands for.

- *loss*: the mean over all cells of (leaves under the released value − 1) ÷ (leaves − 1), attributes weighted.
- *geometric loss*: per attribute the summed share of leaves, scaled so that untouched data give 0 and all-suppressed 1,
  cut to ten decimals; then the geometric mean of these, shifted by one. This is what ARX minimises by default.
- *precision*: the mean over all cells of level ÷ height of the hierarchy (Sweeney's Prec is one minus this).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from shoal.kernels.arrays import Floats
from shoal.solve.ladder import Ladder
from shoal.solve.utility.separable import Separable

DECIMALS = 1e10


class _Mean(Separable):
    """The weighted mean of the cells' costs."""

    def combine(self, sums: Sequence[Floats]) -> Floats:
        total: Floats = np.zeros(())
        # From the last axis to the first, so that what is there already lies in one piece.
        for weight, lost in zip(self.problem.weights[::-1], sums[::-1], strict=True):
            total = total + lost * (weight / self.records)
        return total


class Loss(_Mean):
    key: ClassVar[str] = "loss"

    def cost(self, ladder: Ladder, level: int) -> Floats:
        return ladder.losses[level]


class Precision(_Mean):
    key: ClassVar[str] = "precision"

    def cost(self, ladder: Ladder, level: int) -> Floats:
        return np.full(len(ladder.groups[0]), level / ladder.height)


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
