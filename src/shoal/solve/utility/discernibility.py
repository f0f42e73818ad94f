"""Discernibility (Bayardo and Agrawal 2005): Σ |class|², suppressed classes counted like the others."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from shoal.kernels.arrays import Mask
from shoal.solve.rollup import ClassTable
from shoal.solve.utility.merging import Merging


class Discernibility(Merging):
    key: ClassVar[str] = "discernibility"

    def value(self, table: ClassTable, kept: Mask) -> float:
        return self.at_least(table)

    def at_least(self, table: ClassTable) -> float:
        sizes = table.records.astype(np.float64)
        return float((sizes * sizes).sum())
