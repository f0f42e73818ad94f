"""A text while it is being scrubbed: pieces of the original, and what stands in the place of others.

The pieces know where they come from, so that each replacement can be told by its place before and after.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from typing import NamedTuple

Range = tuple[int, int]
"""Characters from the first number to before the second."""


class PieceTableEntry(NamedTuple):
    """``text`` stands for the characters ``start`` to ``end`` of the original; with a type it replaces them."""

    text: str
    start: int
    end: int
    type: str | None = None


class TextReplacement(NamedTuple):
    """What is to stand at a range of the text as it is by now."""

    start: int
    end: int
    type: str
    text: str


def joined(pieces: Iterable[PieceTableEntry]) -> str:
    return "".join([piece.text for piece in pieces])


def replaced_ranges(pieces: Sequence[PieceTableEntry]) -> list[Range]:
    """Where the replacements of earlier rounds stand in the joined text."""
    found, at = [], 0
    for piece in pieces:
        if piece.type is not None:
            found.append((at, at + len(piece.text)))
        at += len(piece.text)
    return found


def replaced_places(replacements: Sequence[TextReplacement]) -> list[Range]:
    """Where replacements stand once all of them, in order, are made."""
    found, longer = [], 0
    for start, end, _, text in replacements:
        found.append((start + longer, start + longer + len(text)))
        longer += len(text) - (end - start)
    return found


def with_replacements(
    pieces: Sequence[PieceTableEntry], replacements: Sequence[TextReplacement]
) -> list[PieceTableEntry]:
    """The pieces with further replacements, in order, each inside a piece of the original.

    >>> table, done = [PieceTableEntry("call Asha now", 0, 13)], [TextReplacement(5, 9, "person", "[PERSON]")]
    >>> joined(with_replacements(table, done))
    'call [PERSON] now'
    """
    made: list[PieceTableEntry] = []
    waiting = list(reversed(replacements))
    at = 0
    for piece in pieces:
        text, start, _, kind = piece
        end = at + len(text)
        done = 0
        while kind is None and waiting and waiting[-1].end <= end:
            new = waiting.pop()
            first, last = new.start - at, new.end - at
            if first > done:
                made.append(PieceTableEntry(text[done:first], start + done, start + first))
            made.append(PieceTableEntry(new.text, start + first, start + last, new.type))
            done = last
        if not done:
            made.append(piece)
        elif done < len(text):
            made.append(PieceTableEntry(text[done:], start + done, piece.end))
        at = end
    return made


class ReservedRanges:
    """Ranges that are not to be touched. Those that overlap or touch count as one."""

    def __init__(self, ranges: Iterable[Range]) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []
        for start, end in sorted(ranges):
            if self._ends and start <= self._ends[-1]:
                self._ends[-1] = max(self._ends[-1], end)
            else:
                self._starts.append(start)
                self._ends.append(end)

    def outside(self, start: int, end: int) -> list[Range]:
        """The parts of a range that are not taken.

        >>> ReservedRanges([(8, 12), (2, 4)]).outside(0, 10)
        [(0, 2), (4, 8)]
        """
        parts, at = [], start
        for place in range(bisect_right(self._ends, start), bisect_left(self._starts, end)):
            if self._starts[place] > at:
                parts.append((at, self._starts[place]))
            at = self._ends[place]
        return [*parts, (at, end)] if at < end else parts
