"""The rounds of FF1 (NIST SP 800-38G, algorithms 7 and 8) on many short values at once.

The names are those of the standard. Where half a value is a number of at most 32 bits (18 decimal digits in all, 12
letters, 64 bits), y is the first eight bytes of R: a round for all values is one call of AES and a few operations on
arrays. Longer values are for the library, one by one; the results are the same.
"""

from __future__ import annotations

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

from shoal.kernels.arrays import Integers

ROUNDS = 10
BLOCK_BYTES = 16
_HALF = 1 << 32

Halves = NDArray[np.uint64]
Digits = NDArray[np.uint16]
"""Of values of one length, one value in each row."""


class Rounds:
    """For values of one length."""

    def __init__(self, material: bytes, radix: int, length: int, tweak: bytes = b"") -> None:
        if not short_enough(radix, length):
            raise ValueError("too long for these rounds")
        self.u, self.v = length // 2, length - length // 2
        self._moduli = (radix**self.u, radix**self.v)
        self._aes = Cipher(algorithms.AES(material), modes.ECB()).encryptor()  # noqa: S305  # the mode is made below
        half_bytes = -(-(self._moduli[1] - 1).bit_length() // 8)
        self._i_shift = np.uint64(8 * half_bytes)
        p = bytes([1, 2, 1]) + radix.to_bytes(3, "big") + bytes([ROUNDS, self.u % 256])
        p += length.to_bytes(4, "big") + len(tweak).to_bytes(4, "big")
        self._before = self._mac(p + tweak + bytes(-(len(tweak) + half_bytes + 1) % BLOCK_BYTES + half_bytes + 1))

    def permute(self, a: Halves, b: Halves, *, inverse: bool = False) -> tuple[Halves, Halves]:
        """The halves of the encrypted values; with ``inverse``, of the decrypted ones."""
        for i in reversed(range(ROUNDS)) if inverse else range(ROUNDS):
            modulus = np.uint64(self._moduli[i % 2])
            if inverse:
                a, b = (b + (modulus - self._y(i, a) % modulus)) % modulus, a
            else:
                a, b = b, (a + self._y(i, b) % modulus) % modulus
        return a, b

    def _mac(self, constant: bytes) -> Halves:
        """P and Q with zeros for i and the half, chained as by CBC up to where the last block enters AES."""
        state = bytes(BLOCK_BYTES)
        for place in range(0, len(constant), BLOCK_BYTES):
            block = bytes(one ^ other for one, other in zip(state, constant[place:], strict=False))
            state = block if place + BLOCK_BYTES == len(constant) else self._aes.update(block)
        return np.frombuffer(state, dtype=">u8").astype(np.uint64)

    def _y(self, i: int, half: Halves) -> Halves:
        blocks = np.empty((len(half), 2), dtype=">u8")
        blocks[:, 0] = self._before[0]
        blocks[:, 1] = self._before[1] ^ (np.uint64(i) << self._i_shift) ^ half
        r = self._aes.update(blocks.view(np.uint8).data)
        return np.frombuffer(r, dtype=">u8")[::2].astype(np.uint64)


def short_enough(radix: int, length: int) -> bool:
    """Whether each half is at most 32 bits."""
    return length >= 2 and radix ** (length - length // 2) <= _HALF


def permute_bits(material: bytes, bits: int, numbers: Integers, *, inverse: bool = False) -> Integers:
    """FF1 with radix 2 on numbers below 2 to the power of ``bits``."""
    rounds = Rounds(material, 2, bits)
    v, whole = np.uint64(rounds.v), numbers.astype(np.uint64)
    a, b = rounds.permute(whole >> v, whole & ((np.uint64(1) << v) - np.uint64(1)), inverse=inverse)
    return ((a << v) | b).astype(np.int64)


def permute_digits(rounds: Rounds, radix: int, digits: Digits, *, inverse: bool = False) -> Digits:
    """FF1 on values given by their digits, one value in each row."""
    a, b = rounds.permute(_number(digits[:, : rounds.u], radix), _number(digits[:, rounds.u :], radix), inverse=inverse)
    return np.concatenate((_digits(a, radix, rounds.u), _digits(b, radix, rounds.v)), axis=1)


def _number(digits: Digits, radix: int) -> Halves:
    number = np.zeros(len(digits), dtype=np.uint64)
    for digit in digits.T:
        number = number * np.uint64(radix) + digit
    return number


def _digits(numbers: Halves, radix: int, length: int) -> Digits:
    digits = np.empty((len(numbers), length), dtype=np.uint16)
    for place in reversed(range(length)):
        numbers, digits[:, place] = np.divmod(numbers, np.uint64(radix))
    return digits
