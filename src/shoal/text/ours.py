"""What we wrote ourselves, in a text that was scrubbed before: it is left as it is.

Labels are known by the types they name, stand-ins by their form and mark, masks by their symbol.
Text that comes in with ``[PERSON]`` in it keeps it: there is nobody in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from shoal.pseudonyms.base32 import ALPHABET
from shoal.text.ages import RANGE
from shoal.text.choices import AGES
from shoal.text.dates import marked_dates
from shoal.text.pieces import Range, Taken
from shoal.text.spans import Span
from shoal.text.stand_ins import CODE_LENGTH, LOCALE, MARK, is_stand_in_name, is_stand_in_number

_LONGEST_RANGE = 5
_BEGINNING_OF_WORD = re.compile(r"(?<!\w)\w")
_LABEL = re.compile(rf"\[([A-Z][A-Z0-9_]*)(?:-[{ALPHABET}]{{{CODE_LENGTH}}})?\]")
_ADDRESS = re.compile(r"(?<![\w.+-])[0-9a-z]{26}@example\.org(?![\w-])")


@dataclass(frozen=True)
class Ours:
    """Finds what was written by a scrubber with the same settings."""

    types: frozenset[str]
    char: str | None = None
    """The symbol of masks, where there are any."""
    mark: str = MARK
    locale: str = LOCALE
    _dates: re.Pattern[str] = field(init=False, repr=False, compare=False)
    _marked: re.Pattern[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        sign = re.escape(self.mark)
        object.__setattr__(self, "_dates", marked_dates(self.mark))
        object.__setattr__(self, "_marked", re.compile(rf"([^\s{sign}]+) ([^\s{sign}]+){sign}"))

    def find(self, text: str) -> list[Range]:
        return list(self._find(text))

    def _find(self, text: str) -> Iterator[Range]:
        if "[" in text:
            yield from (match.span() for match in _LABEL.finditer(text) if match[1].casefold() in self.types)
        if "@example.org" in text:
            yield from (match.span() for match in _ADDRESS.finditer(text))
        if self.char is not None and self.char in text:
            yield from (match.span() for match in re.finditer(re.escape(self.char) + "+", text))
        if self.mark and self.mark in text:
            yield from (match.span() for match in self._dates.finditer(text))
            yield from self._stand_ins(text)

    def _stand_ins(self, text: str) -> Iterator[Range]:
        for match in self._marked.finditer(text):
            for first in _BEGINNING_OF_WORD.finditer(match[1]):
                if is_stand_in_name(match[1][first.start() :], match[2], self.locale):
                    yield match.start() + first.start(), match.end()
        for match in re.finditer(re.escape(self.mark), text):
            start = _start_of_number(text, match.start())
            if start is not None:
                yield start, match.end()


_LONGEST = 28
"""Characters of a number with its separators, at most."""
_BEGINNING = re.compile(r"(?<![A-Za-z0-9+])[A-Za-z0-9+(]")


def _start_of_number(text: str, end: int) -> int | None:
    """Where the stand-in of a number begins that ends here; None if there is none."""
    before = text[max(0, end - _LONGEST) : end]
    for match in reversed(list(_BEGINNING.finditer(before))):
        if is_stand_in_number(before[match.start() :]):
            return end - len(before) + match.start()
    return None


def not_ours(text: str, span: Span, taken: Taken) -> list[Range]:
    """What of a span has to be replaced: what is not ours. Of a span that we have cut, edges and bare signs stay."""
    parts = [
        part for start, end in taken.outside(span.start, span.end) for part in _without_ages(text, span, start, end)
    ]
    if parts == [(span.start, span.end)]:
        return parts
    trimmed = [_trimmed(text, *part) for part in parts]
    needed = str.isdigit if span.type in AGES else str.isalnum
    return [(start, end) for start, end in trimmed if any(needed(one) for one in text[start:end])]


def _without_ages(text: str, span: Span, start: int, end: int) -> list[Range]:
    """A range without the ages in it that we have made coarser.

    Of a span that is no age, it is left whole if there are other digits in the span: a phone number may look like one.
    """
    first = max(0, span.start - _LONGEST_RANGE)
    near = text[first : span.end + _LONGEST_RANGE]
    ages = Taken((first + one.start(), first + one.end()) for one in RANGE.finditer(near))
    others = (text[one:other] for one, other in ages.outside(span.start, span.end))
    if span.type not in AGES and any(letter.isdigit() for other in others for letter in other):
        return [(start, end)]
    return ages.outside(start, end)


def _trimmed(text: str, start: int, end: int) -> Range:
    while start < end and not text[start].isalnum():
        start += 1
    while end > start and not text[end - 1].isalnum():
        end -= 1
    return start, end
