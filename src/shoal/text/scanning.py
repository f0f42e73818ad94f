"""All patterns in one pass over a text, in time linear in its length, whichever engine is installed.

Numbers and what holds an @ are looked for where digits or an @ stand (gates). For the rest, words above all, Hyperscan
looks for every pattern at once; RE2, which is there on every machine, learns in one pass which patterns occur in a
block, and looks closer for those only. All give the same candidates: of each pattern, from left to right, the leftmost
and longest matches that don't overlap.

>>> text = "Ask for ４２ or 17."
>>> [text[start:end] for _, start, end in Scanner([within_edges("[0-9]{2}")]).candidates(text)]
['４２', '17']
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cache
from typing import Any, Literal, Protocol

import numpy as np
import re2  # type: ignore[import-untyped]

from shoal.discover.recognisers.expressions import LOW_LINE, linear, re2_options, spans, within_edges
from shoal.errors import InputError
from shoal.text.gates import Candidate, Marked, Numbers, holds_at, is_number
from shoal.text.plain_forms import as_read

__all__ = ["Candidate", "EngineName", "Scanner", "hyperscan", "within_edges"]

Cluster = tuple[int, int, int, bool]
EngineName = Literal["hyperscan", "re2"]

BLOCK = 1 << 20
"""Engines are given so many bytes and the rest of the line."""
_SIGNS = bytes.maketrans(b"_\x0b", LOW_LINE.encode() + b" ")
"""The low line is no letter, and the vertical tab, on which engines differ, is a blank."""


class Engine(Protocol):
    def candidates(self, data: bytes) -> list[Candidate]: ...


class Scanner:
    """Patterns ready to be looked for; those at the places in ``dense`` only where digits stand close together.

    RE2 is ready at once, and over the patterns that come with Shoal the quicker of the two; Hyperscan takes seconds to
    get ready, and bears more patterns of one's own.
    """

    def __init__(
        self, patterns: Sequence[str], engine: EngineName = "re2", dense: Collection[int] = frozenset()
    ) -> None:
        if engine == "hyperscan" and not hyperscan():
            raise InputError("Hyperscan is not installed", advice="pip install 'shoal[text]'")
        self.engine = engine
        numbers = [place for place, pattern in enumerate(patterns) if place in dense or is_number(pattern)]
        marked = [place for place, pattern in enumerate(patterns) if place not in numbers and holds_at(pattern)]
        others = [place for place in range(len(patterns)) if place not in {*numbers, *marked}]
        anywhere = Hyperscan if self.engine == "hyperscan" else RE2
        self._engines: list[tuple[list[int], Engine]] = [
            (places, make([patterns[place] for place in places]))
            for make, places in ((Numbers, numbers), (Marked, marked), (anywhere, others))
        ]

    def candidates(self, text: str) -> Iterator[Candidate]:
        """What the patterns match, in characters of the text, block by block, in no other order.

        Blocks are whole lines, so what memory holds is bounded; a match over the end of a line is not seen where two
        blocks meet.
        """
        plain = text.isascii()
        data = as_read(text).encode("utf-8", "replace").translate(_SIGNS)
        characters = 0
        for block, first in _blocks(data):
            found = self._in_block(block)
            yield from _moved(found, first) if plain else _in_characters(found, block, characters)
            characters += 0 if plain else int(np.count_nonzero(_first_bytes(block)))

    def _in_block(self, block: bytes) -> list[Candidate]:
        return [
            (places[place], start, end)
            for places, engine in self._engines
            for place, start, end in engine.candidates(block)
        ]


def _blocks(data: bytes) -> Iterator[tuple[bytes, int]]:
    """Pieces of whole lines, and where they begin."""
    start = 0
    while start < len(data):
        cut = data.find(b"\n", start + BLOCK)
        end = len(data) if cut < 0 else cut + 1
        yield (data if end - start == len(data) else data[start:end]), start
        start = end


def _moved(found: list[Candidate], offset: int) -> list[Candidate]:
    return [(pattern, start + offset, end + offset) for pattern, start, end in found] if offset else found


def _first_bytes(data: bytes) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Which bytes begin a character."""
    first: np.ndarray[Any, np.dtype[np.bool_]] = (np.frombuffer(data, np.uint8) & 0xC0) != 0x80
    return first


