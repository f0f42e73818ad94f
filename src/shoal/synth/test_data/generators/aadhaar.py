"""Numbers like Aadhaar's and its virtual IDs.

UIDAI gives out no number that begins with 0 or 1 ("Aadhaar number format", UIDAI: 2 … 9 first), so such a number with a
valid check digit of Verhoeff is nobody's. ``check: wrong`` writes numbers that begin like real ones, and whose check
digit is one too high: nobody has them either, since every real number has the right one.
"""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np

from shoal.kernels.arrays import Integers
from shoal.kernels.check_characters import verhoeff_digits
from shoal.synth.test_data.base import Assurance, CodeGenerator, Standing
from shoal.synth.test_data.code_layout import Characters, CodeLayout, digits, literal, one_of

_ZERO = np.uint8(ord("0"))


class _VerhoeffNumbers(CodeGenerator):
    layouts: ClassVar[dict[str, CodeLayout]]

    check: Literal["valid", "wrong"] = "valid"
    """``wrong`` for check digits that are wrong on purpose."""

    @property
    def layout(self) -> CodeLayout:
        return self.layouts[self.check]

    @property
    def assurance(self) -> Assurance:
        source = "UIDAI: no number begins with 0 or 1; the check digit is Verhoeff's"
        if self.check == "wrong":
            return Assurance(Standing.WRONG_CHECK, "the check digit is one too high", source)
        return Assurance(Standing.RESERVED, "the check digit is right, the beginning 0 or 1 is never given out", source)

    def complete(self, characters: Characters, numbers: Integers) -> None:
        check = verhoeff_digits(characters[:, :-1] - _ZERO)
        characters[:, -1] = (check + (self.check == "wrong")) % 10 + _ZERO


def _layouts(width: int) -> dict[str, CodeLayout]:
    """The last place is kept for the check digit."""
    rest = digits(width - 2) + literal("?")
    return {"valid": CodeLayout(one_of("01") + rest), "wrong": CodeLayout(one_of("23456789") + rest)}


class AadhaarNumbers(_VerhoeffNumbers):
    """
    >>> AadhaarNumbers().write(np.array([12_345_678_901])).to_list()
    ['123456789010']
    """

    key = "aadhaar"
    title = "Aadhaar numbers that are never given out"
    stands_for: ClassVar = {"aadhaar": {}}
    layouts = _layouts(12)


class VirtualIds(_VerhoeffNumbers):
    key = "vid"
    title = "Aadhaar virtual IDs that are never given out"
    stands_for: ClassVar = {"vid": {}}
    layouts = _layouts(16)
