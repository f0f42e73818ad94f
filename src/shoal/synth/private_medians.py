"""Ranges that hold about as many records each, cut at medians that are chosen with noise.

For columns of which a histogram shows nothing, since too few records are in any range to stand out of the noise. One
choice halves the records, the next ones the halves, and so on; at last both ends are looked for. A median is found by
all records of its part together, so it takes far fewer of them than a range that has to be seen by itself.

What a person can change. An edge e of a part scores −|records below e − records from e on|, which a record more moves
by 1 at most; an end scores less the number of records beyond it, the same; what else is taken off is public. Parts of
one level share no record: of a person's r records rᵢ are in part i, which costs ρ·Σ(rᵢ/r)² ≤ ρ of the level together.
Levels add up, and so do the ends, which are one level more. Edges that are offered, and how many levels there are,
follow from public numbers, from earlier choices and from noisy counts. All choices are OpenDP's (the exponential
mechanism in zCDP).

>>> halved(np.arange(1_000), (0, 2**61), MedianBudget(rho=200.0, levels=2))
[(0, 256), (257, 511), (512, 767), (768, 1023)]
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from shoal.dp.opendp_measurements import ConcentratedChoice
from shoal.kernels.arrays import Integers

Ranges = list[tuple[int, int]]
"""From the lowest, both ends within."""
_OCTAVES: Final = 61
_STEPS: Final = 2
"""Edges that are offered for each doubling, …"""
_EVENLY: Final = 16
"""… and those at equal distances, for what lies far from nought."""
_NEAREST, _FARTHEST = 8, 3
"""Halvings and doublings of a median at which those beside it are looked for."""
_WIDER: Final = 1.0
"""Records, in units of the noise, that have to be gained for a range at the end to be twice as wide."""
_DOUBLINGS: Final = 24
_FARNESS: Final = 0.1
"""What an edge loses, in units of the noise, for each doubling that it is from nought: where nothing else tells edges
apart, small numbers are likelier than astronomic ones."""


@dataclass(frozen=True)
class MedianBudget:
    rho: float
    levels: int
    rows_per_person: int = 1

    @property
    def choice(self) -> ConcentratedChoice:
        """One for all parts of a level."""
        return ConcentratedChoice(self.rows_per_person, self.rho / (self.levels + 1))


def halved(values: Integers, ends: tuple[int, int], budget: MedianBudget) -> Ranges:
    """About 2^levels ranges of numbers within the public ``ends``; fewer where many records have the same number."""
    ordered, choice = np.sort(values), budget.choice
    ranges = [ends]
    for _ in range(budget.levels):
        offered = [_edges(one, ends) for one in ranges]
        ranges = [
            part for one, edges in zip(ranges, offered, strict=True) for part in _cut(ordered, one, edges, choice)
        ]
    return _with_ends(ordered, ranges, choice)


def _cut(ordered: Integers, part: tuple[int, int], edges: Integers, choice: ConcentratedChoice) -> Ranges:
    first, last = part
    if not len(edges):
        return [part]
    begin, until = np.searchsorted(ordered, [first, last + 1])
    below = np.searchsorted(ordered[begin:until], edges)
    apart = np.abs(2 * below - (until - begin))
    farness = np.rint(_FARNESS * choice.scale * np.log2(1.0 + np.abs(edges))).astype(np.int64)
    edge = int(edges[choice.chosen(-(apart + farness))])
    return [(first, edge - 1), (edge, last)]


def _edges(part: tuple[int, int], ends: tuple[int, int]) -> Integers:
    """Where a part may be cut: before each of these numbers. Few where one of its ends is still far out."""
    first, last = part
    is_open = first == ends[0], last == ends[1]
    if is_open == (False, True):
        offered = _beyond(first)
    elif is_open == (True, False):
        offered = {1 - edge for edge in _beyond(-last)}
    else:
        offered = _DOUBLING | {first + _size(part) * place // _EVENLY for place in range(1, _EVENLY)}
    return np.array(sorted(edge for edge in offered if first < edge <= last), dtype=np.int64)


def _beyond(edge: int) -> set[int] | frozenset[int]:
    """Above a number that is a median of others: at distances of its own size, halved and doubled, and towards nought.

    What is as far from nought as others is rarely a million times as far: to offer less is to choose better.
    """
    size = abs(edge)
    if size <= 1:
        return _DOUBLING
    near = {edge + max(1, int(size * 2.0**power)) for power in range(-_NEAREST, _FARTHEST + 1)}
    return near | {edge // 2**power for power in range(1, _NEAREST)}


def _doubling() -> frozenset[int]:
    above = {2**power + 2**power * step // _STEPS for power in range(_OCTAVES) for step in range(_STEPS)}
    return frozenset({0, 1} | above | {1 - edge for edge in above})


_DOUBLING: Final = _doubling()


def _with_ends(ordered: Integers, ranges: Ranges, choice: ConcentratedChoice) -> Ranges:
    """The outermost ranges, as wide as their neighbours or so many times twice as wide; what lies beyond is theirs."""
    if len(ranges) < 2:
        return ranges
    (first, below), (above, last) = ranges[0], ranges[-1]
    lower = below + 1 - _reach(np.sort(below - ordered[ordered <= below]), below - first + 1, _size(ranges[1]), choice)
    upper = above - 1 + _reach(ordered[ordered >= above] - above, last - above + 1, _size(ranges[-2]), choice)
    return [(lower, below), *ranges[1:-1], (above, upper)]


def _reach(distances: Integers, most: int, beside: int, choice: ConcentratedChoice) -> int:
    """How many numbers a range at the end has, by how far its records are from where it begins, in rising order."""
    widths = [min(most, beside * 2**power) for power in range(_DOUBLINGS)]
    offered = np.array(sorted(set(widths)), dtype=np.int64)
    beyond = len(distances) - np.searchsorted(distances, offered)
    worth = max(1, round(_WIDER * choice.scale)) * np.arange(len(offered))
    return int(offered[choice.chosen(-(beyond + worth))])


def _size(part: tuple[int, int]) -> int:
    return part[1] - part[0] + 1
