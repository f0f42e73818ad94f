"""Words of context: where they stand is found for all recognisers in one pass, and asked of each candidate.

Words of up to four letters have to stand alone: "car" is not in "card".

>>> near = ContextWords([("phone", "tel"), ("car",)]).of("Tel: 5550 100. The card is lost.")
>>> near(0, 5, 13), near(1, 5, 13)
(True, False)
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from operator import itemgetter

from ahocorasick_rs import AhoCorasick, BytesAhoCorasick, Implementation

from shoal.text.matching.character_forms import first_bytes

REACH = 48
"""Characters before and after a candidate in which context words count."""
SHORT = 4
FEW = 64
"""Arrays are the quicker way, but not for a single line."""
LONGEST_CHARACTER = 4
"""Bytes."""

ContextHits = tuple[int, int, int]
"""A word, and where it starts and ends."""


class ContextWords:
    """The context words of several recognisers; a recogniser is known by its place among them."""

    def __init__(self, context: Sequence[tuple[str, ...]]) -> None:
        self._words = sorted({word.strip() for words in context for word in words})
        numbers = {word: number for number, word in enumerate(self._words)}
        self._asked = [tuple(numbers[word.strip()] for word in words) for words in context]
        self._short = {number for word, number in numbers.items() if len(word) <= SHORT and word.isascii()}
        self._plain = [number for word, number in numbers.items() if word.isascii()]
        plain = [self._words[number].encode() for number in self._plain]
        self._in_ascii = BytesAhoCorasick(plain, implementation=Implementation.DFA)
        self._in_any = AhoCorasick(self._words)

    def of(self, text: str) -> ContextPositions:
        return ContextPositions(self._alone(text), self._asked, REACH)

    def _alone(self, text: str) -> list[ContextHits]:
        """Short words only where no letter or digit touches them, apart from the s of the plural."""
        short = self._short
        lowered = text.lower() if text.isascii() else _lowered(text)
        signs = f"{lowered}  "
        return [
            hit
            for hit in self._found(lowered)
            if hit[0] not in short
            or not (
                (hit[1] and signs[hit[1] - 1] in _PLAIN_SIGNS) or signs[hit[2] + (signs[hit[2]] == "s")] in _PLAIN_SIGNS
            )
        ]

    def _found(self, lowered: str) -> Iterable[ContextHits]:
        if not lowered.isascii():
            return self._in_any.find_matches_as_indexes(lowered, overlapping=True)
        plain = self._plain
        found = self._in_ascii.find_matches_as_indexes(lowered.encode(), overlapping=True)
        return [(plain[word], start, end) for word, start, end in found]


def _lowered(text: str) -> str:
    """In small letters, character for character: of all letters, only the İ becomes two."""
    return "İ".join([part.lower() for part in text.split("İ")])


_PLAIN_SIGNS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789")


class ContextPositions:
    """Where the words stand in one text."""

    def __init__(self, found: Iterable[ContextHits], asked: Sequence[tuple[int, ...]], reach: int) -> None:
        self._found = sorted(found, key=itemgetter(1))
        self._asked = asked
        self._reach = reach
        self._starts = [start for _, start, _ in self._found]
        self._words: dict[int, list[tuple[int, int]]] = {}
        for word, start, end in self._found:
            self._words.setdefault(word, []).append((start, end))
        self._known: dict[int, list[tuple[int, int]]] = {}

    def __call__(self, place: int, start: int, end: int) -> bool:
        """Whether a word of this recogniser stands whole within reach."""
        known = self._known.get(place)
        if known is None:
            known = self._known[place] = self._of(place)
        last = end + self._reach
        for first in range(bisect_left(known, (start - self._reach,)), len(known)):
            begins, ends = known[first]
            if begins >= last:
                return False
            if ends <= last:
                return True
        return False

    def _of(self, place: int) -> list[tuple[int, int]]:
        words = self._words
        if not words:
            return []
        return sorted(where for word in self._asked[place] if word in words for where in words[word])

    def those_near(self, pieces: Sequence[tuple[int, int]]) -> Iterable[tuple[int, int]]:
        """Those pieces within reach of which a word of any recogniser begins."""
        starts, reach = self._starts, self._reach
        if not starts:
            return ()
        if len(pieces) < FEW:
            return [
                (start, end)
                for start, end in pieces
                if bisect_left(starts, start - reach) < bisect_left(starts, end + reach)
            ]
        import numpy as np

        found = np.array(starts)
        first = np.searchsorted(found, np.fromiter((start for start, _ in pieces), np.int64, len(pieces)) - reach)
        last = np.searchsorted(found, np.fromiter((end for _, end in pieces), np.int64, len(pieces)) + reach)
        return [pieces[place] for place in np.flatnonzero(first < last).tolist()]

    def in_bytes(self, data: bytes) -> ContextPositions:
        """The same over the text as bytes. As bytes are no characters, more than what is near may count as near."""
        import numpy as np

        places = np.append(np.flatnonzero(first_bytes(data)), len(data))
        words, starts, ends = zip(*self._found, strict=True) if self._found else ((), (), ())
        moved = zip(words, places[np.array(starts, int)].tolist(), places[np.array(ends, int)].tolist(), strict=True)
        return ContextPositions(moved, self._asked, self._reach * LONGEST_CHARACTER)
