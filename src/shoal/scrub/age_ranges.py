"""Ages in a text, told by the decade: ``34`` becomes ``30–39``, and 90 and above ``90+``.

The bound of 90 is that of the US Safe Harbor rule (45 CFR 164.514(b)(2)(i)(C)), under which older people are one group.
"""

from __future__ import annotations

import re

TOP = 90
OLDEST = 130
WIDTH = 10

RANGE = re.compile(r"(?<![\d–])(?:[1-8]?0–[1-8]?9|90\+)(?!\d)")
"""An age as we write it. Such a range in a text that comes in is no exact age, so it may stay."""

_NUMBER = re.compile(r"\d+")
_OTHER_UNIT = re.compile(r"\b(?:months?|weeks?|days?|mths?|wks?)\b|month-|week-|day-", re.IGNORECASE)


def generalised_age(text: str) -> str | None:
    """The text of an age with its number as a range; None where that can't be said of it.

    >>> generalised_age("34 years old"), generalised_age("aged 97"), generalised_age("thirty")
    ('30–39 years old', 'aged 90+', None)
    """
    numbers = list(_NUMBER.finditer(text))
    if len(numbers) != 1 or _OTHER_UNIT.search(text):
        return None
    (number,) = numbers
    age = int(number[0]) if len(number[0]) <= 3 else OLDEST
    if age >= OLDEST:
        return None
    return text[: number.start()] + _in_tens(age) + text[number.end() :]


def _in_tens(age: int) -> str:
    if age >= TOP:
        return f"{TOP}+"
    low = age // WIDTH * WIDTH
    return f"{low}–{low + WIDTH - 1}"
