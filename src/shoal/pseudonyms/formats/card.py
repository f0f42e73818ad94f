"""Card numbers of sixteen digits with a valid check digit (Luhn) that no issuer can have.

By ISO/IEC 7812-1 a number that begins with 9 goes on with the three digits of a country (ISO 3166-1), whose standards
body gives out the rest. 999 is among the codes that ISO 3166-1 leaves to users and never gives to a country, so
numbers that begin with 9999 have no issuer. (A 9 alone would not do: 9792 is Turkey's, where cards are issued.)
"""

from __future__ import annotations

import numpy as np
import polars as pl

from shoal.kernels.arrays import Integers
from shoal.kernels.check_characters import digits_of, luhn_digits
from shoal.pseudonyms.formats.base import NarrowFormat
from shoal.pseudonyms.formats.fixed_width import as_text

NOBODYS = 9_999
_FREE = 11
"""Digits between the beginning and the check digit."""


class Card(NarrowFormat):
    """
    >>> Card().write(np.array([0])).to_list()
    ['9999000000000004']
    """

    key = "card"
    title = "Card numbers without an issuer"
    characters = frozenset("0123456789")

    @property
    def size(self) -> int:
        return int(10**_FREE)

    def write(self, numbers: Integers) -> pl.Series:
        digits = digits_of(numbers + NOBODYS * 10**_FREE, 15)
        return as_text(np.column_stack((digits, luhn_digits(digits))) + ord("0"))

    def parse(self, values: pl.Series) -> pl.Series:
        whole = values.str.head(-1).cast(pl.Int64, strict=False)
        return whole - NOBODYS * self.size
