"""Where a listed phrase stands in its sentence, and whether that speaks of a person or of the weather or a machine.

>>> PhraseHit("Asthma is common. My son has asthma.", "asthma is common. my son has asthma.", 29, 35).before()
'my son has '
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import NamedTuple

from shoal.text.lexicon.gazetteers import sections_in
from shoal.text.spans import Span

BEFORE, AFTER = 84, 56
"""Characters of the sentence that are looked at before a phrase and after it."""


def either(words: Iterable[str]) -> str:
    """Words as the inside of an expression, the longest first."""
    return "|".join(sorted(map(re.escape, words), key=len, reverse=True))


_WORDS = sections_in("sentences")
LINKS = frozenset(_WORDS["links"])
"""Words that end a row of words which belong to a noun."""
_STOP = re.compile(r"[.!?;][ \n]|\n")
_ABBREVIATED = tuple(f" {short}" for short in _WORDS["abbreviations"])
_PEOPLE = re.compile(rf"(?<![\w-])(?:{either(_WORDS['people'])})(?![\w-])")
_NOBODY = frozenset(_WORDS["nobody"])


class PhraseHit(NamedTuple):
    """A listed phrase in a text."""

    text: str
    small: str
    """The text in small letters."""
    start: int
    end: int

    @property
    def phrase(self) -> str:
        return self.small[self.start : self.end]

    def before(self, most: int = BEFORE) -> str:
        """What stands before it in its sentence, in small letters."""
        window = self.small[max(0, self.start - most) : self.start]
        cut = 0
        for stop in _STOP.finditer(window):
            if stop.group()[0] != "." or not _is_short(window, stop.start()):
                cut = stop.end()
        return window[cut:]

    def after(self, most: int = AFTER) -> str:
        """What stands after it in its sentence, in small letters."""
        window = self.small[self.end : self.end + most]
        stop = _STOP.search(window)
        return window if stop is None else window[: stop.start()]

    def span(self, kind: str, score: float, by: str, *, more: int = 0, end: int | None = None) -> Span:
        """It as a span, with so many characters more before it, up to another end."""
        return Span(self.start - more, self.end if end is None else end, kind, score, by)

    def of_somebody(self, before: str, after: str = "") -> bool:
        """Whether its sentence speaks of somebody: "he", "my wife", "the patient", a name."""
        if _PEOPLE.search(before) or (after and _PEOPLE.search(after)):
            return True
        words = self.text[self.start - len(before) : self.start].split()
        named = any(word[0].isupper() for word in words[1:])
        return named or (len(words) > 1 and words[0][0].isupper() and words[0].lower() not in _NOBODY)


def _is_short(window: str, stop: int) -> bool:
    """Whether a full stop is that of an initial or an abbreviation."""
    return not window[max(0, stop - 2) : max(0, stop - 1)].isalnum() or window.endswith(_ABBREVIATED, 0, stop)


def row_of_words(words: str) -> str:
    """Words up to the first that ends the row."""
    row: list[str] = []
    for word in words.split(" "):
        if word.lower() in LINKS:
            break
        row.append(word)
    return " ".join(row)


def stands_apart(text: str, start: int, end: int) -> bool:
    """No letter, mark or digit touches it."""
    return not (start and _joins(text[start - 1])) and ends_apart(text, end)


def ends_apart(text: str, end: int) -> bool:
    return not (end < len(text) and _joins(text[end]))


def _joins(letter: str) -> bool:
    return letter.isalnum() or letter == "_" or (letter > "\u02ff" and unicodedata.category(letter)[0] == "M")
