"""Numbers in the form of Aadhaar's and of its virtual ID (VID), from the ranges that are never given out.

Both end in a check digit of Verhoeff (1969). UIDAI gives out none that begins with 0 or 1 (Aadhaar has twelve digits,
a VID sixteen), so these beginnings make numbers that pass the check and are nobody's. Checkers that know of the
beginning refuse them, which is as it should be. A text column keeps the leading zero; a spreadsheet may drop it.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import polars as pl

from shoal.kernels.arrays import Integers
from shoal.kernels.check_characters import digits_of, verhoeff_digits
from shoal.pseudonyms.formats.base import NarrowFormat
from shoal.pseudonyms.formats.fixed_width import as_text

FREE_BEGINNINGS = 2
"""0 and 1."""


class _Verhoeff(NarrowFormat):
    digits: ClassVar[int]

    @property
    def size(self) -> int:
        return FREE_BEGINNINGS * int(10 ** (self.digits - 2))

    def write(self, numbers: Integers) -> pl.Series:
        digits = digits_of(numbers, self.digits - 1)
        return as_text(np.column_stack((digits, verhoeff_digits(digits))) + ord("0"))

    def parse(self, values: pl.Series) -> pl.Series:
        return values.str.head(-1).cast(pl.Int64, strict=False)


class Aadhaar(_Verhoeff):
    """
    >>> Aadhaar().write(np.array([12_345_678_901])).to_list()
    ['123456789010']
    """

    key = "aadhaar"
    title = "Twelve digits like Aadhaar numbers, beginning with 0 or 1"
    digits = 12


class Vid(_Verhoeff):
    """
    >>> Vid().write(np.array([0])).to_list()
    ['0000000000000002']
    """

    key = "vid"
    title = "Sixteen digits like virtual IDs, beginning with 0 or 1"
    digits = 16
