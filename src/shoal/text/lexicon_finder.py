"""All finders that go by words and lists, over one reading of the text.

Lines of a log are much alike: they differ in their digits above all, and of digits these finders tell apart no more
than years, noughts in front and the few words of the lists that hold some. So what is found in a short text is
remembered by the text with its digits evened out, and taken for the next one that looks the same. A finder that comes
to tell more digits apart has to be kept out of this, or ``with_normalised_digits`` has to keep what it tells apart.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

from shoal.text.dates_numbers.figures import figures
from shoal.text.dates_numbers.spoken_dates import find_spoken_dates
from shoal.text.lexicon.capitalised_runs import runs_in, with_capitals
from shoal.text.lexicon.gazetteers import lexicon, sections_in
from shoal.text.lexicon.kept_tables import kept_words
from shoal.text.listed_phrases import find_listed, stands_apart
from shoal.text.organisation_names.finder import organisations
from shoal.text.person_names.finder import persons
from shoal.text.personal_facts.occupations import occupations
from shoal.text.place_names.finder import places
from shoal.text.scoped_cache import ScopedCache, cached_in_scope
from shoal.text.spans import Span
from shoal.text.street_addresses.finder import addresses

if TYPE_CHECKING:
    from ahocorasick_rs import AhoCorasick

LONGEST_REMEMBERED = 512
"""Characters; longer texts are seldom alike."""
MOST_REMEMBERED = 16_384


@dataclass(frozen=True)
class LexiconFinder:
    """Names, places, organisations, addresses, peoples, beliefs and occupations, without a learned model."""

    memory: ScopedCache = field(default_factory=ScopedCache, repr=False, compare=False)

    def find(self, text: str) -> Sequence[Span]:
        return self._remembered(text, with_normalised_digits(text)) if _is_remembered(text) else self._found(text)

    def find_many(self, texts: Sequence[str]) -> list[Sequence[Span]]:
        """What is found in each text; the digits of all are evened out at once."""
        if not all(map(_is_remembered, texts)):
            return [self.find(text) for text in texts]
        evened = with_normalised_digits("\n".join(texts))
        each: list[Sequence[Span]] = []
        start = 0
        for text in texts:
            end = start + len(text)
            each.append(self._remembered(text, evened[start:end]))
            start = end + 1
        return each

    def _found(self, text: str) -> Sequence[Span]:
        with self.memory.in_use():
            return find_by_lexicon(text)

    def _remembered(self, text: str, evened: bytes) -> Sequence[Span]:
        table: dict[bytes, Sequence[Span] | None] = self.memory.table(LexiconFinder)
        known = table.get(evened, _NEVER_MET)
        if known is _NEVER_MET:
            if len(table) >= MOST_REMEMBERED:
                table.clear()
            with self.memory.in_use():
                others = _in_even_digits(evened.translate(_ALL_EVEN))
                known = table[evened] = None if others is None else _with_numbers(evened.decode("ascii"), others)
        return self._found(text) if known is None else known


def find_by_lexicon(text: str) -> list[Span]:
    """What all finders find, by looking."""
    return _with_numbers(text, _without_numbers(text))


FoundByFinder = tuple[Sequence[Span], Sequence[Span], Sequence[Span]]


def _without_numbers(text: str) -> FoundByFinder:
    """What finders find that take all digits for the same."""
    runs = list(runs_in(with_capitals(text)))
    by_runs = [*persons(text, runs), *places(runs), *organisations(text, runs)]
    return by_runs, list(occupations(text)), list(find_listed(text))


def _with_numbers(text: str, others: FoundByFinder) -> list[Span]:
    """With what those find that know years and noughts in front."""
    by_runs, on_cards, by_lists = others
    return [*by_runs, *addresses(text), *on_cards, *figures(text), *by_lists, *find_spoken_dates(text)]


# --- texts that are alike ---------------------------------------------------------------------------------------------

_NEVER_MET: list[Span] = []
"""Apart from None, which is remembered where the digits of a listed word may matter."""
_A_DIGIT = re.compile("[0-9]")
_ALL_EVEN = bytes.maketrans(b"012346789", b"555555555")
_EVEN = bytes.maketrans(b"12346789", b"55555555")
_CENTURY = re.compile(rb"[12](?:(?<=1)[89]|(?<=2)0)(?=[0-9]{2})(?:(?<![0-9]{3})|(?=[0-9]{2}(?![0-9])))")
"""The first two digits of a year, if the first or the last four of a number are one."""
_GOES_ON = re.compile(rb"0(?=5*[A-Za-z:/-])")
"""The nought in front of what is no number by itself: a time, a day, an id."""
_MARKS = {b"18": b"\xfa\xfb", b"19": b"\xfc\xfd", b"20": b"\xfe\xff"}
"""For centuries, while the digits are evened out: no bytes of ASCII."""


def _is_remembered(text: str) -> bool:
    return len(text) <= LONGEST_REMEMBERED and text.isascii()


@cached_in_scope(most=MOST_REMEMBERED)
def _in_even_digits(evened: bytes) -> FoundByFinder | None:
    text = evened.decode("ascii")
    listed_with_digits = _words_with_digits().find_matches_as_indexes(text.lower(), overlapping=True)
    return (
        None if any(stands_apart(text, start, end) for _, start, end in listed_with_digits) else _without_numbers(text)
    )


def with_normalised_digits(text: str) -> bytes:
    """A text in ASCII that the finders take for the same: digits are 5, save noughts in front and the century of years.

    >>> with_normalised_digits("on 2026-01-07 at 10:01, room 4711")
    b'on 2055-55-05 at 55:05, room 5555'
    """
    data = _CENTURY.sub(_marked, text.encode("ascii")).translate(_EVEN).replace(b"00", b"05").replace(b"50", b"55")
    data = _GOES_ON.sub(b"5", data)
    for century, mark in _MARKS.items():
        data = data.replace(mark, century)
    return data


def _marked(century: re.Match[bytes]) -> bytes:
    return _MARKS[century[0]]


@cache
def _words_with_digits() -> AhoCorasick:
    """The words of the lists that hold digits, with their digits evened out."""
    from ahocorasick_rs import AhoCorasick

    return AhoCorasick(kept_words("with_digits", _evened_words_with_digits))


def _evened_words_with_digits() -> set[str]:
    files = (entry.name for entry in (resources.files("shoal.text") / "lists").iterdir())
    sections = (sections_in(name.removesuffix(".txt")) for name in files if name.endswith(".txt"))
    words = {*lexicon().entries, *(word for each in sections for words in each.values() for word in words)}
    with_digits = (word for word in words if word.isascii() and _A_DIGIT.search(word))
    return {word.lower().encode().translate(_ALL_EVEN).decode() for word in with_digits}
