"""Labels that are no range: sets of values, and codes of which characters are covered."""

from __future__ import annotations

import re

COVERS = "*•█×#?_xX"
"""Characters that stand for others; the last ones are letters or signs too, and have to look like a cover."""
SURE_COVERS = "*•█×"

Shape = tuple[int, tuple[tuple[int, int], ...]]
"""Of a mask: its length, and from where to where it shows characters."""


def members(text: str) -> list[str] | None:
    """What stands between braces: ``{a, b}``."""
    if len(text) < 2 or text[0] != "{" or text[-1] != "}":
        return None
    return [part.strip().strip("\"'") for part in re.split(r"[,;|]", text[1:-1])]


def shape_of(text: str) -> Shape | None:
    """
    >>> shape_of("56xxx4"), shape_of("Texas")
    ((6, ((0, 2), (5, 6))), None)
    """
    if (cover := _cover_of(text)) is None:
        return None
    shown = re.finditer(f"[^{re.escape(cover)}]+", text)
    return len(text), tuple((found.start(), found.end()) for found in shown)


def _cover_of(text: str) -> str | None:
    """The character that covers others in a masked label."""
    for char in COVERS:
        if char not in text or text.count(char) == len(text) == 1:
            continue
        if char in SURE_COVERS:
            return char
        rest = text.replace(char, "")
        if re.search(re.escape(char) + "{2,}", text) or (text[-1] == char and rest and rest[-1].isdigit()):
            return char
    return None
