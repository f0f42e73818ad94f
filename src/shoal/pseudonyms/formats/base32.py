"""Pseudonyms of 26 letters and digits that survive a telephone call: no two of them look alike.

The alphabet is that of Crockford's base 32: I and L are left out because they look like 1, O because it looks like 0,
U so that fewer words come about by chance. Sixteen bytes are 128 bits; 26 characters hold 130, so the first character
is one of 0 … 7. Written in capitals; read with small letters, hyphens and the letters that are left out as well.
"""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.pseudonyms.base32_alphabet import ALPHABET
from shoal.pseudonyms.formats.base import BLOCK_BYTES, Blocks, WideFormat
from shoal.pseudonyms.formats.fixed_width import Characters, as_characters, as_text

WIDTH = 26
_PLACES = (range(2), range(2, 14), range(14, WIDTH))
"""Which characters hold the highest eight bits, the next sixty, the last sixty."""
_PAIRS = np.frombuffer("".join(one + other for one in ALPHABET for other in ALPHABET).encode(), np.uint16)
"""The two characters of each number of ten bits."""
_ONES_56, _ONES_60 = (1 << 56) - 1, (1 << 60) - 1
_LETTERS = np.frombuffer(ALPHABET.encode(), np.uint8)
_VALUES: Characters = np.full(256, 32, np.uint8)
_VALUES[_LETTERS] = np.arange(32)


class Base32(WideFormat):
    """The usual form: short, and good to read out.

    >>> Base32().write(np.full((1, 16), 255, dtype=np.uint8)).to_list()
    ['7ZZZZZZZZZZZZZZZZZZZZZZZZZ']
    """

    key = "base32"
    title = "26 letters and digits without look-alikes"
    characters = frozenset(ALPHABET)

    def write(self, blocks: Blocks) -> pl.Series:
        return as_text(base32_characters(blocks))

    def read(self, values: pl.Series) -> tuple[Blocks, NDArray[np.bool_]]:
        plain = values.str.to_uppercase().str.replace_all("-", "", literal=True)
        return base32_blocks(plain.str.replace_all("[IL]", "1").str.replace_all("O", "0", literal=True))


def base32_characters(blocks: Blocks) -> Characters:
    """Blocks as rows of 26 character codes."""
    high, low = np.ascontiguousarray(blocks).view(">u8").astype(np.uint64).T
    parts = (high >> 56, (high & _ONES_56) << 4 | low >> 60, low & _ONES_60)
    pairs = np.empty((len(blocks), WIDTH // 2), np.uint16)
    for part, places in zip(parts, _PLACES, strict=True):
        for shift, place in enumerate(reversed(places[::2])):
            pairs[:, place // 2] = _PAIRS[(part >> 10 * shift & 1023).astype(np.int64)]
    return pairs.view(np.uint8)


def base32_blocks(values: pl.Series) -> tuple[Blocks, NDArray[np.bool_]]:
    """The blocks, and which of the texts stand for one."""
    characters, fits = as_characters(values, WIDTH)
    fives = _VALUES[characters]
    fits &= (fives < 32).all(axis=1) & (fives[:, 0] < 8)
    fives[~fits] = 0
    top, middle, bottom = (_number(fives[:, places]) for places in _PLACES)
    words = np.column_stack((top << 56 | middle >> 4, (middle & 15) << 60 | bottom))
    return words.astype(">u8").view(np.uint8).reshape(-1, BLOCK_BYTES), fits


def _number(fives: Characters) -> NDArray[np.uint64]:
    number = np.zeros(len(fives), np.uint64)
    for column in fives.T:
        number = number << 5 | column
    return number
