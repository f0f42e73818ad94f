"""Many short texts, looked through in one pass for all, with the outcome of one pass for each.

The texts stand one after the other with a wall between them: a row of signs with a line end in its middle, longer than
any pattern's surroundings reach. No pattern may begin or end with that sign, and none may hold both the sign and a line
end. So all that matches lies within one text; and as the sign is neither letter nor digit, a text ends at the wall as
it ends by itself. Patterns for which no such sign is to be found are looked for in each text by itself.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate

from shoal.text.matching.pattern_syntax import (
    Characters,
    Choice,
    NodeSequence,
    PatternEdge,
    Repeat,
    SingleNode,
    least_length,
    read_pattern,
    singles,
)
from shoal.text.matching.patterns import PatternFinder
from shoal.text.spans import Span

THICKNESS = 64
"""Characters of a wall: more than the reach of context and the gaps within numbers."""
FEWEST = 4
"""For fewer texts a wall does not pay."""
MOST = 1 << 18
"""Characters in one pass."""
LINE_END = "\n"
_SIGNS = "}]{|^`~&;\\$%\0"


class BatchedPatternFinder:
    """What patterns find in each of several texts."""

    def __init__(self, patterns: PatternFinder) -> None:
        self._patterns = patterns
        self._sign = separator_for(patterns)

    def find_many(self, texts: Sequence[str]) -> list[Sequence[Span]]:
        found: list[Sequence[Span]] = [()] * len(texts)
        together: list[int] = []
        size = 0
        for place, text in enumerate(texts):
            if self._sign is None or not text.isascii() or len(text) > MOST:
                found[place] = list(self._patterns.find(text))
                continue
            if size + len(text) > MOST:
                self._together(texts, together, found)
                together, size = [], 0
            together.append(place)
            size += len(text) + THICKNESS
        self._together(texts, together, found)
        return found

    def _together(self, texts: Sequence[str], places: Sequence[int], found: list[Sequence[Span]]) -> None:
        if self._sign is None or len(places) < FEWEST:
            for place in places:
                found[place] = list(self._patterns.find(texts[place]))
            return
        wall = self._sign * (THICKNESS // 2) + LINE_END + self._sign * (THICKNESS // 2)
        starts = list(accumulate((len(texts[place]) + len(wall) for place in places), initial=0))
        of_each: dict[int, list[Span]] = {}
        for start, end, kind, score, by in self._patterns.find(wall.join([texts[place] for place in places])):
            number = bisect_right(starts, start) - 1
            first = starts[number]
            of_each.setdefault(number, []).append(Span(start - first, end - first, kind, score, by))
        for number, spans in of_each.items():
            found[places[number]] = spans


def separator_for(patterns: PatternFinder) -> str | None:
    """A sign that walls can be built of; None where there is none."""
    expressions = [
        read_pattern(expression)
        for recogniser in patterns.recognisers
        if recogniser.text
        for expression in (recogniser.text.expression, *([recogniser.text.labelled] if recogniser.text.after else ()))
    ]
    return next((sign for sign in _SIGNS if all(_separates(sign, parsed) for parsed in expressions)), None)


def _separates(sign: str, parsed: NodeSequence | None) -> bool:
    if parsed is None or _begins(parsed, sign) or _begins(parsed, sign, backwards=True):
        return False
    found = list(singles(parsed))
    bound = any(isinstance(one, PatternEdge) and not one.is_of_word for one in found)
    return not bound and not (_any_is(found, sign) and _any_is(found, LINE_END))


def _any_is(found: Iterable[SingleNode], sign: str) -> bool:
    return any(isinstance(one, Characters) and sign in one for one in found)


def _begins(nodes: NodeSequence, sign: str, *, backwards: bool = False) -> bool:
    """Whether a match can begin (or end) with the sign."""
    for node in reversed(nodes) if backwards else nodes:
        match node:
            case PatternEdge():
                continue
            case Characters():
                return sign in node
            case Choice(branches):
                inner, may_be_left_out = branches, False
            case Repeat(low, _, repeated):
                inner, may_be_left_out = (repeated,), low == 0
        if any(_begins(each, sign, backwards=backwards) for each in inner):
            return True
        if not may_be_left_out and all(map(least_length, inner)):
            return False
    return False
