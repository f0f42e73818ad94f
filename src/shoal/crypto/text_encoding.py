"""Bytes written as text: base64url and base32 (RFC 4648, without padding) and hexadecimal, many values at once."""

from __future__ import annotations

import base64
import binascii
from enum import StrEnum
from itertools import product

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.kernels.text_arrays import texts_of

Rows = NDArray[np.uint8]

_BASE32 = b"abcdefghijklmnopqrstuvwxyz234567"
_BASE32_PAIRS = np.array([bytes(pair) for pair in product(_BASE32, repeat=2)])
_URL_SAFE = bytes.maketrans(b"+/", b"-_")


class TextEncoding(StrEnum):
    BASE64URL = "base64url"
    """The shortest; letters of both cases, digits, ``-`` and ``_``."""
    BASE32 = "base32"
    """Lower-case letters and digits: survives what ignores case."""
    HEX = "hex"


def write(rows: Rows, written: TextEncoding) -> pl.Series:
    """One text for each row.

    >>> write(np.array([[0, 255], [1, 2]], dtype=np.uint8), TextEncoding.HEX).to_list()
    ['00ff', '0102']
    """
    match written:
        case TextEncoding.BASE64URL:
            letters = binascii.b2a_base64(_widened(rows, 3).tobytes(), newline=False).translate(_URL_SAFE)
            return texts_of(_cut(letters, rows, 6))
        case TextEncoding.BASE32:
            numbers = np.pad(_widened(rows, 5).reshape(-1, 5), ((0, 0), (3, 0))).view(">u8").astype(np.uint64)
            places = (numbers >> np.arange(30, -1, -10, dtype=np.uint64)) & np.uint64(1023)
            return texts_of(_cut(_BASE32_PAIRS[places].tobytes(), rows, 5))
        case TextEncoding.HEX:
            return texts_of(_cut(binascii.hexlify(rows.tobytes()), rows, 4))


def read(text: str, written: TextEncoding) -> bytes:
    """The bytes again; a ValueError for what ``write`` doesn't write."""
    match written:
        case TextEncoding.BASE64URL:
            decoded = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
        case TextEncoding.BASE32:
            decoded = base64.b32decode(text.upper() + "=" * (-len(text) % 8))
        case TextEncoding.HEX:
            decoded = bytes.fromhex(text)
    return decoded


def _widened(rows: Rows, multiple: int) -> Rows:
    """With zeros at the end of each row, so that no letter has bits of two rows."""
    return np.pad(rows, ((0, 0), (0, -rows.shape[1] % multiple)))


def _cut(letters: bytes, rows: Rows, bits: int) -> Rows:
    """The letters of each row that hold bits of it."""
    width = -(-8 * rows.shape[1] // bits)
    return np.frombuffer(letters, dtype=np.uint8).reshape(len(rows), -1 if len(rows) else width)[:, :width]
