"""Discrete Gaussian noise in bulk: millions of whole numbers, from secret random words by comparisons alone.

OpenDP draws one number in some 25 µs, which is right for answers and too slow for training, where every weight gets
noise in every step. Here a number is found in a table of cumulative probabilities of 128 bits, in under half a
microsecond:

- the table is computed in whole numbers (256 bits) from exp(−k² / 2s²) for s = 1024, up to 14 s;
- two draws K, L of it make 256·K + L, which is a discrete Gaussian of scale s·√(256² + 1) again: L spreads over four
  steps of 256·K, so what is lost is below exp(−2π² · 4²) in relation (Micciancio, Peikert 2013).

No floating-point number is involved, so nothing of what Mironov (2012) reads out of noise is there. All draws together
are no further from true ones than ``distance`` of their number, which belongs to δ.
"""

from __future__ import annotations

from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from shoal.errors import BugError
from shoal.randomness import Randomness, Stream

_SCALE: Final = 1024
_REACH: Final = 14 * _SCALE
_STEP: Final = 256
_BITS: Final = 256
SCALE: Final = float(_SCALE * np.sqrt(_STEP**2 + 1))
"""The standard deviation of the noise, in steps of its grid."""


def distance(draws: int) -> float:
    """The statistical distance of so many draws from true ones: rounding of the tables and their cut tails.

    >>> distance(2**31) < 2.0**-79
    True
    """
    return draws * 2 * (2.0**-112 + 2.0**-139)


class BulkGaussian:
    """A source of noise that no seed can repeat."""

    def __init__(self, randomness: Randomness) -> None:
        if randomness.seeded:
            raise BugError("noise that protects people was to be drawn from a seed")
        self._stream = randomness.stream("dp", "bulk gaussian")
        self._drawn = 0

    def draw(self, size: int) -> NDArray[np.int64]:
        """New numbers, each time others."""
        places = np.arange(self._drawn, self._drawn + size, dtype=np.uint64)
        self._drawn += size
        return discrete_gaussian(self._stream, places)


def discrete_gaussian(stream: Stream, places: NDArray[np.uint64]) -> NDArray[np.int64]:
    """The number that belongs to each place."""
    coarse, fine = (_found(stream.words(places, lane)) for lane in range(2))
    return coarse * _STEP + fine


def _found(words: NDArray[np.uint64]) -> NDArray[np.int64]:
    upper, lower = _table()
    at = np.searchsorted(upper, words[:, 0], side="right")
    tied = np.flatnonzero(upper[at - 1] == words[:, 0])
    for place in tied:  # once in 2⁴⁹ draws
        while at[place] > 0 and upper[at[place] - 1] == words[place, 0] and lower[at[place] - 1] > words[place, 1]:
            at[place] -= 1
    return at.astype(np.int64) - _REACH


@cache
def _table() -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Of each number but the last, the probability of it and all below it, in 128 bits: the upper and lower halves."""
    weights = gaussian_weights(_SCALE, _REACH)
    total, running, levels = 2 * sum(weights) - weights[0], 0, []
    for place in range(-_REACH, _REACH):
        running += weights[abs(place)]
        levels.append((running << 128) // total)
    halves = [(level >> 64, level & (2**64 - 1)) for level in levels]
    return np.array([one for one, _ in halves], dtype=np.uint64), np.array([one for _, one in halves], dtype=np.uint64)


def gaussian_weights(scale: int, reach: int) -> list[int]:
    """exp(−k² / 2 scale²) · 2²⁵⁶ for k from 0: each is the last times a factor, which shrinks by exp(−1 / scale²)."""
    factor, shrinks = (_exponential(halves, 2 * scale**2) for halves in (1, 2))
    weights = [1 << _BITS]
    for _ in range(reach):
        weights.append(weights[-1] * factor >> _BITS)
        factor = factor * shrinks >> _BITS
    return weights


def _exponential(numerator: int, denominator: int) -> int:
    """exp(−numerator / denominator) · 2²⁵⁶, by its series."""
    total, term, order = 0, 1 << _BITS, 0
    while term:
        total += term if order % 2 == 0 else -term
        order += 1
        term = term * numerator // (denominator * order)
    return total
