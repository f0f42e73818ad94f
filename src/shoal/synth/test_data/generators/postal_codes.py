"""Postal codes of India and Singapore.

A code names a place, not a person, but in Singapore it names a single building. ``unused`` codes are of no place: in
Singapore those of sectors that are none (83 … 99; Urban Redevelopment Authority, list of postal districts), in India
those whose first two digits are no circle (India Post). ``used`` ones begin like those of a sector or a circle.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, Literal

from shoal.synth.test_data.base import Assurance, CodeGenerator, Standing
from shoal.synth.test_data.code_layout import CodeLayout, CodePart, digits

UNUSED_CIRCLES = (29, 35, 54, 55, 86, 87, 88, 89)
USED_CIRCLES = tuple(circle for circle in range(11, 86) if circle not in (29, 35, 54, 55))
UNUSED_SECTORS = tuple(range(83, 100))
USED_SECTORS = tuple(sector for sector in range(1, 83) if sector != 74)


class _PostalCodes(CodeGenerator):
    layouts: ClassVar[dict[str, CodeLayout]]
    source: ClassVar[str]

    codes: Literal["used", "unused"]

    @property
    def layout(self) -> CodeLayout:
        return self.layouts[self.codes]

    @property
    def assurance(self) -> Assurance:
        if self.codes == "used":
            return Assurance(Standing.IMPERSONAL, "it names a place, if there is one at all", self.source)
        return Assurance(Standing.RESERVED, "its beginning is not in use", self.source)


def _layout(beginnings: Iterable[int]) -> CodeLayout:
    return CodeLayout([CodePart.of(f"{beginning:02d}" for beginning in beginnings), *digits(4)])


class PinCodes(_PostalCodes):
    """
    >>> import numpy as np
    >>> PinCodes().write(np.array([0])).to_list(), PinCodes(codes="unused").write(np.array([0])).to_list()
    (['110000'], ['290000'])
    """

    key = "pin_code"
    title = "Indian PIN codes"
    shorthand = "codes"
    stands_for: ClassVar = {"pin_code": {}}
    layouts: ClassVar = {"used": _layout(USED_CIRCLES), "unused": _layout(UNUSED_CIRCLES)}
    source = "India Post, Postal Index Number"

    codes: Literal["used", "unused"] = "used"


class SingaporePostalCodes(_PostalCodes):
    key = "postal_code"
    title = "Singapore postal codes of no building"
    shorthand = "codes"
    stands_for: ClassVar = {"postal_code": {}, "postal_code_singapore": {}}
    layouts: ClassVar = {"used": _layout(USED_SECTORS), "unused": _layout(UNUSED_SECTORS)}
    source = "Urban Redevelopment Authority, list of postal districts"

    codes: Literal["used", "unused"] = "unused"