def _in_characters(found: list[Candidate], data: bytes, offset: int) -> Iterable[Candidate]:
    if not found:
        return ()
    places = np.array(found, np.int64)
    places[:, 1:] = np.searchsorted(np.flatnonzero(_first_bytes(data)), places[:, 1:]) + offset
    return ((pattern, start, end) for pattern, start, end in places.tolist())


@cache
def hyperscan() -> Any:
    """The library, or None where it is not installed."""
    try:
        import hyperscan as library
    except ImportError:
        return None
    return library


class RE2:
    """One set that tells which patterns occur, and each of those by itself."""

    def __init__(self, patterns: Sequence[str]) -> None:
        self._each = [linear(pattern) for pattern in patterns]
        self._set = re2.Set.SearchSet(re2_options(256))
        for pattern in patterns:
            self._set.Add(pattern.encode())
        if patterns:
            self._set.Compile()

    def candidates(self, data: bytes) -> list[Candidate]:
        occurring = sorted(self._set.Match(data) or ()) if self._each else ()
        return [one for pattern in occurring for one in self.of(pattern, data, 0, len(data))]

    def of(self, pattern: int, data: bytes, start: int, end: int) -> list[Candidate]:
        return [(pattern, *span) for span in spans(self._each[pattern], data, start, end)]


class Hyperscan:
    """One pass for all. It tells each place where a match can end, with the leftmost start that fits.

    Ends with the same start are one match, the longest. Where such matches overlap, which of them stay is left to RE2,
    within the piece that they cover. Of patterns that are too large for starts to be told, Hyperscan finds out whether
    they occur in a block, and RE2 where.
    """

    def __init__(self, patterns: Sequence[str]) -> None:
        self._re2 = RE2(patterns)
        self._patterns = len(patterns)
        self._lock = threading.Lock()
        self._database, self.large = _compiled(patterns)

    def candidates(self, data: bytes) -> list[Candidate]:
        found: list[Candidate] = []
        for pattern, start, end, several in _clusters(self._groups(data)):
            if pattern in self.large:
                found += self._re2.of(pattern, data, 0, len(data))
            else:
                found += self._re2.of(pattern, data, start, end) if several else [(pattern, start, end)]
        return found

    def _groups(self, data: bytes) -> list[list[int]]:
        """Pattern, start and last end of what was matched, by pattern and start."""
        groups: list[list[int]] = []
        latest = [[-1, -1, -1]] * self._patterns

        def note(pattern: int, start: int, end: int, _flags: int, _context: object) -> None:
            group = latest[pattern]
            if group[1] == start:
                group[2] = end
            else:
                latest[pattern] = group = [pattern, start, end]
                groups.append(group)

        if self._database is not None:
            with self._lock:
                self._database.scan(data, match_event_handler=note)
        groups.sort()
        return groups


def _clusters(groups: Iterable[list[int]]) -> Iterator[Cluster]:
    """Matches of a pattern that overlap, as one piece of the text."""
    last_pattern, first, last, several = -1, 0, 0, False
    for pattern, start, end in groups:
        if pattern == last_pattern and start < last:
            last, several = max(last, end), True
            continue
        if last_pattern >= 0:
            yield last_pattern, first, last, several
        last_pattern, first, last, several = pattern, start, end, False
    if last_pattern >= 0:
        yield last_pattern, first, last, several


def _compiled(patterns: Sequence[str]) -> tuple[Any, frozenset[int]]:
    """A database of all patterns, and the places of those without starts."""
    if not patterns:
        return None, frozenset()
    large = frozenset(place for place, pattern in enumerate(patterns) if _database([pattern], frozenset()) is None)
    database = _database(patterns, large)
    if database is None:
        raise InputError("Hyperscan can't take these patterns", advice="use the engine re2")
    return database, large


def _database(patterns: Sequence[str], large: Collection[int]) -> Any:
    library = hyperscan()
    database = library.Database()
    first_only, starts = library.HS_FLAG_SINGLEMATCH, library.HS_FLAG_SOM_LEFTMOST
    characters = library.HS_FLAG_UTF8
    try:
        database.compile(
            expressions=[pattern.encode() for pattern in patterns],
            ids=list(range(len(patterns))),
            elements=len(patterns),
            flags=[
                (first_only if place in large else starts) | (0 if pattern.isascii() else characters)
                for place, pattern in enumerate(patterns)
            ],
        )
    except library.HyperscanError:
        return None
    return database
