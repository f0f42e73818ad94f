"""What stand-ins are known by: their mark, the length of their codes, the locale of made-up names.

Apart from ``surrogates``, which makes them, since most scrubbing writes labels and makes none.
"""

from __future__ import annotations

from typing import Final

MARK: Final = "°"
LOCALE: Final = "en_IN"
CODE_LENGTH: Final = 6
PEOPLE: Final = frozenset({"person", "name"})
