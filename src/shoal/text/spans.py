"""A span: a piece of a text that is of some kind, how sure that is, and who says so."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol


class Span(NamedTuple):
    """Characters ``start`` to ``end`` (exclusive) of a text."""

    start: int
    end: int
    type: str
    """What a recogniser calls it: ``person``, ``aadhaar``, ``email``."""
    score: float
    by: str
    """The recogniser's key, the dictionary or the model that found it."""

    @property
    def length(self) -> int:
        return self.end - self.start

    def overlaps(self, other: Span) -> bool:
        return self.start < other.end and other.start < self.end

    def holds(self, other: Span) -> bool:
        return self.start <= other.start and other.end <= self.end


class Finder(Protocol):
    """Something that finds spans: patterns, dictionaries, a learned model. What it finds may overlap."""

    def find(self, text: str) -> Iterable[Span]: ...


def merged(spans: Iterable[Span], threshold: float) -> list[Span]:
    """Spans that don't overlap, in order: of those that do, the surer, then the longer, then the earlier stays.

    What a weaker span covers beyond a stronger one is kept as a piece of its own kind, so that nothing that was found
    is left uncovered.

    >>> found = merged([Span(0, 9, "person", 0.6, "names"), Span(5, 20, "email", 0.9, "email")], 0.5)
    >>> [(span.start, span.end, span.type) for span in found]
    [(0, 5, 'person'), (5, 20, 'email')]
    """
    settled: list[Span] = []
    together: list[Span] = []
    end = 0
    for span in sorted(span for span in spans if span.score >= threshold):
        if together and span.start >= end:
            settled += _settled(together)
            together = []
        together.append(span)
        end = max(end, span.end) if len(together) > 1 else span.end
    return settled + _settled(together)


def _settled(together: Sequence[Span]) -> list[Span]:
    """Of spans that hang together, what stays; one by itself does, unless it is empty."""
    if len(together) == 1 and together[0].start < together[0].end:
        return [together[0]]
    kept: list[Span] = []
    for span in sorted(together, key=lambda one: (-one.score, -one.length, one.start)):
        for piece in _beyond(span, kept):
            insort(kept, piece)
    return kept


def _beyond(span: Span, kept: Sequence[Span]) -> list[Span]:
    """The pieces of a span that no stronger one covers; those kept are in order and don't overlap."""
    place = bisect_left(kept, span.start, key=lambda other: other.end)
    pieces, start = [], span.start
    while place < len(kept) and kept[place].start < span.end:
        other = kept[place]
        if other.end > start:
            if other.start > start:
                pieces.append((start, other.start))
            start = other.end
        place += 1
    if start < span.end:
        pieces.append((start, span.end))
    return [Span(start, end, span.type, span.score, span.by) for start, end in pieces]
