"""India's tax numbers: PAN and GSTIN.

A PAN is three letters, the kind of holder, a letter, four digits from 0001 on and a letter whose rule is not public.
Two ways make one that is nobody's: a kind of holder that is none (X), or, with a real kind, the number 0000, which the
Income Tax Department doesn't give out. A GSTIN is the code of a state, a PAN, the number of the registration, a Z and
a check character (Luhn's rule in base 36); it is as much somebody's as the PAN inside. Checkers that look at the kind
of holder or at the number refuse both; ``may_coincide: true`` writes what passes them.
"""

from __future__ import annotations

import string
from functools import cache
from typing import ClassVar, Literal

import numpy as np

from shoal.kernels.arrays import Integers
from shoal.synth.test_data.base import AcceptedGenerator, Assurance, Standing
from shoal.synth.test_data.code_layout import Characters, CodeLayout, CodePart, letters, literal, one_of

Holder = Literal["A", "B", "C", "F", "G", "H", "J", "L", "P", "T", "X"]
_SOURCE = "Income Tax Department: kinds of holders, and numbers from 0001 to 9999"
_THIRTY_SIX = string.digits + string.ascii_uppercase
_FROM_ONE = CodePart.of(f"{number:04d}" for number in range(1, 10_000))


class _PanHolder(AcceptedGenerator):
    holder: Holder = "X"
    """The kind of holder: P a person, C a company; X is none."""

    @property
    def assurance(self) -> Assurance:
        if self.holder == "X":
            return Assurance(Standing.RESERVED, "no kind of holder is X", _SOURCE)
        if self.may_coincide:
            return Assurance(Standing.MAY_COINCIDE, "its form is valid, and no range of PANs is kept free", _SOURCE)
        return Assurance(Standing.RESERVED, "the number 0000 is not given out", _SOURCE)

    @property
    def _numbered(self) -> bool:
        """With numbers from 0001 on, and not 0000."""
        return self.may_coincide or self.holder == "X"


@cache
def _pan_layout(holder: Holder, *, numbered: bool) -> CodeLayout:
    number = [_FROM_ONE] if numbered else literal("0000")
    return CodeLayout(letters(3) + one_of(holder) + letters(1) + number + letters(1))


@cache
def _gstin_layout(holder: Holder, *, numbered: bool) -> CodeLayout:
    states = CodePart.of(f"{state:02d}" for state in range(1, 38))
    pan = _pan_layout(holder, numbered=numbered)
    return CodeLayout([states, *pan.parts, *one_of(_THIRTY_SIX[1:]), *literal("Z?")])


class PanNumbers(_PanHolder):
    """
    >>> PanNumbers().write(np.array([0, 26])).to_list()
    ['AAAXA0001A', 'AAAXA0002A']
    >>> PanNumbers(holder="P").write(np.array([3])).to_list()
    ['AAAPA0000D']
    """

    key = "pan"
    title = "PANs that are never given out"
    stands_for: ClassVar = {"pan": {}}

    @property
    def layout(self) -> CodeLayout:
        return _pan_layout(self.holder, numbered=self._numbered)


class GstNumbers(_PanHolder):
    """
    >>> GstNumbers().write(np.array([0])).to_list()
    ['01AAAXA0001A1Z4']
    """

    key = "gstin"
    title = "GSTINs with a PAN that is never given out"
    stands_for: ClassVar = {"gstin": {}}

    @property
    def layout(self) -> CodeLayout:
        return _gstin_layout(self.holder, numbered=self._numbered)

    def complete(self, characters: Characters, numbers: Integers) -> None:
        characters[:, -1] = _check_characters(characters[:, :-1])


_VALUES: Characters = np.zeros(256, np.uint8)
_VALUES[np.frombuffer(_THIRTY_SIX.encode(), np.uint8)] = np.arange(36)
_DOUBLED = np.array([sum(divmod(2 * value, 36)) for value in range(36)], np.uint8)
_CHECKS = np.frombuffer(_THIRTY_SIX.encode(), np.uint8)


def _check_characters(characters: Characters) -> Characters:
    """Luhn's rule in base 36: every second place from the right counts twice, its own digits added."""
    total = np.zeros(len(characters), np.uint16)
    for place, column in enumerate(characters.T[::-1]):
        total += (_DOUBLED[_VALUES] if place % 2 == 0 else _VALUES)[column]
    return _CHECKS[(36 - total % 36) % 36]
