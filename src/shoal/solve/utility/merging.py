"""Measures of whole classes. Merging classes never makes them better, so a node bounds every node above it."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import numpy as np

from shoal.kernels.arrays import Integers, Mask
from shoal.solve.rollup import ClassTable
from shoal.solve.utility.base import Bounds, Utility, box_above


class Merging(Utility):
    bounds_above: ClassVar[bool] = True

    def start(self) -> Bounds:
        return np.zeros(self.shape)

    @property
    def all_suppressed(self) -> float:
        return float(self.records)

    @abstractmethod
    def at_least(self, table: ClassTable) -> float:
        """What this node and every node above it costs at least."""

    def tighten(self, bounds: Bounds, table: ClassTable, lost: Mask, trimmed: Integers | None) -> None:
        part = bounds[box_above(self.lowest, table.node)]
        np.maximum(part, self.at_least(table), out=part)
