"""Noisy counts made counts again: none is below nought, and all add up to what they should."""

from __future__ import annotations

import numpy as np

from shoal.kernels.arrays import Floats


def on_simplex(counts: Floats, total: float) -> Floats:
    """The nearest numbers from nought on that have this sum: all are lowered alike, and cut at nought.

    Cutting alone would add up the noise of all cells in which nobody is.

    >>> on_simplex(np.array([50.0, 7.0, -3.0, 3.0]), 50.0).tolist()
    [46.5, 3.5, 0.0, 0.0]
    """
    if not len(counts) or total <= 0:
        return np.zeros_like(counts)
    falling = np.sort(counts)[::-1]
    lowered = (np.cumsum(falling) - total) / np.arange(1, len(counts) + 1)
    by = lowered[np.flatnonzero(falling > lowered)[-1]]
    found: Floats = np.maximum(counts - by, 0.0)
    return found
