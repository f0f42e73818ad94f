"""What a solver hands back."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Solution:
    levels: dict[str, int]
    loss: float
    objective: float
    optimal: bool
    nodes_total: int
    nodes_checked: int
    suppressed: int
    withheld: NDArray[np.bool_]
    """For each combination of the counts, whether its records are to be suppressed."""
    recoding: str = "global"
