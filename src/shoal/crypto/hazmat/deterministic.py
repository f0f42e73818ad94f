"""AES-SIV (RFC 5297) on columns of texts: encryption that needs no nonce; an altered ciphertext is noticed.

What it gives away by design: equal values have equal ciphertexts, so everybody sees which records agree and how often
each value occurs, and how long each is. Who knows how the values are distributed finds many of them.

A ciphertext is the synthetic initialisation vector V ‖ the value encrypted in counter mode from V. Values of one length
are encrypted together, each step of the algorithm being one call of AES over all of them; the result is, byte for byte,
that of the library's AES-SIV, which encrypts values that have few others of their length and decrypts all of them.
The names are those of the RFC.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers import Cipher, CipherContext, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESSIV
from cryptography.hazmat.primitives.cmac import CMAC
from numpy.typing import NDArray

from shoal.crypto.keys import Key
from shoal.crypto.text_encoding import TextEncoding, read, write
from shoal.errors import IntegrityError
from shoal.kernels.text_arrays import by_length, rows_of

BLOCK_BYTES = 16
_COUNTER_MASK = np.uint64(0x7FFF_FFFF_7FFF_FFFF)
_REDUCTION = 0x87

Rows = NDArray[np.uint8]
"""Values of one length, one in each row."""


class Siv:
    """AES-SIV with a key of 32, 48 or 64 bytes, half of it for V and half for the counter mode."""

    def __init__(self, material: bytes, bound_to: Sequence[bytes] = ()) -> None:
        half = len(material) // 2
        self._library = AESSIV(material)
        self._bound_to = list(bound_to)
        self._aes_v, self._aes_counter = _ecb(material[:half]), _ecb(material[half:])
        self._d = _d(material[:half], bound_to)
        self._k1 = _double(self._aes_v.update(bytes(BLOCK_BYTES)))
        self._k2 = _double(self._k1)

    @classmethod
    def of(cls, key: Key) -> Siv:
        """AES-256 for both halves."""
        return cls(key.expand(64, "aes-siv"))

    def encrypt(self, rows: Rows) -> Rows:
        """One row for each, longer by V."""
        v = self._s2v(rows)
        return np.concatenate((v, rows ^ self._key_stream(v, rows.shape[1])), axis=1)

    def encrypt_one(self, value: bytes) -> bytes:
        return self._library.encrypt(value, self._bound_to)

    def decrypt_one(self, sealed: bytes) -> bytes:
        """The value, or an IntegrityError: what was altered or encrypted with another key is no ciphertext."""
        try:
            return self._library.decrypt(sealed, self._bound_to)
        except (InvalidTag, ValueError):
            raise IntegrityError("a ciphertext was altered, or is encrypted with another key") from None

    def _s2v(self, rows: Rows) -> Rows:
        """CMAC of the value, with D bound to its end; a value shorter than a block is padded and bound to 2 · D."""
        length = rows.shape[1]
        if length < BLOCK_BYTES:
            return self._update_v(_padded(rows) ^ _row(_double(self._d)) ^ _row(self._k1))
        bound = rows.copy()
        bound[:, -BLOCK_BYTES:] ^= _row(self._d)
        whole = length % BLOCK_BYTES == 0
        blocks = (bound if whole else _padded(bound)).reshape(len(rows), -1, BLOCK_BYTES)
        state = np.zeros((len(rows), BLOCK_BYTES), dtype=np.uint8)
        for place in range(blocks.shape[1] - 1):
            state = self._update_v(state ^ blocks[:, place])
        return self._update_v(state ^ blocks[:, -1] ^ _row(self._k1 if whole else self._k2))

    def _key_stream(self, v: Rows, length: int) -> Rows:
        """Counters from V on, two bits of which are cleared so that no sum carries over into the next word."""
        number = -(-length // BLOCK_BYTES)
        start = np.ascontiguousarray(v).view(">u8")
        counters = np.empty((len(v), number, 2), dtype=">u8")
        counters[:, :, 0] = start[:, :1]
        counters[:, :, 1] = (start[:, 1:] & _COUNTER_MASK) + np.arange(number, dtype=np.uint64)
        stream = np.frombuffer(self._aes_counter.update(counters.view(np.uint8).data), dtype=np.uint8)
        return stream.reshape(len(v), number * BLOCK_BYTES)[:, :length]

    def _update_v(self, blocks: Rows) -> Rows:
        return np.frombuffer(self._aes_v.update(blocks.data), dtype=np.uint8).reshape(-1, BLOCK_BYTES)


def _ecb(key: bytes) -> CipherContext:
    # The modes are made here out of single blocks; ECB is the library's name for AES over many of those.
    return Cipher(algorithms.AES(key), modes.ECB()).encryptor()  # noqa: S305


def _d(key: bytes, bound_to: Sequence[bytes]) -> bytes:
    d = _cmac(key, bytes(BLOCK_BYTES))
    for associated in bound_to:
        d = bytes(one ^ other for one, other in zip(_double(d), _cmac(key, associated), strict=True))
    return d


def _cmac(key: bytes, message: bytes) -> bytes:
    mac = CMAC(algorithms.AES(key))
    mac.update(message)
    return mac.finalize()


def _double(block: bytes) -> bytes:
    """Multiplication by 2 in GF(2¹²⁸)."""
    doubled = int.from_bytes(block, "big") << 1
    carried = doubled >> (8 * BLOCK_BYTES)
    return ((doubled ^ (carried * _REDUCTION)) & ((1 << (8 * BLOCK_BYTES)) - 1)).to_bytes(BLOCK_BYTES, "big")


def _padded(rows: Rows) -> Rows:
    """A bit that is set, then zeros up to a whole block."""
    number, length = rows.shape
    padded = np.zeros((number, (length // BLOCK_BYTES + 1) * BLOCK_BYTES), dtype=np.uint8)
    padded[:, :length] = rows
    padded[:, length] = 0x80
    return padded


def _row(block: bytes) -> Rows:
    return np.frombuffer(block, dtype=np.uint8)


FEW_VALUES = 32
"""Of one length. With fewer, the library is quicker, value by value; so it is with long ones."""
LONG_BYTES = 256


def encrypt_column(key: Key, values: pl.Series, written: TextEncoding = TextEncoding.BASE64URL) -> pl.Series:
    """Texts, none missing, to ciphertexts written as text.

    >>> key = Key(bytes(32))
    >>> encrypted = encrypt_column(key, pl.Series(["Asha", "Ravi", "Asha"]))
    >>> encrypted[0] == encrypted[2] != encrypted[1], decrypt_column(key, encrypted).to_list()
    (True, ['Asha', 'Ravi', 'Asha'])
    """
    siv = Siv.of(key)
    return by_length(values, lambda alike: write(_encrypt(siv, alike), written))


def decrypt_column(key: Key, values: pl.Series, written: TextEncoding = TextEncoding.BASE64URL) -> pl.Series:
    """The texts again, missing ones missing. If one is no ciphertext of this key, it is an IntegrityError."""
    siv = Siv.of(key)
    try:
        plain = [
            None if value is None else siv.decrypt_one(read(value, written)).decode() for value in values.to_list()
        ]
    except ValueError:
        raise IntegrityError(f"a value is not what encryption writes in {written}") from None
    return pl.Series(values.name, plain, dtype=pl.String)


def _encrypt(siv: Siv, values: pl.Series) -> np.ndarray[tuple[int, int], np.dtype[np.uint8]]:
    if len(values) >= FEW_VALUES and len(values[0].encode()) <= LONG_BYTES:
        return siv.encrypt(rows_of(values))
    sealed = b"".join(siv.encrypt_one(value) for value in values.cast(pl.Binary).to_list())
    return np.frombuffer(sealed, dtype=np.uint8).reshape(len(values), -1)
