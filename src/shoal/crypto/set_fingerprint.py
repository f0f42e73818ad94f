"""One keyed number for a whole set of rows: it changes when a row is altered, added or lost, whatever their order.

Each row of 80 bytes is encrypted block after block, each xored with what came before (CBC-MAC over a fixed length,
a pseudorandom function as AES is one: Bellare, Kilian, Rogaway 1994). The set's number is the sum of the rows' numbers,
so adding a row adds its number and taking one out subtracts it.
"""

from __future__ import annotations

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

from shoal.crypto.keys import Key

ROW_BYTES = 80
_BLOCK = 16


def fingerprint(key: Key, rows: NDArray[np.uint8]) -> int:
    """Of rows of shape (n, 80); a number below 2¹²⁸, to be added and subtracted modulo 2¹²⁸ half by half.

    >>> key, rows = Key(bytes(32)), np.arange(240, dtype=np.uint8).reshape(3, 80)
    >>> add(fingerprint(key, rows[:1]), fingerprint(key, rows[1:])) == fingerprint(key, rows[::-1])
    True
    """
    # ECB on whole arrays is the bare block cipher; the chaining is done here, for all rows at once.
    encrypt = Cipher(algorithms.AES(key.material), modes.ECB()).encryptor().update  # noqa: S305
    chained = np.zeros((len(rows), _BLOCK), dtype=np.uint8)
    for start in range(0, ROW_BYTES, _BLOCK):
        mixed = np.ascontiguousarray(chained ^ rows[:, start : start + _BLOCK])
        chained = np.frombuffer(encrypt(mixed.tobytes()), dtype=np.uint8).reshape(-1, _BLOCK)
    halves = chained.view("<u8").sum(axis=0, dtype=np.uint64)
    return int(halves[0]) | int(halves[1]) << 64


def add(one: int, other: int) -> int:
    return _by_halves(one, other, 1)


def subtract(one: int, other: int) -> int:
    return _by_halves(one, other, -1)


def _by_halves(one: int, other: int, sign: int) -> int:
    half = (1 << 64) - 1
    low = ((one & half) + sign * (other & half)) & half
    return low | (((one >> 64) + sign * (other >> 64)) & half) << 64
