"""Names of people in paths: ``/scans/asha_rao_2026.pdf``. A given name has to stand beside a family name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from shoal.text.lexicon.gazetteers import NAME, LexiconKind, lexicon
from shoal.text.spans import Span

BY = "log paths"
SURE = 0.8
SHORTEST = 3
_PIECE = r"[^\s/\\\"'<>|:?*,;()\[\]=]+"
_SEGMENT = re.compile(rf"(?<=[/\\])(?:{_PIECE}(?: {_PIECE}){{1,3}}\.[A-Za-z]{{2,5}}\b|{_PIECE})")
"""Between two strokes; a file that has a type may have blanks in its name."""
_WORD = re.compile(r"[^\W\d_]+")
_BETWEEN = re.compile(r"[_.+ -]|%20|")


def find_names_in_paths(text: str) -> Iterator[Span]:
    if "/" not in text and "\\" not in text:
        return
    for segment in _SEGMENT.finditer(text):
        words = list(_WORD.finditer(text, *segment.span()))
        for first, second in pairwise(words):
            if _BETWEEN.fullmatch(text, first.end(), second.start()) and _is_full_name(first[0], second[0]):
                yield Span(first.start(), second.end(), "person", SURE, BY)


def _is_full_name(first: str, second: str) -> bool:
    if min(len(first), len(second)) < SHORTEST:
        return False
    kinds = lexicon().kinds(first), lexicon().kinds(second)
    if any(kind & LexiconKind.COMMON or not kind & NAME for kind in kinds):
        return False
    return any(kind & LexiconKind.GIVEN for kind in kinds) and any(kind & LexiconKind.FAMILY for kind in kinds)
