"""Numbers in the form of India's PAN that belong to no kind of holder.

A PAN is five letters, four digits from 0001 on and a letter. The fourth letter tells the kind of holder: P a person, C
a company, F a firm, and so on; by what the Income Tax Department lists, A, B, C, E, F, G, H, J, K, L, P and T are or
have been used. X is none of them, so such a number has the form of a PAN and is nobody's. A checker that looks at the
kind of holder refuses it. How the last letter is computed is not public, so any letter is taken.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from shoal.kernels.arrays import Integers
from shoal.kernels.check_characters import digits_of
from shoal.pseudonyms.formats.base import NarrowFormat
from shoal.pseudonyms.formats.fixed_width import as_characters, as_text

HOLDER = "X"
_NUMBERS = 9_999
_LETTERS = 26 ** np.arange(3, -1, -1)


class Pan(NarrowFormat):
    """
    >>> Pan().write(np.array([0, 26])).to_list()
    ['AAAXA0001A', 'AAAXA0002A']
    """

    key = "pan"
    title = "Ten characters like a PAN, of a kind of holder that isn't used"

    @property
    def size(self) -> int:
        return int(26**5 * _NUMBERS)

    def write(self, numbers: Integers) -> pl.Series:
        rest, last = np.divmod(numbers, 26)
        rest, number = np.divmod(rest, _NUMBERS)
        letters = rest[:, None] // _LETTERS % 26 + ord("A")
        holder = np.full(len(numbers), ord(HOLDER))
        return as_text(letters[:, :3], holder, letters[:, 3], digits_of(number + 1, 4) + ord("0"), last + ord("A"))

    def parse(self, values: pl.Series) -> pl.Series:
        characters, _ = as_characters(values, 10)
        codes = characters.astype(np.int64)
        letters = (codes[:, [0, 1, 2, 4]] - ord("A")) @ _LETTERS
        number = (codes[:, 5:9] - ord("0")) @ 10 ** np.arange(3, -1, -1) - 1
        return pl.Series((letters * _NUMBERS + number) * 26 + codes[:, 9] - ord("A"))
