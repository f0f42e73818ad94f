"""What codes steer: measured on what the network draws, never on the data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from shoal.kernels.arrays import Floats, Integers

DRAWN: Final = 4096
"""Records that are drawn with each value of a code, to see what it steers."""
_TOLD: Final = 0.01
"""The least share of information that is worth a line."""


def steered(drawn: Sequence[Integers], sizes: Sequence[int]) -> dict[int, float]:
    """Of columns by their places: how much a code tells of each, as a share of all it could.

    For each value of the code, records that were drawn with it.
    """
    return {
        column: information(np.stack([np.bincount(one[:, column], minlength=size) for one in drawn]).astype(np.float64))
        for column, size in enumerate(sizes)
    }


def information(counts: Floats) -> float:
    """Of a table with a row for each value of a code: mutual information over the smaller of the two entropies.

    >>> information(np.array([[10.0, 0.0], [0.0, 10.0]])), information(np.array([[5.0, 5.0], [5.0, 5.0]]))
    (1.0, 0.0)
    """
    shares = counts / counts.sum()
    rows, columns = shares.sum(axis=1), shares.sum(axis=0)
    there = shares > 0
    told = float((shares[there] * np.log(shares[there] / np.outer(rows, columns)[there])).sum())
    most = min(_entropy(rows), _entropy(columns))
    return min(1.0, max(0.0, told / most)) if most > 1e-12 else 0.0


def _entropy(shares: Floats) -> float:
    there = shares[shares > 0]
    return float(-(there * np.log(there)).sum())


def told(names: Sequence[str], found: dict[int, float]) -> list[dict[str, Any]]:
    """For people: columns that a code steers, the strongest first."""
    order = sorted(found, key=lambda column: -found[column])
    return [{"column": names[one], "information": round(found[one], 3)} for one in order if found[one] >= _TOLD]
