"""Loss: the mean over all cells of (leaves under the released value − 1) ÷ (leaves − 1), attributes weighted."""

from __future__ import annotations

from typing import ClassVar

from shoal.kernels.arrays import Floats
from shoal.solve.ladder import Ladder
from shoal.solve.utility.separable import WeightedMean


class Loss(WeightedMean):
    key: ClassVar[str] = "loss"

    def cost(self, ladder: Ladder, level: int) -> Floats:
        return ladder.losses[level]
