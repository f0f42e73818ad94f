"""How many of some points, strewn without replacement over a range, lie in its lower half: a hypergeometric draw.

Of 2h places m are points; the lower half has h places. The number of points in it has the probabilities
C(h, x) · C(h, m − x) / C(2h, m). Many such draws are made at once, each with coins of its own:

- Up to ``COINS`` points, a fair coin is thrown for each: a binomial number. It is accepted with the probability that
  the two distributions differ by, a product of ratios of whole numbers.
- Beyond, a candidate comes from the ratio of two uniform numbers (Stadlober 1990) and is accepted by the logarithm of
  its probability, which is computed as a difference from the middle, so that nothing is lost for 2⁶⁰ places.

Whoever has the key must make the same draw everywhere. So only what IEEE 754 rounds in one way is used (sums, products,
quotients, square roots), no library logarithm, and the outcome for one node doesn't depend on the others. Probabilities
are right to some 10⁻¹²; that is the distance from an ideal draw, and the tests measure it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.arrays import Floats, Integers, Mask
from shoal.randomness import Stream

COINS = 1024
"""Most points for which a coin each is thrown."""
TERMS = {COINS + 1: 16, 1 << 13: 8, 1 << 20: 4}
"""From so many points on, so many terms of the series are enough for 10⁻¹²."""
_LANES = 16
"""Lanes of the random stream that one attempt may use."""
_WIDE, _MORE = 1.7155277699214135, 0.8989161620588988
"""2·√(2/e) and 3 − 2·√(3/e): written out, since even constants would be rounded differently elsewhere."""
_FARTHEST = 74.0
"""−2 ln of the least uniform number, 2⁻⁵³: what lies farther out than this can't be accepted."""
_LN_2 = 0.6931471805599453

Words = NDArray[np.uint64]


