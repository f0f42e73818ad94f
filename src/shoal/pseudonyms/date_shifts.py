"""By how many days the dates of a person are moved: a number from a key, the same wherever the person turns up.

Moving all dates of one person by the same number keeps the time between them. Nobody without the key can move them
back. The number is never 0, so that no date stays as it was.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from shoal.crypto import Key
from shoal.crypto.keyed_digests import digests
from shoal.kernels.arrays import Integers

MOST_DAYS = 365
MOST_WEEKS = 52
SHIFTING = "text"
"""What the key of a domain is asked for: columns and remarks of one domain move alike."""


def days_for(key: Key, person: str, *, weeks: bool = False) -> int:
    """By how many days the dates of a person, or of a document, are moved: 1 to 365 (or 1 to 52 weeks), either way.

    >>> days_for(Key(bytes(32)), "letter 1") == days_for(Key(bytes(32)), "letter 1")
    True
    """
    return int(shifts_for(key, [person], MOST_WEEKS if weeks else MOST_DAYS)[0]) * (7 if weeks else 1)


def shifts_for(key: Key, people: Sequence[str], most: int) -> Integers:
    """A number from 1 to ``most`` for each person, either way."""
    blocks = digests(key.derive("dates"), [person.encode() for person in people])
    numbers = [int.from_bytes(block.tobytes(), "big") for block in blocks]
    sizes = [number // 2 % most + 1 for number in numbers]
    signed = [size if number % 2 else -size for number, size in zip(numbers, sizes, strict=True)]
    return np.array(signed, dtype=np.int64)
