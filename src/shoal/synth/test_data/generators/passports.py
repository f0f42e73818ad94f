"""Numbers like those of Indian passports: a letter and seven digits, the first and the last of which are not zero.

Public accounts agree that no passport begins with Q or X, and disagree about O and Z; the Ministry of External Affairs
has published no list. So Q and X make numbers that are nobody's as far as is known.
"""

from __future__ import annotations

import string
from typing import ClassVar

from shoal.synth.test_data.base import AcceptedGenerator, Assurance, Standing
from shoal.synth.test_data.code_layout import CodeLayout, digits, one_of

_REST = one_of("123456789") + digits(5) + one_of("123456789")
_FREE = CodeLayout(one_of("QX") + _REST)
_USED = CodeLayout(one_of("".join(sorted(set(string.ascii_uppercase) - set("OQXZ")))) + _REST)


class PassportNumbers(AcceptedGenerator):
    """
    >>> import numpy as np
    >>> PassportNumbers().write(np.array([0])).to_list()
    ['Q1000001']
    """

    key = "passport"
    title = "Numbers like those of Indian passports, with a letter that isn't used"
    stands_for: ClassVar = {"passport": {}, "passport_labelled": {}}

    @property
    def layout(self) -> CodeLayout:
        return _USED if self.may_coincide else _FREE

    @property
    def assurance(self) -> Assurance:
        source = "public accounts of the form; the ministry publishes no list"
        if self.may_coincide:
            return Assurance(Standing.MAY_COINCIDE, "its form is valid, and there is no check digit", source)
        return Assurance(Standing.RESERVED, "no passport is known to begin with Q or X", source)
