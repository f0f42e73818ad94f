"""Codes of banks and accounts: IFSC, UPI ids, IBANs.

**IFSC**: four letters of a bank, a zero, six characters of the branch. None of the 1,510 codes of banks that were in
use in 2026 begins with XX. **UPI**: ``@example`` is not known as a handle of the National Payments Corporation; any
other makes ids that may be somebody's. **IBAN** (ISO 13616): a German one whose bank code begins with 9, valid by
its check digits. The first digit of a German bank code is one of the eight clearing areas, 1 … 8 (Deutsche Bundesbank),
so no bank has one that begins with 9.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from pydantic import Field

from shoal.kernels.arrays import Integers
from shoal.kernels.check_characters import digits_of
from shoal.synth.test_data.base import Assurance, CodeGenerator, Standing
from shoal.synth.test_data.code_layout import Characters, CodeLayout, CodePart, digits, letters, literal

_IFSC = CodeLayout(literal("XX") + letters(2) + literal("0") + digits(6))
_FREE_HANDLE = "example"
_PAYERS = [CodePart.of(("demo", "test", "user", "acct")), *digits(8)]
_IBAN = CodeLayout(literal("DE??9") + digits(17))
_GERMANY = 131_400
"""DE and two zeros, as ISO 13616 turns letters into numbers: D is 13, E is 14."""


class Ifscs(CodeGenerator):
    """
    >>> Ifscs().write(np.array([27_000_042])).to_list()
    ['XXBB0000042']
    """

    key = "ifsc"
    title = "IFSCs of no bank"
    stands_for: ClassVar = {"ifsc": {}}

    @property
    def layout(self) -> CodeLayout:
        return _IFSC

    @property
    def assurance(self) -> Assurance:
        return Assurance(
            Standing.RESERVED, "no bank's code begins with XX", "list of 1,510 codes of banks (Reserve Bank of India)"
        )


class UpiIds(CodeGenerator):
    """
    >>> UpiIds().write(np.array([5])).to_list()
    ['demo00000005@example']
    """

    key = "upi"
    title = "UPI ids under a handle that nobody runs"
    shorthand = "handle"
    stands_for: ClassVar = {"upi": {}}

    handle: str = Field(_FREE_HANDLE, pattern=r"^[a-z0-9][a-z0-9_-]{0,62}$")
    """Behind the @; any other than ``example`` may be in use."""

    @property
    def layout(self) -> CodeLayout:
        return CodeLayout([*_PAYERS, *literal(f"@{self.handle}")])

    @property
    def assurance(self) -> Assurance:
        source = "handles of the National Payments Corporation of India that our recogniser lists"
        if self.handle == _FREE_HANDLE:
            return Assurance(Standing.RESERVED, "the handle is not known to be in use", source)
        return Assurance(Standing.MAY_COINCIDE, "the handle may be in use", source)


class Ibans(CodeGenerator):
    """
    >>> Ibans().write(np.array([0])).to_list()
    ['DE17900000000000000000']
    """

    key = "iban"
    title = "German IBANs of no bank"
    stands_for: ClassVar = {"iban": {}}

    @property
    def layout(self) -> CodeLayout:
        return _IBAN

    @property
    def assurance(self) -> Assurance:
        return Assurance(
            Standing.RESERVED,
            "the check digits are right, and no bank code begins with 9",
            "Deutsche Bundesbank: bank codes begin with the clearing area, 1 to 8",
        )

    def complete(self, characters: Characters, numbers: Integers) -> None:
        """ISO 7064, MOD 97-10: the account, the country and the check digits make a number that leaves 1."""
        account = (9 * 10**17 % 97 + numbers % 97) % 97
        check = 98 - (account * 10**6 + _GERMANY) % 97
        characters[:, 2:4] = digits_of(check, 2) + np.uint8(ord("0"))
