"""The best grouping of sorted numbers into groups of at least k (Hansen and Mukherjee, 2003).

The loss of a grouping is SSE = Σ_groups Σ (x − mean of the group)². Some grouping of least loss consists of runs of the
sorted values, each k to 2k − 1 long (a longer one splits in two without loss). So with f(0) = 0

    f(i) = min over s = k … 2k − 1 of  f(i − s) + SSE(x[i−s], …, x[i−1])

f(n) is the least loss of all, and the lengths s that were chosen on the way lead back to the groups. f(i) needs nothing
nearer than f(i − k), so k positions are computed at once; O(n·k) in all.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from shoal.kernels.arrays import Floats, Integers

_CELLS = 1 << 20
"""Of the table of losses that is held at once."""


def optimal_runs(values: Floats, k: int) -> Integers:
    """Where each run begins in the sorted values, and their number at last. There are at least k.

    >>> optimal_runs(np.array([1.0, 2.0, 3.0, 20.0, 21.0, 22.0, 23.0]), 3).tolist()
    [0, 3, 7]
    """
    lengths = _lengths(values, k)
    ends = [len(values)]
    while ends[-1]:
        ends.append(ends[-1] - int(lengths[ends[-1]]))
    return np.array(ends[::-1], dtype=np.int64)


def _lengths(values: Floats, k: int) -> Integers:
    """For each number of values from the start, the length of the last run in their best grouping."""
    number, reach = len(values), 2 * k - 1
    # Entry i + reach is f(i); what lies before f(0) can't be reached.
    least = np.full(number + 1 + reach, np.inf)
    least[reach] = 0.0
    before = sliding_window_view(least, k)
    lengths = np.zeros(number + 1, dtype=np.int64)
    rows = max(1, _CELLS // (reach * k)) * k
    padded = np.concatenate((np.full(reach, values[0]), values))
    for start in range(k, number + 1, rows):
        losses = _losses(padded[start : min(start + rows, number + 1) - 1 + reach], k)
        for first in range(start, start + len(losses), k):
            # Only differences matter; near zero none of them is lost beside what the values before add up to.
            recent = least[first : first + reach]
            recent -= recent.min()
            total = before[first : first + k][: number + 1 - first] + losses[first - start : first - start + k]
            best = total.argmin(axis=1)
            lengths[first : first + len(best)] = best
            least[first + reach : first + reach + len(best)] = total.min(axis=1)
    return reach - lengths


def _losses(values: Floats, k: int) -> Floats:
    """SSE of each s values that end at one place, longest s first; the first place is the (2k − 1)th.

    Taken from the last of them, so that large numbers close to each other lose no digits.
    """
    reach = 2 * k - 1
    window = sliding_window_view(values, reach)[:, ::-1]
    gaps = window[:, :1] - window
    sums, squares = gaps.cumsum(axis=1)[:, k - 1 :], (gaps * gaps).cumsum(axis=1)[:, k - 1 :]
    return np.ascontiguousarray((squares - sums * sums / np.arange(k, reach + 1))[:, ::-1])


def join_runs(starts: Integers, people: Integers, k: int) -> Integers:
    """Runs joined to the next one until each has k people, the last to the one before it."""
    kept = [0]
    seen: set[int] = set()
    for first, end in pairwise(starts.tolist()):
        seen.update(people[first:end].tolist())
        if len(seen) >= k:
            kept.append(end)
            seen = set()
    kept[-1] = int(starts[-1])
    return np.array(kept, dtype=np.int64)
