"""Random numbers for the rows of one column: the same for a row, whatever batch it is made in."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from shoal.crypto import Key
from shoal.crypto.permutation import Permutation
from shoal.kernels.arrays import Integers, Mask
from shoal.pseudonyms.derivation import remainders
from shoal.randomness import Stream

Words = NDArray[np.uint64]
NARROW = 1 << 44
"""Below it a remainder of 64 bits is even enough: no number is likelier than another by more than a millionth."""


@dataclass(frozen=True)
class Draws:
    """Of the rows from ``start`` up to ``stop``."""

    stream: Stream
    start: int
    stop: int

    def at(self, start: int, stop: int) -> Self:
        """The same of other rows."""
        return replace(self, start=start, stop=stop)

    def __len__(self) -> int:
        return self.stop - self.start

    @property
    def rows(self) -> Integers:
        return np.arange(self.start, self.stop, dtype=np.int64)

    def words(self, lane: int = 0) -> Words:
        """64 bits a row. A block of the cipher is shared by two rows: to make blocks is what costs most."""
        blocks = np.arange(self.start // 2, (self.stop + 1) // 2, dtype=np.uint64)
        first = self.start % 2
        return self.stream.words(blocks, lane).reshape(-1)[first : first + len(self)]

    def blocks(self) -> NDArray[np.uint8]:
        """Sixteen bytes a row, no two rows the same."""
        rows = np.arange(self.start, self.stop, dtype=np.uint64)
        return np.ascontiguousarray(self.stream.words(rows, _BLOCKS)).view(np.uint8)

    def numbers(self, size: int, lane: int = 0) -> Integers:
        """A number below ``size`` for each row.

        >>> from shoal.randomness import Randomness
        >>> stream = Randomness(seed=7).stream("example")
        >>> whole = Draws(stream, 0, 9).numbers(100).tolist()
        >>> whole[3:8] == Draws(stream, 3, 8).numbers(100).tolist()
        True
        """
        if size > NARROW:
            return remainders(self.blocks(), size)
        words = self.words(lane)
        return (words - words // np.uint64(size) * np.uint64(size)).view(np.int64)

    def chosen(self, share: float) -> Mask:
        """Each row with this chance."""
        picked: Mask = (self.words() >> np.uint64(11)) < np.uint64(round(share * (1 << 53)))
        return picked


@dataclass(frozen=True)
class DistinctDraws(Draws):
    """The numbers of no two rows are the same: those of a secret permutation."""

    _permutations: dict[tuple[int, int], Permutation] = field(default_factory=dict, repr=False, compare=False)
    """Kept from batch to batch, since one of a small set is a table."""

    def numbers(self, size: int, lane: int = 0) -> Integers:
        known = self._permutations.get((size, lane))
        if known is None:
            known = Permutation(Key(self.stream.key).derive("distinct", str(lane)), size)
            self._permutations[size, lane] = known
        return known.forward(self.rows)


_BLOCKS = 1 << 40
"""A lane apart, for those that want sixteen bytes a row."""
