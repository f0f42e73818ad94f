"""NRIC numbers and FINs of Singapore.

NRIC numbers come from ``T50…`` to ``T99…``, those of people who will be born from 2050 on (or from ``S40…`` to
``S59…``; see ``shoal.pseudonyms.formats.nric``). Of FINs no range is known to be free, so their check letter is wrong
on purpose unless ``may_coincide: true`` asks for the right one.
"""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.arrays import Integers
from shoal.kernels.check_characters import NRIC_SERIES, nric_letters
from shoal.pseudonyms.formats.nric import Nric
from shoal.synth.test_data.base import AcceptedGenerator, Assurance, FormatGenerator, Standing
from shoal.synth.test_data.code_layout import Characters, CodeLayout, digits, literal

_FINS = {prefix: CodeLayout(literal(prefix) + digits(7) + literal("?")) for prefix in "FGM"}
_SOURCE = "Immigration & Checkpoints Authority"


class NricNumbers(FormatGenerator):
    key = "nric"
    title = "NRIC numbers that nobody has"
    shorthand = "prefix"
    stands_for: ClassVar = {"nric": {}}

    prefix: Literal["S", "T"] = "T"

    @property
    def form(self) -> Nric:
        return Nric(prefix=self.prefix)

    @property
    def assurance(self) -> Assurance:
        if self.prefix == "T":
            return Assurance(Standing.RESERVED, "of people who will be born from 2050 on", _SOURCE)
        return Assurance(Standing.RESERVED, "S40 to S59 are not known to be in use", "public accounts, no list")


class FinNumbers(AcceptedGenerator):
    """
    >>> FinNumbers(may_coincide=True).write(np.array([1_234_567])).to_list()
    ['M1234567K']
    >>> FinNumbers().write(np.array([1_234_567])).to_list()
    ['M1234567X']
    """

    key = "fin"
    title = "FINs with a wrong check letter"

    prefix: Literal["F", "G", "M"] = "M"

    @property
    def layout(self) -> CodeLayout:
        return _FINS[self.prefix]

    @property
    def assurance(self) -> Assurance:
        if self.may_coincide:
            return Assurance(Standing.MAY_COINCIDE, "no range of FINs is known to be free", _SOURCE)
        return Assurance(Standing.WRONG_CHECK, "the check letter is that of another number", _SOURCE)

    def complete(self, characters: Characters, numbers: Integers) -> None:
        right = nric_letters(self.prefix, characters[:, 1:-1] - np.uint8(ord("0")))
        characters[:, -1] = right if self.may_coincide else self._another[right]

    @property
    def _another(self) -> NDArray[np.uint8]:
        """For each check letter the next one of the series."""
        letters = np.frombuffer(NRIC_SERIES[self.prefix][1].encode(), np.uint8)
        following = np.zeros(256, np.uint8)
        following[letters] = np.roll(letters, -1)
        return following
