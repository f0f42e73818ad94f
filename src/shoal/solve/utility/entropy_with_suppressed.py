"""Non-uniform entropy, and the entropy of the generalised values among the suppressed records."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from shoal.kernels.arrays import Floats, Mask
from shoal.solve.rollup import ClassTable
from shoal.solve.utility.entropy import Entropy


class EntropyWithSuppressed(Entropy):
    key: ClassVar[str] = "entropy_with_suppressed"

    def value(self, table: ClassTable, kept: Mask) -> float:
        records = np.where(kept, 0, table.records).astype(np.float64)
        hidden = [_bits(np.asarray(np.bincount(codes, weights=records), dtype=np.float64)) for codes in table.codes]
        return super().value(table, kept) + float(self._weighted(hidden))

    def _weighted(self, bits: Sequence[float]) -> Floats:
        return np.asarray(np.dot(self.problem.weights * len(bits), bits) if bits else 0.0)


def _bits(counted: Floats) -> float:
    there = counted[counted > 0]
    return float((there * np.log2(there.sum() / there)).sum()) if len(there) else 0.0
