"""Characters as a reader takes them: a full-width or Tamil digit is that digit, any dash is "-", any blank is " ".
Half a character, which no encoding takes, is "?".

One character stands for one, so that places in the text stay what they are.

>>> as_read("＋６５ ６１２３–４５６７")
'+65 6123-4567'
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FULL_WIDTH = range(0xFF01, 0xFF5F)
_HALVES = re.compile("[\ud800-\udfff]")
LAST = 0x20000
"""No digit, dash or blank comes after the first two planes."""


def as_read(text: str) -> str:
    """The text with every character in its plain form."""
    if text.isascii():
        return text
    forms = _forms()
    for other in _others().intersection(set(text)):
        text = text.replace(other, forms[ord(other)])
    return text


@cache
def _forms() -> dict[int, str]:
    """The long s and the kelvin sign too, which some engines take for letters of ASCII and some don't."""
    forms = {0x17F: "s", 0x212A: "k"}
    for code in range(0x80, LAST):
        form = _form(code)
        if form:
            forms[code] = form
    return forms


def _form(code: int) -> str:
    if code in FULL_WIDTH:
        return chr(code - 0xFEE0)
    character = chr(code)
    match unicodedata.category(character):
        case "Nd":
            return str(unicodedata.decimal(character))
        case "Pd":
            return "-"
        case "Zs":
            return " "
        case "Cs":
            return "?"
    return ""


@cache
def _others() -> frozenset[str]:
    return frozenset(map(chr, _forms()))


def without_halves(text: str) -> str:
    """The text with U+FFFD for half a character."""
    return text if text.isascii() else _HALVES.sub("\ufffd", text)


def first_bytes(data: bytes) -> NDArray[np.bool_]:
    """Which bytes of UTF-8 begin a character."""
    import numpy as np

    return np.asarray((np.frombuffer(data, np.uint8) & 0xC0) != 0x80)
