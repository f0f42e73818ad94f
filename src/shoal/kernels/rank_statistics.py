"""How well one figure tells two groups apart: the area under its receiver operating characteristic."""

from __future__ import annotations

from math import sqrt

import numpy as np

from shoal.kernels.arrays import Floats


def area_under_curve(higher: Floats, lower: Floats) -> float:
    """The chance that somebody of the first group has the larger figure; ties count one half (Mann & Whitney 1947).

    >>> area_under_curve(np.array([3.0, 4.0]), np.array([1.0, 3.0]))
    0.875
    """
    ranked = np.sort(lower)
    below = np.searchsorted(ranked, higher, side="left")
    level = np.searchsorted(ranked, higher, side="right") - below
    return float((below + level / 2).mean() / len(lower))


def area_interval(area: float, higher: int, lower: int, z: float) -> tuple[float, float]:
    """So many standard errors around an area found in groups of these sizes (Hanley & McNeil 1982).

    >>> [round(end, 3) for end in area_interval(0.5, 1000, 1000, 1.96)]
    [0.475, 0.525]
    """
    first, second = area / (2 - area), 2 * area**2 / (1 + area)
    spread = area * (1 - area) + (higher - 1) * (first - area**2) + (lower - 1) * (second - area**2)
    half = z * sqrt(max(spread, 0.0) / (higher * lower))
    return max(0.0, area - half), min(1.0, area + half)
