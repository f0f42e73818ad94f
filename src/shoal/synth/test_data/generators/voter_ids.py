"""Numbers of Indian voters' cards (EPIC): three letters of a constituency, six digits, a check digit (Luhn).

The Election Commission keeps no range free. So the check digit is wrong on purpose unless ``may_coincide: true`` asks
for a right one: no card has a wrong one.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from shoal.kernels.arrays import Integers
from shoal.kernels.check_characters import luhn_digits
from shoal.synth.test_data.base import AcceptedGenerator, Assurance, Standing
from shoal.synth.test_data.code_layout import Characters, CodeLayout, digits, letters, literal

_LAYOUT = CodeLayout(letters(3) + digits(6) + literal("?"))
_ZERO = np.uint8(ord("0"))


class VoterIds(AcceptedGenerator):
    """
    >>> VoterIds().write(np.array([1])).to_list(), VoterIds(may_coincide=True).write(np.array([1])).to_list()
    (['AAA0000019'], ['AAA0000018'])
    """

    key = "voter_id"
    title = "Numbers of voters' cards with a wrong check digit"
    stands_for: ClassVar = {"voter_id": {}}

    @property
    def layout(self) -> CodeLayout:
        return _LAYOUT

    @property
    def assurance(self) -> Assurance:
        source = "Election Commission of India: electors' photo identity card; no range is published as free"
        if self.may_coincide:
            return Assurance(Standing.MAY_COINCIDE, "its form and check digit are valid", source)
        return Assurance(Standing.WRONG_CHECK, "the check digit is one too high", source)

    def complete(self, characters: Characters, numbers: Integers) -> None:
        check = luhn_digits(characters[:, 3:-1] - _ZERO)
        characters[:, -1] = (check + (not self.may_coincide)) % 10 + _ZERO
