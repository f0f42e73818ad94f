"""Where a pattern can match at all: most kinds of values are numbers, or hold an @, and most text is neither.

Numbers are stretches in which digits stand close together; the outline of a stretch tells, once for all that look the
same, which patterns are worth a closer look.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import re2  # type: ignore[import-untyped]

from shoal.discover.recognisers.expressions import linear, re2_options, spans
from shoal.text.outlines import SIGNS, least, may_hold_blanks, outline, spread

Candidate = tuple[int, int, int]
"""The pattern's place in the list, and where the match starts and ends."""

FEWEST_DIGITS = 2
APART = 12
"""Bytes between two digits of the same stretch, at most."""
AROUND = 16
"""Bytes before the first and after the last digit that belong to the stretch too."""
LONGEST_SIDE = 512
REMEMBERED = 50_000
SHORT = 4096
_STRETCH = re.compile(rb"[0-9](?:[^0-9]{0,%d}+[0-9])++" % APART)


def is_number(pattern: str) -> bool:
    """Whether all that the pattern matches lies within a stretch of digits."""
    spreads = spread(pattern)
    if spreads is None or least(pattern) < FEWEST_DIGITS or outline(pattern) is None:
        return False
    return max(spreads.lead, spreads.tail) <= AROUND and spreads.gap <= APART


def holds_at(pattern: str) -> bool:
    """Whether all that the pattern matches holds an @ and no blank."""
    return least(pattern, "@") > 0 and not may_hold_blanks(pattern)


class Numbers:
    """Patterns that match within stretches of digits only."""

    def __init__(self, patterns: Sequence[str]) -> None:
        self._each = [linear(pattern) for pattern in patterns]
        self._known: dict[bytes, list[int]] = {}
        self._outlines = re2.Set.SearchSet(re2_options(64))
        for pattern in patterns:
            self._outlines.Add((outline(pattern) or "").encode())
        if patterns:
            self._outlines.Compile()

    def candidates(self, data: bytes) -> list[Candidate]:
        if not self._each:
            return []
        outlines = data.translate(SIGNS)
        return [
            (pattern, *span)
            for start, end in stretches(data)
            for pattern in self._fitting(outlines[start:end])
            for span in spans(self._each[pattern], data, start, end)
        ]

    def _fitting(self, seen: bytes) -> list[int]:
        fitting = self._known.get(seen)
        if fitting is None:
            if len(self._known) >= REMEMBERED:
                self._known.clear()
            fitting = self._known[seen] = self._outlines.Match(seen) or []
        return fitting


def stretches(data: bytes) -> Iterable[tuple[int, int]]:
    """Where digits stand close together. Arrays are the quicker way, but not for a single line."""
    return _by_arrays(data) if len(data) > SHORT else _by_search(data)


def _by_search(data: bytes) -> Iterator[tuple[int, int]]:
    for found in _STRETCH.finditer(data):
        yield max(found.start() - AROUND, 0), min(found.end() + AROUND, len(data))


def _by_arrays(data: bytes) -> Iterable[tuple[int, int]]:
    signs = np.frombuffer(data, np.uint8)
    digits = np.flatnonzero((signs >= ord("0")) & (signs <= ord("9")))
    cuts = np.flatnonzero(np.diff(digits) > APART + 1)
    first, last = np.append(0, cuts + 1), np.append(cuts, digits.size - 1)
    enough = last - first + 1 >= FEWEST_DIGITS
    starts = np.maximum(digits[first[enough]] - AROUND, 0)
    ends = np.minimum(digits[last[enough]] + 1 + AROUND, len(data))
    return zip(starts.tolist(), ends.tolist(), strict=True)


class Marked:
    """Patterns that match within words that hold an @ only."""

    def __init__(self, patterns: Sequence[str]) -> None:
        self._each = [linear(pattern) for pattern in patterns]

    def candidates(self, data: bytes) -> list[Candidate]:
        if not self._each or b"@" not in data:
            return []
        return [
            (place, *span)
            for start, end in _words_with_at(data)
            for place, pattern in enumerate(self._each)
            for span in spans(pattern, data, start, end)
        ]


def _words_with_at(data: bytes) -> Iterator[tuple[int, int]]:
    """Up to so many bytes before and after: longer words are no addresses."""
    end = 0
    at = data.find(b"@")
    while at >= 0:
        before = data[max(end, at - LONGEST_SIDE) : at]
        start = at - len(before.rsplit(None, 1)[-1]) if before and not before[-1:].isspace() else at
        end = at + len(data[at : at + LONGEST_SIDE].split(None, 1)[0])
        yield start, end
        at = data.find(b"@", end)
