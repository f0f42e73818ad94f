"""Average class size: records ÷ (kept classes, and one more if any record is suppressed)."""

from __future__ import annotations

from typing import ClassVar

from shoal.kernels.arrays import Mask
from shoal.solve.rollup import ClassTable
from shoal.solve.utility.merging import Merging


class AverageClassSize(Merging):
    key: ClassVar[str] = "average_class_size"

    def value(self, table: ClassTable, kept: Mask) -> float:
        there = table.records > 0
        classes = int((kept & there).sum()) + bool((~kept & there).any())
        return self.records / max(1, classes)

    def at_least(self, table: ClassTable) -> float:
        return self.records / (int((table.records > 0).sum()) + 1)
