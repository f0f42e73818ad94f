"""Where a pattern can match at all: most kinds of values are numbers, or hold an @, and most text is neither.

Numbers are stretches in which digits stand close together; the outline of a stretch tells, once for all that look the
same, which patterns are worth a closer look.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence

import re2  # type: ignore[import-untyped]

from shoal.discover.recognisers.expressions import LinearOnUse, re2_options, spans
from shoal.text.matching.context_words import ContextPositions
from shoal.text.matching.pattern_shape import SIGNS
from shoal.text.matching.pattern_traits import APART, AROUND, FEWEST_DIGITS, traits_of

ByteRange = tuple[int, int]
"""Where it starts and ends."""
Match = tuple[int, list[ByteRange]]
"""A pattern's place in the list, and what it matches."""
Matches = list[Match]
FittingPatterns = tuple[list[int], list[int]]
"""Patterns that may match in what looks like this: for certain worth a look, and with context only."""

LONGEST_SIDE = 512
REMEMBERED = 50_000
SHORT = 4096
WORTH_A_CALL = 400
"""An engine reads so many bytes in the time that one more call takes."""
ZERO, TEN = ord("0"), 10
_STRETCH = re.compile(rb"[0-9](?:[^0-9]{0,%d}+[0-9])++" % APART)


class NumberPrefilter:
    """Patterns that match within stretches of digits only, each by its place in a longer list."""

    def __init__(
        self,
        patterns: Mapping[int, str],
        dense: Collection[int] = frozenset(),
        doubtful: Collection[int] = frozenset(),
    ) -> None:
        self._places = list(patterns)
        self._each = LinearOnUse(patterns)
        self._dense, self._doubtful = frozenset(dense), frozenset(doubtful)
        self._known: dict[bytes, FittingPatterns] = {}
        self._outlines = re2.Set.SearchSet(re2_options(64))
        for pattern in patterns.values():
            self._outlines.Add((traits_of(pattern).shape or "").encode())
        if patterns:
            self._outlines.Compile()

    def matches(self, data: bytes, near: ContextPositions | None, start: int, end: int) -> Matches:
        """What the patterns match between two places; doubtful ones only where words of their context are near."""
        if not self._places:
            return []
        return [
            (place, [span for piece in looked_at for span in spans(self._each[place], data, *piece)])
            for place, pieces in self._worth(data, near, start, end).items()
            for looked_at in (self._looked_at(place, pieces, start, end),)
        ]

    def _worth(self, data: bytes, near: ContextPositions | None, start: int, end: int) -> dict[int, list[ByteRange]]:
        """The stretches that are worth a closer look, by pattern."""
        pieces = stretches(data, start, end)
        outlines = data[start:end].translate(SIGNS)
        alike: dict[bytes, list[ByteRange]] = defaultdict(list)
        for piece in pieces:
            alike[outlines[piece[0] - start : piece[1] - start]].append(piece)
        worth: dict[int, list[ByteRange]] = defaultdict(list)
        for seen, where in alike.items():
            sure, doubtful = self._fitting(seen)
            for place in sure if near else (*sure, *doubtful):
                worth[place] += where
        for piece in near.those_near(pieces) if near else ():
            for place in self._fitting(outlines[piece[0] - start : piece[1] - start])[1]:
                if near is not None and near(place, *piece):
                    worth[place].append(piece)
        return worth

    def _looked_at(self, place: int, pieces: list[ByteRange], start: int, end: int) -> list[ByteRange]:
        """Where nearly every stretch is worth a look, one pass over all is quicker."""
        return pieces if place in self._dense or len(pieces) * WORTH_A_CALL < end - start else [(start, end)]

    def _fitting(self, seen: bytes) -> FittingPatterns:
        fitting = self._known.get(seen)
        if fitting is None:
            if len(self._known) >= REMEMBERED:
                self._known.clear()
            places = [self._places[number] for number in self._outlines.Match(seen) or ()]
            doubtful = [place for place in places if place in self._doubtful]
            fitting = self._known[seen] = [place for place in places if place not in self._doubtful], doubtful
        return fitting


def stretches(data: bytes, start: int, end: int) -> list[ByteRange]:
    """Where digits stand close together. Arrays are the quicker way, but not for a single line."""
    return _by_arrays(data, start, end) if end - start > SHORT else _by_search(data, start, end)


def _by_search(data: bytes, start: int, end: int) -> list[ByteRange]:
    found = (match.span() for match in _STRETCH.finditer(data, start, end))
    return [(max(first - AROUND, start), min(last + AROUND, end)) for first, last in found]


def _by_arrays(data: bytes, start: int, end: int) -> list[ByteRange]:
    import numpy as np

    digits = np.flatnonzero(np.frombuffer(data, np.uint8, end - start, start) - np.uint8(ZERO) < TEN) + start
    cuts = np.flatnonzero(np.diff(digits) > APART + 1)
    first, last = np.append(0, cuts + 1), np.append(cuts, digits.size - 1)
    enough = last - first + 1 >= FEWEST_DIGITS
    starts = np.maximum(digits[first[enough]] - AROUND, start)
    ends = np.minimum(digits[last[enough]] + 1 + AROUND, end)
    return list(zip(starts.tolist(), ends.tolist(), strict=True))


class AtSignPrefilter:
    """Patterns that match within words that hold an @ only."""

    def __init__(self, patterns: Sequence[str]) -> None:
        self._each = LinearOnUse(dict(enumerate(patterns)))

    def matches(self, data: bytes, start: int, end: int) -> Matches:
        words = list(_words_with_at(data, start, end)) if self._each.patterns else []
        return [
            (place, [span for word in words for span in spans(self._each[place], data, *word)])
            for place in (self._each.patterns if words else ())
        ]


def _words_with_at(data: bytes, start: int, end: int) -> Iterator[ByteRange]:
    """Up to so many bytes before and after: longer words are no addresses."""
    at = data.find(b"@", start, end)
    while at >= 0:
        before = data[max(start, at - LONGEST_SIDE) : at]
        first = at - len(before.rsplit(None, 1)[-1]) if before and not before[-1:].isspace() else at
        start = at + len(data[at : min(at + LONGEST_SIDE, end)].split(None, 1)[0])
        yield first, start
        at = data.find(b"@", start, end)
