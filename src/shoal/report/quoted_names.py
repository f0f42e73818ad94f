"""Names from the data inside sentences of the report."""

from __future__ import annotations

import re

from markupsafe import Markup, escape

_RIGHT_TO_LEFT = "\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc"
_WORD = rf"[\w-]*[{_RIGHT_TO_LEFT}][\w-]*"
_NAME = re.compile(rf"{_WORD}(?: {_WORD})*")


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
