"""Where a quantile lies, from a noisy count of rows around the value that was chosen for it.

Around the chosen candidate of the grid lie cells that double in width: one candidate, then one on each side, two, four
and so on. Their numbers of rows get noise; a row is in one cell, so all cells together cost as much as one. For a point
x let T(x) = (1 − q) · rows below x − q · rows above x: it is nought at the quantile and grows with x. T is a weighted
sum of the noisy counts, so how far noise may move it is known exactly, whatever the data. The interval holds the points
at which nought is not ruled out: up to where T is surely negative (or positive). An end passes over the true quantile
only if T is that far off there, in 5 % of cases. The interval always holds the chosen value as well, so it misses only
by the end on whose side of the quantile that value lies: one of the two, hence in 5 % of cases in all, and in fewer
where the value is the quantile itself. Within a cell, rows are taken to be spread evenly; where the next cell inwards
is much emptier they may not be, and the whole cell is taken. Rows that are not spread evenly cost one case in a hundred
or two (measured on even, skewed and gapped tables), so noise is allowed four fifths of the cases.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from shoal.dp.opendp_measurements import Noise
from shoal.dp.statistics import QuantileStatistic

Edges = NDArray[np.float64]
EMPTIER: Final = 0.25
"""Rows to a step, as a share of those in the next cell outwards."""
BY_NOISE: Final = 0.8
"""Of the cases in which an interval may miss, the share that is left to noise."""
HALF: Final = 0.5
"""A candidate's rows lie within half a step around it."""


@lru_cache(maxsize=4096)
def edges_around(chosen: int, candidates: int) -> Edges:
    """In steps of the grid.

    >>> edges_around(3, 9).tolist()
    [-0.5, 1.5, 2.5, 3.5, 4.5, 6.5, 8.5]
    """
    reach, far = [], HALF
    while far < candidates:
        reach.append(far)
        far = 2 * far + HALF
    distances = np.asarray(reach)
    inner = np.concatenate([chosen - distances, chosen + distances])
    ends = [-HALF, candidates - HALF]
    return np.unique(np.concatenate([inner[(inner > ends[0]) & (inner < ends[1])], ends]))


def cell_counts(counts: NDArray[np.int64], edges: Edges) -> NDArray[np.int64]:
    """By group, from the rows at each candidate."""
    sums = np.concatenate([np.zeros((len(counts), 1), dtype=np.int64), np.cumsum(counts, axis=1)], axis=1)
    return np.diff(sums[:, (edges + HALF).astype(np.int64)], axis=1)


def interval(
    quantile: QuantileStatistic, edges: Edges, cells: Edges, noise: Noise, confidence: float
) -> tuple[Edges, Edges]:
    """Lower and upper ends by group, in steps of the grid, from the noisy rows in each cell."""
    share, whole = quantile.fraction.numerator, quantile.fraction.denominator
    below = np.concatenate([np.zeros((len(cells), 1)), np.cumsum(cells, axis=1)], axis=1)
    slope = (whole - share) * below - share * (below[:, -1:] - below)
    number = np.arange(len(edges))
    spread = np.sqrt((whole - share) ** 2 * number + share**2 * (len(edges) - 1 - number))
    reach = float(ndtri(1 - BY_NOISE * (1 - confidence))) * noise.standard_error * spread
    low = _crossing(edges, slope + reach, cells)
    high = -_crossing(-edges[::-1], -(slope - reach)[:, ::-1], cells[:, ::-1])
    return low, high


def _crossing(edges: Edges, values: Edges, rows: Edges) -> Edges:
    """Where values, which rise but for noise, pass nought: between the first and the last time that they do."""
    risen = np.maximum.accumulate(values, axis=1)
    risen = (risen + np.minimum.accumulate(values[:, ::-1], axis=1)[:, ::-1]) / 2
    passed = np.where((risen >= 0).any(axis=1), (risen >= 0).argmax(axis=1), len(edges) - 1)
    group, outer = np.arange(len(values)), np.maximum(passed - 1, 0)
    before, after = risen[group, outer], risen[group, passed]
    dense = rows / np.diff(edges)
    inner = np.minimum(passed, rows.shape[1] - 1)
    emptier = (passed < rows.shape[1]) & (dense[group, inner] < EMPTIER * dense[group, outer])
    part = np.where(emptier | (before >= 0), 0.0, -before / np.where(after > before, after - before, 1.0))
    found = edges[outer] + np.minimum(part, 1.0) * (edges[passed] - edges[outer])
    return np.where((passed == 0) | (after < 0), edges[passed], found)
