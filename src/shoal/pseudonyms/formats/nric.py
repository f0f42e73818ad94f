"""Numbers in the form of Singapore's NRIC numbers and FINs: a letter, seven digits, a valid check letter.

**NRIC.** People born from 1968 on have the last two digits of the year of birth in front, after S up to 1999 and after
T from 2000 on. So ``T50…`` to ``T99…`` belong to people who will be born from 2050 on, and nobody has such a number
today; that is the range of prefix T. Older holders have S with digits that say nothing of a year, by public accounts
0 … 3 in front; prefix S therefore takes ``S40…`` to ``S59…``, but no authority has published that these are free.

**FIN.** F was given out until 1999, G from 2000 to 2021, M since 2022 (Immigration & Checkpoints Authority, 2021).
Which digits have been used is not public, so a made-up FIN may be somebody's. It has to be accepted in so many words,
with ``may_be_issued: true``; where that is too much, take ``nric``.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Literal, Self

import numpy as np
import polars as pl
from pydantic import model_validator

from shoal.kernels.arrays import Integers
from shoal.kernels.check_characters import digits_of, nric_letters
from shoal.pseudonyms.formats.base import NarrowFormat
from shoal.pseudonyms.formats.fixed_width import as_text


class _Lettered(NarrowFormat):
    """A letter, seven digits within bounds, the check letter."""

    @property
    @abstractmethod
    def bounds(self) -> tuple[str, int, int]:
        """The letter, the first and the last of the seven digits."""

    @property
    def size(self) -> int:
        _, first, last = self.bounds
        return last - first + 1

    def write(self, numbers: Integers) -> pl.Series:
        series, first, _ = self.bounds
        digits = digits_of(numbers + first, 7)
        return as_text(np.full(len(numbers), ord(series)), digits + ord("0"), nric_letters(series, digits))

    def parse(self, values: pl.Series) -> pl.Series:
        return values.str.slice(1, 7).cast(pl.Int64, strict=False) - self.bounds[1]


class Nric(_Lettered):
    """
    >>> Nric().write(np.array([0])).to_list()
    ['T5000000H']
    """

    key = "nric"
    title = "NRIC numbers that nobody has"

    prefix: Literal["S", "T"] = "T"

    @property
    def bounds(self) -> tuple[str, int, int]:
        return ("T", 5_000_000, 9_999_999) if self.prefix == "T" else ("S", 4_000_000, 5_999_999)


class Fin(_Lettered):
    """
    >>> Fin(prefix="M", may_be_issued=True).write(np.array([1_234_567])).to_list()
    ['M1234567K']
    """

    key = "fin"
    title = "FINs, which somebody may have"
    caution = "no range of FINs is known to be free, so a pseudonym may be the number of a real person"

    prefix: Literal["F", "G", "M"] = "M"
    may_be_issued: bool = False

    @model_validator(mode="after")
    def _accepted(self) -> Self:
        if not self.may_be_issued:
            raise ValueError(
                "no range of FINs is known to be free, so a made-up one may be somebody's; "
                "take nric, or accept it with may_be_issued: true"
            )
        return self

    @property
    def bounds(self) -> tuple[str, int, int]:
        return self.prefix, 0, 9_999_999
