"""Names from the data inside sentences of the report."""

from __future__ import annotations

import re

from markupsafe import Markup, escape

_RIGHT_TO_LEFT = "\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc"
_WORD = rf"[\w-]*[{_RIGHT_TO_LEFT}][\w-]*"
_NAME = re.compile(rf"{_WORD}(?: {_WORD})*")

LONGEST_WORD = 18
"""That a header of a table shows in one piece."""


def prose(text: str) -> Markup:
    """The text, escaped, with each run of a right-to-left script kept apart: it would turn its neighbours round.

    >>> prose("column \u05d2\u05d9\u05dc_7, level 2 <b>")
    Markup('column <bdi>\u05d2\u05d9\u05dc_7</bdi>, level 2 &lt;b&gt;')
    """
    if isinstance(text, Markup):
        return text
    parts, at = [], 0
    for name in _NAME.finditer(text):
        parts += [escape(text[at : name.start()]), Markup("<bdi>{}</bdi>").format(name.group())]
        at = name.end()
    return Markup("").join((*parts, escape(text[at:])))


def long_word(text: str) -> bool:
    """Whether a header has a word that may be broken, because no page is as wide as some names in data are.

    >>> long_word("Highest"), long_word("a_column_with_a_name_like_this")
    (False, True)
    """
    return any(len(word) > LONGEST_WORD for word in text.split())
