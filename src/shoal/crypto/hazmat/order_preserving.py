"""Order-preserving encryption of whole numbers (Boldyreva, Chenette, Lee & O'Neill 2009).

The cipher is a secret function from ``low … high`` into 0 … 2^bits − 1 that rises strictly, as random as such a thing
can be: all of them are equally likely, up to what AES-256 and the sampling are worth. It is never written down. To find
one value, the range is halved again and again; how many of the domain's points lie in the lower half is a
hypergeometric draw (``hypergeometric``) whose coins are AES of the place of the node, so everybody with the key makes
the same draws. A node with one point left puts it anywhere in its part of the range.

Same key, same bounds, same bits: the same function, in every run and on every machine. What it gives away by design is
order, equality, and roughly the upper half of the digits: a ciphertext's place in the range tells about where the value
lies in the domain (Boldyreva, Chenette & O'Neill 2011). Who knows how the values are distributed finds most of them.

>>> cipher = OrderPreserving(Key(bytes(32)), 0, 120, 32)
>>> ciphertexts = cipher.encrypt(np.array([30, 31, 30, 99]))
>>> bool(ciphertexts[0] == ciphertexts[2] < ciphertexts[1] < ciphertexts[3])
True
>>> cipher.decrypt(ciphertexts).tolist()
[30, 31, 30, 99]
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from shoal.crypto.hazmat.hypergeometric import Coins, lower_half
from shoal.crypto.keys import Key
from shoal.errors import IntegrityError
from shoal.kernels.arrays import Integers, Mask
from shoal.randomness import Stream

MOST_BITS = 62
"""Ciphertexts are whole numbers of 64 bits with a sign, and sums of two of them still fit."""
BLOCK = 1 << 15
"""Values that go down together: few enough for the processor's cache, many enough to share the upper nodes."""
_PLACE = 1 << 20
"""Lanes of the random stream that belong to one level of the halving; the last is for the place of a single point."""


@dataclass(frozen=True)
class OrderPreserving:
    key: Key
    low: int
    high: int
    bits: int

    def __post_init__(self) -> None:
        if not 1 <= self.bits <= MOST_BITS or not 0 < self.points <= 1 << self.bits:
            raise ValueError(f"the domain has points, the range at least as many and at most 2^{MOST_BITS}")

    @property
    def points(self) -> int:
        return self.high - self.low + 1

    @cached_property
    def _stream(self) -> Stream:
        return Stream(self.key.derive("order-preserving", str(self.low), str(self.high), str(self.bits)).material)

    def encrypt(self, values: Integers) -> Integers:
        """The ciphertext of each value; all lie between ``low`` and ``high``. Equal values are worked on once."""
        distinct, places = np.unique(np.asarray(values, dtype=np.int64), return_inverse=True)
        if len(distinct) and not self.low <= distinct[0] <= distinct[-1] <= self.high:
            raise ValueError("a value lies outside the domain")
        found = [_Descent.of(self, block).to_ciphertexts() for block in _blocks(distinct)]
        return np.concatenate(found)[places]

    def decrypt(self, ciphertexts: Integers) -> Integers:
        """The values. A number that is no ciphertext of this key and domain is an IntegrityError."""
        distinct, places = np.unique(np.asarray(ciphertexts, dtype=np.int64), return_inverse=True)
        found = [_Descent.of(self, block).to_values() for block in _blocks(distinct)]
        values, right = (np.concatenate(part) for part in zip(*found, strict=True))
        if not right.all():
            raise IntegrityError(
                f"{int((~right)[places].sum())} number(s) are not ciphertexts of this key and these bounds"
            )
        return values[places]


def _blocks(distinct: Integers) -> list[Integers]:
    return [distinct[start : start + BLOCK] for start in range(0, max(1, len(distinct)), BLOCK)]


@dataclass
class _Descent:
    """Distinct sorted values (or ciphertexts) on their way down the halved range, those of one node side by side."""

    cipher: OrderPreserving
    sought: Integers
    place: Integers
    """Where each of those still on their way stands among all."""
    first: Integers
    """The least point of the domain in the node."""
    points: Integers
    """How many points the node has."""
    start: Integers
    """Where the node's part of the range begins."""
    level: int = 0
    found: Integers = field(init=False)
    right: Mask = field(init=False)

    def __post_init__(self) -> None:
        self.found = np.zeros(len(self.sought), dtype=np.int64)
        self.right = np.zeros(len(self.sought), dtype=bool)

    @classmethod
    def of(cls, cipher: OrderPreserving, sought: Integers) -> _Descent:
        size = len(sought)
        return cls(
            cipher,
            sought,
            np.arange(size),
            np.full(size, cipher.low, dtype=np.int64),
            np.full(size, cipher.points, dtype=np.int64),
            np.zeros(size, dtype=np.int64),
        )

    def to_ciphertexts(self) -> Integers:
        for level in range(self.cipher.bits + 1):
            self.level = level
            alone = self.points == 1
            if alone.any():
                self.found[self.place[alone]] = self._lone_ciphertexts(alone)
                self._keep(~alone)
            if not len(self.place):
                break
            in_lower = self._draw()
            self._go(self.sought >= self.first + in_lower, in_lower)
        return self.found

    def to_values(self) -> tuple[Integers, Mask]:
        """The values, and which of them are right: the others have no point of the domain at their place."""
        within = (self.sought >= 0) & (self.sought >> self.cipher.bits == 0)
        self._keep(within)
        for level in range(self.cipher.bits + 1):
            self.level = level
            alone = self.points == 1
            if alone.any():
                self.found[self.place[alone]] = self.first[alone]
                self.right[self.place[alone]] = self._lone_ciphertexts(alone) == self.sought[alone]
            self._keep(self.points > 1)
            if not len(self.place):
                break
            self._go(self.sought >= self.start + self._half, self._draw())
        return self.found, self.right

    @property
    def _half(self) -> int:
        return 1 << (self.cipher.bits - self.level - 1)

    def _draw(self) -> Integers:
        """How many points lie in the lower half of each one's node; a node draws once for all that are in it."""
        begins = np.flatnonzero(np.diff(self.start, prepend=-1))
        drawn = lower_half(self.points[begins], self._half, self._coins(self.start[begins]))
        return np.repeat(drawn, np.diff(begins, append=len(self.start)))

    def _coins(self, nodes: Integers) -> Coins:
        return Coins(self.cipher._stream, nodes.astype(np.uint64), self.level * _PLACE)

    def _lone_ciphertexts(self, alone: Mask) -> Integers:
        """Anywhere in the node's part of the range, whose size is a power of two."""
        words = self._coins(self.start[alone]).words(_PLACE - 1)[:, 0]
        within = words & np.uint64((1 << (self.cipher.bits - self.level)) - 1)
        return self.start[alone] + within.astype(np.int64)

    def _go(self, upper: Mask, in_lower: Integers) -> None:
        self.first = np.where(upper, self.first + in_lower, self.first)
        self.points = np.where(upper, self.points - in_lower, in_lower)
        self.start = np.where(upper, self.start + self._half, self.start)

    def _keep(self, kept: Mask) -> None:
        if not kept.all():
            self.sought, self.place = self.sought[kept], self.place[kept]
            self.first, self.points, self.start = self.first[kept], self.points[kept], self.start[kept]
