"""Lists of words and phrases of one's own: what always goes, what always stays.

A phrase is found in any case, as whole words, by one Aho-Corasick pass. What is found inside a phrase that may stay
stays; what is longer than it goes: with "Curie" allowed, "Marie Curie" is still a person.

>>> allowed = PhraseList.of(["Curie ward"])
>>> allowed.ranges("The curie ward, not the Curie wards.")
[(4, 14)]
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from shoal.errors import InputError, SourceError
from shoal.scrub.choices import LISTED
from shoal.text.lexicon.gazetteers import in_small_letters
from shoal.text.spans import Span

if TYPE_CHECKING:
    from ahocorasick_rs import AhoCorasick

BY: Final = "list"
_LARGEST: Final = 20_000_000
_COMMENT: Final = "#"


@dataclass(frozen=True)
class PhraseList:
    phrases: tuple[str, ...]
    """In small letters."""

    @classmethod
    def of(cls, phrases: Iterable[str]) -> PhraseList | None:
        """None where there are none."""
        small = dict.fromkeys(" ".join(in_small_letters(phrase).split()) for phrase in phrases)
        known = tuple(filter(None, small))
        return cls(known) if known else None

    def ranges(self, text: str) -> list[tuple[int, int]]:
        small = in_small_letters(text)
        matches = self._automaton.find_matches_as_indexes(small, overlapping=True)
        return [(start, end) for _, start, end in matches if _apart(small, start, end)]

    def without(self, text: str, spans: Sequence[Span]) -> list[Span]:
        """Those that don't lie inside a phrase of the list."""
        ranges = self.ranges(text)
        return [one for one in spans if not any(start <= one.start and one.end <= end for start, end in ranges)]

    @cached_property
    def _automaton(self) -> AhoCorasick:
        from ahocorasick_rs import AhoCorasick

        return AhoCorasick(list(self.phrases))

    def __getstate__(self) -> dict[str, Any]:
        """What was made ready is made anew by whoever gets a copy."""
        return {"phrases": self.phrases}


@dataclass(frozen=True)
class PhraseLists:
    """What stays and what goes; nothing can do both."""

    allow: PhraseList | None
    deny: PhraseList | None

    @classmethod
    def of(cls, allow: Iterable[str], deny: Iterable[str]) -> PhraseLists:
        lists = cls(PhraseList.of(allow), PhraseList.of(deny))
        both = set(lists.allow.phrases if lists.allow else ()) & set(lists.deny.phrases if lists.deny else ())
        if both:
            raise InputError(f"{len(both)} phrase(s) are to stay and to go", field="allow")
        return lists


@dataclass(frozen=True)
class ListedPhraseFinder:
    """Finds what always goes."""

    listed: PhraseList

    def find(self, text: str) -> Iterator[Span]:
        for start, end in self.listed.ranges(text):
            yield Span(start, end, LISTED, 1.0, BY)


def phrases_from(given: Iterable[str], field: str) -> list[str]:
    """Each is a phrase, or the path of a file with one on each line; lines that begin with # say nothing."""
    return [phrase for one in given for phrase in (_lines(Path(one), field) if _is_path(one) else [one])]


def _is_path(given: str) -> bool:
    path = Path(given)
    return path.suffix == ".txt" or "/" in given or path.is_file()


def _lines(path: Path, field: str) -> list[str]:
    try:
        if path.stat().st_size > _LARGEST:
            raise InputError(f"{path}: is too large for a list of words", field=field)
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise SourceError(f"{path}: there is no such list of words", field=field) from None
    except (OSError, UnicodeDecodeError):
        raise SourceError(f"{path}: can't be read as a list of words in UTF-8", field=field) from None
    lines = (line.strip() for line in text.splitlines())
    return [line for line in lines if line and not line.startswith(_COMMENT)]


def _apart(small: str, start: int, end: int) -> bool:
    """Whether no letter or digit touches it; beside a sign of its own, anything may stand."""
    before = start == 0 or not (small[start - 1].isalnum() and small[start].isalnum())
    return before and (end == len(small) or not (small[end].isalnum() and small[end - 1].isalnum()))
