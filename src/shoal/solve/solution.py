"""What a solver hands back."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.arrays import Integers, Mask


@dataclass(frozen=True)
class Solution:
    levels: dict[str, int]
    """Per quasi-identifier, the level of all its cells; where they differ, the highest that occurs."""
    loss: float
    objective: float
    optimal: bool
    nodes_total: int
    nodes_checked: int
    suppressed: int
    withheld: Mask
    """For each combination of the counts, whether its records are to be suppressed."""
    recoding: str = "global"
    bound: float | None = None
    """No transformation of this kind has a lower objective, where that is proven."""
    cells: NDArray[np.int8] | None = None
    """Per combination and quasi-identifier, the level of that cell; None where ``levels`` says it all."""
    filling: Integers | None = None
    """For each combination, how many decoys are released that look like its records; None where there are none."""

    @property
    def decoys(self) -> int:
        """How many invented records there are; nobody is to know which."""
        return 0 if self.filling is None else int(self.filling.sum())
