"""Noise at the device: one file, nothing but Python's standard library, to be copied to where people answer.

Each function takes a true answer and gives one that is ε-locally differentially private: whatever is done with it
later, nobody can tell well what the true one was. Ask each person once: two answers cost 2 ε.

* ``randomised_response``: one of a few options (Warner 1965, for several options Kairouz et al. 2014)
* ``unary``: one of some dozens, as a list of 0 and 1 (optimised unary encoding, Wang et al. 2017)
* ``local_hash``: one of very many, such as a word or a place (optimised local hashing, Wang et al. 2017)
* ``bounded_number``: a number between two bounds (the piecewise mechanism of Wang et al. 2019, on a grid)

Chance is decided by whole numbers from the operating system, so no digit of a floating-point number gives anything
away; a number is told as a point of a public grid.

>>> randomised_response("yes", ["yes", "no"], epsilon=50)
'yes'
"""

from __future__ import annotations

import hashlib
import math
import secrets
from collections.abc import Sequence
from typing import Any

BITS = 62
STEPS = 1024
"""Of the grid between two bounds."""
MOST_BUCKETS = 2**20
"""Far fewer than the 48 bits of a hash have places."""


def _happens(probability: float) -> bool:
    """True with a probability, to 62 bits."""
    return secrets.randbits(BITS) < int(probability * (1 << BITS))


def _strays(probability: float) -> bool:
    """True with a probability that is rounded up: it is what protects, and however small, it is never nothing."""
    return secrets.randbits(BITS) <= int(probability * (1 + 2**-50) * (1 << BITS))


def _checked(epsilon: float, options: Sequence[Any] | None = None, value: Any = None) -> None:
    if not 0 < epsilon <= 50:
        raise ValueError("epsilon has to be above 0 and at most 50")
    if options is not None:
        if len(options) < 2 or len(set(options)) < len(options):
            raise ValueError("at least two options, each once")
        if value not in options:
            raise ValueError("the answer is none of the options")


def randomised_response(value: Any, options: Sequence[Any], epsilon: float) -> Any:
    """The true option with probability e^ε / (e^ε + k − 1), else one of the others."""
    _checked(epsilon, options, value)
    return options[_told(options.index(value), len(options), epsilon)]


def _told(place: int, number: int, epsilon: float) -> int:
    """The place with probability e^ε / (e^ε + k − 1) among k of them, else one of the others."""
    if not _strays((number - 1) / (math.exp(epsilon) + number - 1)):
        return place
    other = secrets.randbelow(number - 1)
    return other if other < place else other + 1


def unary(value: Any, options: Sequence[Any], epsilon: float) -> list[int]:
    """A list of 0 and 1, one for each option: the true one is 1 half of the time, others with 1 / (e^ε + 1)."""
    _checked(epsilon, options, value)
    other = 1 / (math.exp(epsilon) + 1)
    return [int(_happens(0.5) if option == value else _strays(other)) for option in options]


def hashed(value: Any, seed: int, buckets: int) -> int:
    """The bucket of a value under the hash function of a seed; the same in JavaScript."""
    digest = hashlib.sha256((str(seed) + "\n" + str(value)).encode("utf-8")).digest()
    return int.from_bytes(digest[:6], "big") % buckets


def bucket_count(epsilon: float) -> int:
    return min(max(2, round(math.exp(epsilon)) + 1), MOST_BUCKETS)


def local_hash(value: Any, epsilon: float) -> dict[str, int]:
    """A hash function, told by its seed, and a bucket that is the value's with probability e^ε / (e^ε + g − 1)."""
    _checked(epsilon)
    buckets = bucket_count(epsilon)
    seed = secrets.randbits(48)
    return {"seed": seed, "bucket": _told(hashed(value, seed, buckets), buckets, epsilon)}


def window(epsilon: float) -> int:
    """How many points of the grid are likelier than the others."""
    return max(1, round(STEPS / math.exp(epsilon / 2)))


def bounded_number(value: float, low: float, high: float, epsilon: float) -> int:
    """A point of a grid: those in a window that moves with the value are e^ε times as likely as the others."""
    _checked(epsilon)
    if not low < high:
        raise ValueError("the bounds are two numbers, the smaller one first")
    share = (min(max(float(value), low), high) - low) / (high - low) * STEPS
    start = math.floor(share)
    start += int(_happens(share - start))  # to the grid by chance, so that the mean stays
    inside = window(epsilon)
    if _strays(STEPS / (inside * math.exp(epsilon) + STEPS)):
        told = secrets.randbelow(STEPS)
        return told if told < start else told + inside
    return start + secrets.randbelow(inside)
