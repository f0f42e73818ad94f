"""All patterns in one pass over a text, in time linear in its length, whichever engine is installed.

Numbers and what holds an @ are looked for where digits or an @ stand (gates). For the rest, words above all, Hyperscan
looks for every pattern at once; RE2, which is there on every machine, learns in one pass which patterns occur in a
block, and looks closer for those only. All give the same matches: of each pattern, from left to right, the leftmost
and longest matches that don't overlap.

>>> text = "Ask for ４２ or 17."
>>> [text[start:end] for _, found in PatternScanner([within_edges("[0-9]{2}")]).matches(text) for start, end in found]
['４２', '17']
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, Protocol

import re2  # type: ignore[import-untyped]

from shoal.discover.recognisers.expressions import LOW_LINE, LinearOnUse, re2_options, spans, within_edges
from shoal.errors import InputError, install_advice
from shoal.text.matching.character_forms import as_read, first_bytes
from shoal.text.matching.context_words import ContextPositions
from shoal.text.matching.pattern_traits import traits_of
from shoal.text.matching.prefilter import (
    AtSignPrefilter,
    ByteRange,
    Match,
    Matches,
    NumberPrefilter,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["EngineName", "PatternScanner", "hyperscan", "within_edges"]

PatternCluster = tuple[int, int, int, bool]
EngineName = Literal["hyperscan", "re2"]

BLOCK = 1 << 18
"""Engines are given so many bytes and the rest of the line."""
SETS = 4
"""A set works out its states as it meets the words of a text, and they multiply with its patterns: the first megabytes
are read three times as fast by four sets as by one, all later ones half as fast, which is still 80 MB/s."""
_SIGNS = bytes.maketrans(b"_\x0b", LOW_LINE.encode() + b" ")
"""The low line is no letter, and the vertical tab, on which engines differ, is a blank."""


class PatternEngine(Protocol):
    def matches(self, data: bytes, start: int, end: int) -> Matches:
        """What the patterns match between two places, which are ends of lines."""


class PatternScanner:
    """Patterns ready to be looked for; those at the places in ``dense`` only where digits stand close together.

    Candidates of those in ``doubtful`` are worth nothing without context: where it is known that no word of theirs is
    near, numbers are not even looked at.

    RE2 is ready at once, and over the patterns that come with Shoal the quicker of the two; Hyperscan takes seconds to
    get ready, and bears more patterns of one's own.
    """

    def __init__(
        self,
        patterns: Sequence[str],
        engine: EngineName = "re2",
        dense: Collection[int] = frozenset(),
        doubtful: Collection[int] = frozenset(),
    ) -> None:
        if engine == "hyperscan" and not hyperscan():
            raise InputError("Hyperscan is not installed", advice=install_advice("text"))
        self.engine = engine
        traits = list(map(traits_of, patterns))
        numbers = [place for place, known in enumerate(traits) if place in dense or known.is_number]
        marked = [place for place, known in enumerate(traits) if place not in numbers and known.holds_at]
        others = [place for place in range(len(patterns)) if place not in {*numbers, *marked}]
        anywhere = HyperscanEngine if self.engine == "hyperscan" else Re2Engine
        self._numbers = NumberPrefilter({place: patterns[place] for place in numbers}, dense, doubtful)
        self._engines: list[tuple[list[int], PatternEngine]] = [
            (places, make([patterns[place] for place in places]))
            for make, places in ((AtSignPrefilter, marked), (anywhere, others))
        ]

    def matches(self, text: str, near: ContextPositions | None = None) -> Iterator[Match]:
        """What each pattern matches, in characters of the text, block by block. With context it is given as read.

        Blocks are whole lines, so what memory holds is bounded; a match over the end of a line is not seen where two
        blocks meet.
        """
        plain = text.isascii()
        read = text if near is not None else as_read(text)
        data = read.encode("utf-8", "replace").translate(_SIGNS)
        if near is not None and not plain:
            near = near.in_bytes(data)
        starts = () if plain else first_bytes(data).nonzero()[0]
        for start, end in _blocks(data):
            found = self._in_block(data, near, start, end)
            yield from found if plain else _in_characters(found, starts)

    def _in_block(self, data: bytes, near: ContextPositions | None, start: int, end: int) -> Matches:
        return self._numbers.matches(data, near, start, end) + [
            (places[place], found)
            for places, engine in self._engines
            for place, found in engine.matches(data, start, end)
        ]


def _blocks(data: bytes) -> Iterator[ByteRange]:
    """Pieces of whole lines."""
    start = 0
    while start < len(data):
        cut = data.find(b"\n", start + BLOCK)
        end = len(data) if cut < 0 else cut + 1
        yield start, end
        start = end


def _in_characters(matches: Matches, starts: Sequence[int] | NDArray[np.int64]) -> Iterator[Match]:
    import numpy as np

    for place, found in matches:
        moved = np.searchsorted(starts, np.array(found, np.int64))
        yield place, [(start, end) for start, end in moved.tolist()]


@cache
def hyperscan() -> Any:
    """The library, or None where it is not installed."""
    try:
        import hyperscan as library
    except ImportError:
        return None
    return library


class Re2Engine:
    """A few sets that tell which patterns occur, and each of those by itself."""

    def __init__(self, patterns: Sequence[str]) -> None:
        self._each = LinearOnUse(dict(enumerate(patterns)))
        self._sets = [(places, _set_of(patterns, places)) for places in _dealt_out(len(patterns))]

    def matches(self, data: bytes, start: int, end: int) -> Matches:
        block = data[start:end]
        occurring = sorted(places[number] for places, occur in self._sets for number in occur.Match(block) or ())
        return [(pattern, self.of(pattern, data, start, end)) for pattern in occurring]

    def of(self, pattern: int, data: bytes, start: int, end: int) -> list[ByteRange]:
        return spans(self._each[pattern], data, start, end)


def _dealt_out(patterns: int) -> list[range]:
    return [range(first, patterns, SETS) for first in range(min(SETS, patterns))]


def _set_of(patterns: Sequence[str], places: Iterable[int]) -> Any:
    made = re2.Set.SearchSet(re2_options(256 // SETS))
    for place in places:
        made.Add(patterns[place].encode())
    made.Compile()
    return made


class HyperscanEngine:
    """One pass for all. It tells each place where a match can end, with the leftmost start that fits.

    Ends with the same start are one match, the longest. Where such matches overlap, which of them stay is left to RE2,
    within the piece that they cover. Of patterns that are too large for starts to be told, Hyperscan finds out whether
    they occur in a block, and RE2 where.
    """

    def __init__(self, patterns: Sequence[str]) -> None:
        self._re2 = Re2Engine(patterns)
        self._patterns = len(patterns)
        self._lock = threading.Lock()
        self._database, self.large = _compiled(patterns)

    def matches(self, data: bytes, start: int, end: int) -> Matches:
        found: defaultdict[int, list[ByteRange]] = defaultdict(list)
        for pattern, first, last, several in _clusters(self._groups(data[start:end])):
            if pattern in self.large:
                found[pattern] += self._re2.of(pattern, data, start, end)
            elif several:
                found[pattern] += self._re2.of(pattern, data, first + start, last + start)
            else:
                found[pattern].append((first + start, last + start))
        return list(found.items())

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


def _clusters(groups: Iterable[list[int]]) -> Iterator[PatternCluster]:
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
