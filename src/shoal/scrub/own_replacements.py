"""What we wrote ourselves, in a text that was scrubbed before: it is left as it is.

Labels are known by the types they name, stand-ins by their form and mark, masks by their symbol.
Text that comes in with ``[PERSON]`` in it keeps it: there is nobody in it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from shoal.pseudonyms.base32_alphabet import ALPHABET
from shoal.scrub.age_ranges import RANGE, TOP
from shoal.scrub.choices import AGES, known_types
from shoal.scrub.date_shift import marked_dates
from shoal.scrub.piece_table import Range, ReservedRanges
from shoal.scrub.surrogate_form import CODE_LENGTH, LOCALE, MARK, is_shaped_like_surrogate
from shoal.text.scoped_cache import ScopedCache
from shoal.text.spans import Span

_LONGEST_RANGE = 5
_TOP = f"{TOP}+"
_BEGINNING_OF_WORD = re.compile(r"(?<!\w)\w")
_LABEL = re.compile(rf"\[([A-Z][A-Z0-9_]*)(?:-[{ALPHABET}]{{{CODE_LENGTH}}})?\]")
_HOST = "@example.org"
_NAME_LENGTH = 26
_ADDRESS = re.compile(rf"(?<![\w.+-])[0-9a-z]{{{_NAME_LENGTH}}}{re.escape(_HOST)}(?![\w-])", re.ASCII)


@dataclass(frozen=True)
class OwnReplacements:
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
        found: list[Range] = []
        if "[" in text:
            found += [match.span() for match in _LABEL.finditer(text) if match[1].casefold() in self.types]
        if _HOST in text:
            found += _addresses(text)
        if self.char is not None and self.char in text:
            found += [match.span() for match in re.finditer(re.escape(self.char) + "+", text)]
        if self.mark and self.mark in text:
            for line in _lines_with(self.mark, text):
                found += [match.span() for match in self._dates.finditer(text, *line)]
                found += self._stand_ins(text, *line)
        return found

    def _stand_ins(self, text: str, begin: int, past: int) -> Iterator[Range]:
        for match in self._marked.finditer(text, begin, past):
            if not any(map(str.isalpha, match[2])):
                continue
            from shoal.scrub.surrogates import is_surrogate_name

            for first in _BEGINNING_OF_WORD.finditer(match[1]):
                if is_surrogate_name(match[1][first.start() :], match[2], self.locale):
                    yield match.start() + first.start(), match.end()
        for match in re.compile(re.escape(self.mark)).finditer(text, begin, past):
            start = _start_of_number(text, match.start())
            if start is not None:
                yield start, match.end()


def _lines_with(mark: str, text: str) -> Iterator[Range]:
    """Where the lines begin and end that hold the mark: nothing that has one goes over the end of a line."""
    at = text.find(mark)
    while at >= 0:
        begin, end = text.rfind("\n", 0, at) + 1, text.find("\n", at)
        past = len(text) if end < 0 else end
        yield begin, past
        at = text.find(mark, past)


def is_own_replacement(text: str) -> bool:
    """Whether it is a label of a known type or a surrogate, from end to end, by a scrubber with the usual settings."""
    return (0, len(text)) in OwnReplacements(known_types()).find(text)


MASK = "*"


def without_own_replacements(annotate: Callable[[str], list[Span]]) -> Callable[[str], list[Span]]:
    """What finds personal data as another does, save in what a scrubber with the usual settings wrote.

    So a text that was scrubbed passes a scan: ``password: [SECRET]`` holds no password any more.
    """
    own = OwnReplacements(known_types(), MASK)
    memory = ScopedCache()

    def find(text: str) -> list[Span]:
        spans = annotate(text)
        if not spans:
            return spans
        with memory.in_use():
            taken = ReservedRanges(own.find(text))
        return [span._replace(start=start, end=end) for span in spans for start, end in _outside(text, span, taken)]

    return find


def _addresses(text: str) -> Iterator[Range]:
    at = text.find(_HOST, _NAME_LENGTH)
    while at >= 0:
        match = _ADDRESS.match(text, at - _NAME_LENGTH)
        if match is not None:
            yield match.span()
        at = text.find(_HOST, at + 1)


_LONGEST = 28
"""Characters of a number with its separators, at most."""
_BEGINNING = re.compile(r"(?<![A-Za-z0-9+])[A-Za-z0-9+(]")


def _start_of_number(text: str, end: int) -> int | None:
    """Where the stand-in of a number begins that ends here; None if there is none.

    The longest: the end of one, as the last twelve digits of a card's, may be one of another kind by chance.
    """
    before = text[max(0, end - _LONGEST) : end]
    for match in _BEGINNING.finditer(before):
        number = before[match.start() :]
        if is_shaped_like_surrogate(number):
            from shoal.scrub.surrogates import is_surrogate_number

            if is_surrogate_number(number):
                return end - len(before) + match.start()
    return None


Part = tuple[int, int, str]
"""A range and its type."""


def needing_replacement(text: str, spans: Iterable[Span], ours: Sequence[Range]) -> list[Part]:
    """What of the spans has to be replaced: what is not ours."""
    if not ours and not _may_hold_ages(text):
        return [span[:3] for span in spans]
    taken = ReservedRanges(ours)
    return [(*part, span.type) for span in spans for part in _outside(text, span, taken)]


def _outside(text: str, span: Span, taken: ReservedRanges) -> list[Range]:
    """Of a span that we have cut, edges and bare signs stay."""
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
    if not _may_hold_ages(near):
        return [(start, end)]
    ages = ReservedRanges((first + one.start(), first + one.end()) for one in RANGE.finditer(near))
    others = (text[one:other] for one, other in ages.outside(span.start, span.end))
    if span.type not in AGES and any(letter.isdigit() for other in others for letter in other):
        return [(start, end)]
    return ages.outside(start, end)


def _may_hold_ages(text: str) -> bool:
    """Whether there can be an age that we have made coarser."""
    return "–" in text or _TOP in text


def _trimmed(text: str, start: int, end: int) -> Range:
    while start < end and not text[start].isalnum():
        start += 1
    while end > start and not text[end - 1].isalnum():
        end -= 1
    return start, end
