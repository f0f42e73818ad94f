"""Where a quantile lies, from a noisy count of rows around the value that was chosen for it.

Around the chosen candidate of the grid lie cells that double in width: one candidate, then one on each side, two, four
and so on. Their numbers of rows get noise; a row is in one cell, so all cells together cost as much as one. For a point
x let T(x) = (1 − q) · rows below x − q · rows above x: it is nought at the quantile and grows with x. T is a weighted
sum of the noisy counts, so how far noise may move it is known exactly, whatever the data. The interval begins with the
first cell at whose inner edge T may be nought, and ends with the last one. How rows are spread within a cell is never
guessed: the whole cell is taken, since they may all stand at one point, as rounded numbers do.

An end passes over the true quantile only if noise moves T that far at one edge, the first beyond the quantile. The
interval always holds the chosen value as well, so it misses only by the end on whose side of the quantile that value
lies: one of the two. So it misses in no more cases than noise is allowed, on any table. Noise comes in whole rows,
which matters where there is little of it: half of what a row can move T is added to the distance.

Noise is allowed 6.5 % where an interval may miss in 5 %, so that 95 % means 93.5 % on the worst table; no table was
looked at to choose that. Mostly it is more than 95 %: an end also holds where noise spares T at any edge before, and
where few values are shared by many rows the value that is chosen is often the quantile itself. Where rows are spread
out, 95 to 98.5 % were measured; where they are heaped, 93.8 to 100 %.
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
BY_NOISE: Final = 1.3
"""Cases in which noise may pass over the quantile at one edge, to those in which an interval may miss: 6.5 % to 5 %."""
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
    reach = float(ndtri(1 - BY_NOISE * (1 - confidence))) * noise.standard_error * spread + quantile.weight / 2
    return _passed(edges, slope + reach), -_passed(-edges[::-1], (reach - slope)[:, ::-1])


def _passed(edges: Edges, values: Edges) -> Edges:
    """The edge before the first at which a value is nought or more; the last one where none is."""
    found = values >= 0
    first = np.where(found.any(axis=1), found.argmax(axis=1), len(edges))
    before: Edges = edges[np.maximum(first - 1, 0)]
    return before
