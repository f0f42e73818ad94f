"""Pseudonyms of 32 hexadecimal digits: sixteen bytes as they are."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.pseudonyms.formats.base import BLOCK_BYTES, Blocks, WideFormat
from shoal.pseudonyms.formats.fixed_width import Characters, as_characters, as_text

_DIGITS = np.frombuffer(b"0123456789abcdef", np.uint8)
_PAIRS = np.frombuffer(bytes(range(256)).hex().encode(), np.uint16)
"""The two digits of each byte."""
_VALUES: Characters = np.full(256, 16, np.uint8)
_VALUES[_DIGITS] = np.arange(16)
_VALUES[np.frombuffer(b"ABCDEF", np.uint8)] = np.arange(10, 16)


class Hexadecimal(WideFormat):
    """Capitals are read as well.

    >>> Hexadecimal().write(np.arange(16, dtype=np.uint8)[None]).to_list()
    ['000102030405060708090a0b0c0d0e0f']
    """

    key = "hex"
    title = "32 hexadecimal digits"
    characters = frozenset("0123456789abcdef")

    def write(self, blocks: Blocks) -> pl.Series:
        return as_text(_PAIRS[blocks].view(np.uint8))

    def read(self, values: pl.Series) -> tuple[Blocks, NDArray[np.bool_]]:
        characters, fits = as_characters(values, 2 * BLOCK_BYTES)
        halves = _VALUES[characters]
        fits &= (halves < 16).all(axis=1)
        halves[~fits] = 0
        blocks = halves[:, ::2] << np.uint8(4) | halves[:, 1::2]
        return blocks, fits
