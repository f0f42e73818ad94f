"""The one seam for randomness and time.

A random number in Shoal belongs to *a row and a purpose*, never to a batch or a thread: word ``i`` of a stream is
AES-256(key, lane ‖ i), a block cipher in counter mode read at any position. So a result is the same for any batch size,
thread count or engine, and rows can be processed in any order. The key comes from the operating system's CSPRNG unless
the user gives a seed; then the same seed gives the same bytes.

>>> stream = Randomness(seed=7).stream("age", "noise")
>>> whole = stream.words(np.arange(10, dtype=np.uint64))
>>> bool((stream.words(np.array([3, 4], dtype=np.uint64)) == whole[3:5]).all())
True
"""

from __future__ import annotations

import datetime
import secrets
from dataclasses import dataclass, field

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from numpy.typing import NDArray

KEY_BYTES = 32
_UNIT = 2.0**-52


@dataclass(frozen=True)
class Stream:
    """Random words addressed by row number. Picklable, so that it can travel to an executor."""

    key: bytes = field(repr=False)

    def words(self, rows: NDArray[np.uint64], lane: int = 0) -> NDArray[np.uint64]:
        """Two independent 64-bit words for each row, shape (n, 2). ``lane`` gives further independent pairs."""
        blocks = np.empty((len(rows), 2), dtype="<u8")
        blocks[:, 0] = lane
        blocks[:, 1] = rows
        # ECB over distinct counter blocks *is* counter mode's key stream; it lets us read any position.
        cipher = Cipher(algorithms.AES(self.key), modes.ECB()).encryptor()  # noqa: S305
        return np.frombuffer(cipher.update(blocks.tobytes()), dtype="<u8").reshape(-1, 2).astype(np.uint64, copy=False)

    def uniform(self, rows: NDArray[np.uint64], lane: int = 0) -> NDArray[np.float64]:
        """One number in the open interval (0, 1) for each row, on a grid of 2⁻⁵² shifted by half a step."""
        return _to_unit(self.words(rows, lane)[:, 0])

    def gaussian(self, rows: NDArray[np.uint64], lane: int = 0) -> NDArray[np.float64]:
        """One standard normal number for each row (Box–Muller)."""
        words = self.words(rows, lane)
        radius = np.sqrt(-2.0 * np.log(_to_unit(words[:, 0])))
        turn: NDArray[np.float64] = radius * np.cos(2.0 * np.pi * _to_unit(words[:, 1]))
        return turn

    def permutation(self, size: int, lane: int = 0) -> NDArray[np.int64]:
        """A uniformly random order of ``range(size)``: sort by 128-bit random keys."""
        words = self.words(np.arange(size, dtype=np.uint64), lane)
        return np.lexsort((words[:, 1], words[:, 0])).astype(np.int64, copy=False)


class Randomness:
    """The root of all streams of one run."""

    def __init__(self, seed: int | None = None) -> None:
        self.seeded = seed is not None
        material = secrets.token_bytes(KEY_BYTES) if seed is None else _seed_bytes(seed)
        self._root = material

    def stream(self, *purpose: str) -> Stream:
        """The stream for one purpose, e.g. ``stream("attribute", "age", "noise", "0")``. Equal names, equal stream."""
        label = b"".join(len(part.encode()).to_bytes(4, "big") + part.encode() for part in purpose)
        return Stream(HKDF(SHA256(), KEY_BYTES, salt=b"shoal randomness 1", info=label).derive(self._root))

    def derived(self, *purpose: str) -> Randomness:
        """Another root for a part of the run, in which equal names give other streams than here."""
        part = Randomness(seed=0)
        part.seeded, part._root = self.seeded, self.stream(*purpose).key
        return part


def _seed_bytes(seed: int) -> bytes:
    length = max(1, (seed.bit_length() + 8) // 8)
    return seed.to_bytes(length, "big", signed=True).rjust(KEY_BYTES, b"\xff" if seed < 0 else b"\x00")


def _to_unit(words: NDArray[np.uint64]) -> NDArray[np.float64]:
    return ((words >> np.uint64(12)).astype(np.float64) + 0.5) * _UNIT


def random_bytes(length: int) -> bytes:
    """For keys, salts and nonces: from the operating system, never from a seed."""
    return secrets.token_bytes(length)


def now() -> datetime.datetime:
    """The present moment, in UTC."""
    return datetime.datetime.now(datetime.UTC)
