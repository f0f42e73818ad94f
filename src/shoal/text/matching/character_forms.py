"""Characters as a reader takes them: a full-width or Tamil digit is that digit, any dash is "-", any blank is " ".
Half a character, which no encoding takes, is "?".

One character stands for one, so that places in the text stay what they are.

>>> as_read("＋６５ ６１２３–４５６７")
'+65 6123-4567'
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FULL_WIDTH = range(0xFF01, 0xFF5F)
_HALVES = re.compile("[\ud800-\udfff]")
LAST_OF_ASCII = "\x7f"
_LETTERS = {"\u017f": "s", "\u212a": "k"}


def as_read(text: str) -> str:
    """The text with every character in its plain form."""
    if text.isascii():
        return text
    for other in set(text):
        if other > LAST_OF_ASCII and (form := _form(other)):
            text = text.replace(other, form)
    return text


def _form(character: str) -> str:
    """The long s and the kelvin sign too, which some engines take for letters of ASCII and some don't."""
    if ord(character) in FULL_WIDTH:
        return chr(ord(character) - 0xFEE0)
    category = unicodedata.category(character)
    if category == "Nd":
        return str(unicodedata.decimal(character))
    return _BY_CATEGORY.get(category) or _LETTERS.get(character, "")


_BY_CATEGORY = {"Pd": "-", "Zs": " ", "Cs": "?"}


def without_halves(text: str) -> str:
    """The text with U+FFFD for half a character."""
    return text if text.isascii() else _HALVES.sub("\ufffd", text)


def first_bytes(data: bytes) -> NDArray[np.bool_]:
    """Which bytes of UTF-8 begin a character."""
    import numpy as np

    return np.asarray((np.frombuffer(data, np.uint8) & 0xC0) != 0x80)