def _unit(words: Words) -> Floats:
    """In the open interval (0, 1)."""
    return ((words >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52


@dataclass(frozen=True)
class Coins:
    """Random words for each of some nodes: any number of them, the same for the same node."""

    stream: Stream
    nodes: Words
    lane: int

    def words(self, number: int) -> Words:
        """Two words for each node."""
        return self.stream.words(self.nodes, self.lane + number)

    def of(self, chosen: Mask | Integers) -> Coins:
        return Coins(self.stream, self.nodes[chosen], self.lane)

    def again(self) -> Coins:
        """For one more attempt."""
        return Coins(self.stream, self.nodes, self.lane + _LANES)


Attempt = Callable[[Integers, int, Coins], tuple[Integers, Mask]]
"""Candidates, and which of them are accepted."""


def lower_half(points: Integers, half: int, coins: Coins) -> Integers:
    """One draw for each number of points, each between 0 and 2 · half."""
    fewer = np.minimum(points, 2 * half - points)
    drawn = np.empty(len(points), dtype=np.int64)
    ways: list[Attempt] = [_throw, *(partial(_ratio_of_uniforms, terms) for terms in _terms(half))]
    fitting = np.searchsorted(list(TERMS), fewer, "right")
    for number in np.flatnonzero(np.bincount(fitting)).tolist():
        chosen = fitting == number
        drawn[chosen] = _until_accepted(ways[number], fewer[chosen], half, coins.of(chosen))
    # Where points are the majority, what was drawn are the places without one.
    return np.where(points == fewer, drawn, half - drawn)


def _terms(half: int) -> list[tuple[int, int]]:
    """Terms for the points and for the places without one: where those are many times as many, few."""
    ends = [*list(TERMS)[1:], 1 << 62]
    return [(terms, 4 if half >= 16 * end else terms) for terms, end in zip(TERMS.values(), ends, strict=True)]


def _until_accepted(attempt: Attempt, points: Integers, half: int, coins: Coins) -> Integers:
    drawn = np.empty(len(points), dtype=np.int64)
    waiting = np.arange(len(points))
    while len(waiting):
        candidates, accepted = attempt(points[waiting], half, coins)
        drawn[waiting[accepted]] = candidates[accepted]
        waiting, coins = waiting[~accepted], coins.of(~accepted).again()
    return drawn


def _throw(points: Integers, half: int, coins: Coins) -> tuple[Integers, Mask]:
    """As many heads as coins show; accepted by h!/(h−x)! · h!/(h−m+x)! as a share of its value in the middle."""
    words = coins.words(0)
    heads = _heads(words[:, 0], points)
    for number in range(1, 1 + _pairs(points)):
        more = np.flatnonzero(points > 128 * number - 64)
        pair = coins.of(more).words(number)
        left = points[more] - (128 * number - 64)
        heads[more] += _heads(pair[:, 0], left) + _heads(pair[:, 1], left - 64)
    return heads, _accepted_of_binomial(points, heads, half, _unit(words[:, 1]))


def _pairs(points: Integers) -> int:
    return -(-max(0, int(points.max()) - 64) // 128)


def _heads(words: Words, coins: Integers) -> Integers:
    used = np.clip(coins, 0, 64).astype(np.uint64)
    kept = np.where(used > 0, words >> (np.uint64(64) - np.maximum(used, np.uint64(1))), np.uint64(0))
    return np.bitwise_count(kept).astype(np.int64)


def _accepted_of_binomial(points: Integers, heads: Integers, half: int, unit: Floats) -> Mask:
    upper = (points + 1) // 2
    off = np.maximum(heads, points - heads) - upper
    room = half - upper - off
    # Each of the factors is at least 1 − (2 · off + 1) / room, and mostly that settles it.
    accepted: Mask = unit * room < room - off * (2.0 * off + 1)
    unsure = np.flatnonzero(~accepted)
    share = np.ones(len(unsure))
    above, below, left = (half - upper)[unsure], (half - points + upper)[unsure] + 1, off[unsure]
    for step in range(int(left.max(initial=0))):
        share = np.where(step < left, share * ((above - step) / (below + step)), share)
    accepted[unsure] = unit[unsure] < share
    return accepted


def _ratio_of_uniforms(terms: tuple[int, int], points: Integers, half: int, coins: Coins) -> tuple[Integers, Mask]:
    words = coins.words(0)
    first, second = _unit(words[:, 0]), _unit(words[:, 1])
    middle = points.astype(np.float64) / 2
    rest = half - middle
    least = (points % 2).astype(np.float64) / 2
    spread = np.sqrt(middle * rest / (2.0 * half - 1) + 0.5)
    # For odd numbers the middle is half-way between two whole ones, and so is every distance from it.
    distance = np.floor((_WIDE * spread + _MORE) * (second - 0.5) / first + 0.5 - least) + least
    near = distance * distance <= _FARTHEST * middle
    distance = np.where(near, distance, least)
    fall = _fall(middle, distance, terms[0]) + _fall(rest, distance, terms[1])
    fall -= 2 * least * (_half_fall(middle) + _half_fall(rest))
    return points // 2 + (distance + least).astype(np.int64), near & _under(first, -fall)


def _under(unit: Floats, bound: Floats) -> Mask:
    """Whether 2 ln u ≤ bound; two bounds of the logarithm settle most of it."""
    under: Mask = unit * (4.0 - unit) - 3.0 <= bound
    unsure = np.flatnonzero(~under & (unit * (unit - bound) < 1.0))
    under[unsure] = 2.0 * _logarithm(unit[unsure]) <= bound[unsure]
    return under


def _fall(middle: Floats, off: Floats, terms: int) -> Floats:
    """ln Γ(n+d+1) + ln Γ(n−d+1) − 2 ln Γ(n+1), by Stirling's series, for d well below n and n above 500.

    With z = (d/n)² the logarithms become Σ zᵏ/k · (n/(2k−1) − 1/2); two terms of the series' remainder follow.
    """
    square = (off / middle) * (off / middle)
    total = np.zeros_like(middle)
    for k in range(terms, 0, -1):
        total = (total + (middle / (2 * k - 1) - 0.5) / k) * square
    return total + square / (6 * middle * (1 - square)) - square / (30 * middle * middle * middle)


def _half_fall(middle: Floats) -> Floats:
    """The same for a distance of one half, where two terms are enough."""
    square = 0.25 / (middle * middle)
    fall: Floats = square * (middle - 0.5 + square * (middle / 6 - 0.25) + 1 / (6 * middle))
    return fall


def _logarithm(numbers: Floats) -> Floats:
    """ln by its own series, ln m = 2 artanh((m−1)/(m+1)): library functions differ in the last bit between machines."""
    mantissa, exponent = np.frexp(numbers)
    small = mantissa < 0.7071067811865476
    mantissa, exponent = np.where(small, 2 * mantissa, mantissa), exponent - small
    ratio = (mantissa - 1) / (mantissa + 1)
    square = ratio * ratio
    total = np.zeros_like(ratio)
    for k in range(21, 0, -2):
        total = total * square + 1 / k
    logarithm: Floats = exponent * _LN_2 + 2 * ratio * total
    return logarithm
