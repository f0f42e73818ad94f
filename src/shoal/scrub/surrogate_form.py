"""What stand-ins are known by: their mark, the length of their codes, the locale of made-up names.

Apart from ``surrogates``, which makes them, since most scrubbing writes labels and makes none.
"""

from __future__ import annotations

import re
from typing import Final

MARK: Final = "°"
LOCALE: Final = "en_IN"
CODE_LENGTH: Final = 6
PEOPLE: Final = frozenset({"person", "name"})
_SEPARATORS: Final = re.compile(r"[\s\-./()]+")
_SHAPE: Final = re.compile(r"[01]\d{11}(?:\d{4})?|9999\d{12}|T[5-9]\d{6}[A-Z]|[A-Z]{3}X[A-Z]\d{4}[A-Z]|\+999\d{10}")
"""What the numbers look like, before their check characters are looked at."""


def without_separators(number: str) -> str:
    return _SEPARATORS.sub("", number)


def is_shaped_like_surrogate(number: str) -> bool:
    return _SHAPE.fullmatch(without_separators(number)) is not None
