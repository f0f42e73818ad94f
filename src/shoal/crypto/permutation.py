"""Secret permutations: number 0, 1, 2, … to numbers that look drawn at random and are never drawn twice.

Pseudonyms that are issued one after the other are unique by construction where the n-th is the image of n.

* ``Permutation`` is for a set of any size. From a million on it is FF1 (NIST SP 800-38G) on the bits of the number; an
  image outside the set is permuted again until it falls inside (cycle walking, Black and Rogaway, 2002). FF1 may not be
  used on fewer than a million values, so a smaller set is shuffled as a whole, by random words of the key.
* ``block_permutation`` is for sixteen bytes: AES itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

from shoal.crypto.ff1_rounds import permute_bits
from shoal.crypto.keys import Key
from shoal.kernels.arrays import Integers
from shoal.randomness import Stream

SMALLEST_FF1 = 1_000_000
"""SP 800-38G, revision 1: with fewer values FF1 can be broken."""
LARGEST = 1 << 63


@dataclass(frozen=True)
class Permutation:
    """Of the numbers below ``size``.

    >>> secret = Permutation(Key(bytes(32)), 1000)
    >>> images = secret.forward(np.arange(1000))
    >>> len(set(images.tolist())), bool((secret.backward(images) == np.arange(1000)).all())
    (1000, True)
    """

    key: Key
    size: int

    def __post_init__(self) -> None:
        if not 1 <= self.size <= LARGEST:
            raise ValueError("a permutation has from 1 to 2⁶³ numbers")

    def forward(self, numbers: Integers) -> Integers:
        self._check(numbers)
        return self._shuffled[numbers] if self.size < SMALLEST_FF1 else self._walk(numbers, inverse=False)

    def backward(self, images: Integers) -> Integers:
        self._check(images)
        return self._unshuffled[images] if self.size < SMALLEST_FF1 else self._walk(images, inverse=True)

    def _check(self, numbers: Integers) -> None:
        if len(numbers) and not (numbers.min() >= 0 and int(numbers.max()) < self.size):
            raise ValueError("a number outside the permutation")

    def _walk(self, numbers: Integers, *, inverse: bool) -> Integers:
        bits = (self.size - 1).bit_length()
        walked = permute_bits(self.key.material, bits, numbers, inverse=inverse)
        outside = np.flatnonzero(walked >= self.size)
        while len(outside):
            walked[outside] = permute_bits(self.key.material, bits, walked[outside], inverse=inverse)
            outside = outside[walked[outside] >= self.size]
        return walked

    @cached_property
    def _shuffled(self) -> Integers:
        return Stream(self.key.derive("shuffle", str(self.size)).material).permutation(self.size)

    @cached_property
    def _unshuffled(self) -> Integers:
        return np.argsort(self._shuffled)


def block_permutation(key: Key, serials: Integers) -> NDArray[np.uint8]:
    """Sixteen bytes for each serial number: AES-256 of the number, big endian. Different numbers, different bytes."""
    blocks = np.zeros((len(serials), 2), dtype=">u8")
    blocks[:, 1] = serials
    encrypted = _aes(key).encryptor().update(blocks.tobytes())
    return np.frombuffer(encrypted, dtype=np.uint8).reshape(-1, 16)


def block_serials(key: Key, blocks: NDArray[np.uint8]) -> Integers:
    """The serial numbers again; −1 for blocks that ``block_permutation`` didn't make with this key."""
    decrypted = _aes(key).decryptor().update(blocks.tobytes())
    halves = np.frombuffer(decrypted, dtype=">u8").reshape(-1, 2)
    made = (halves[:, 0] == 0) & (halves[:, 1] < LARGEST)
    return np.where(made, halves[:, 1].astype(np.int64), -1)


def _aes(key: Key) -> Cipher[modes.ECB]:
    # Each block is permuted by itself, which is what is wanted of a permutation.
    return Cipher(algorithms.AES(key.material), modes.ECB())  # noqa: S305
