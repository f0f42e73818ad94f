"""Many short texts, looked through in one pass for all, with the outcome of one pass for each.

The texts stand one after the other with a wall between them: a row of signs with a line end in its middle, longer than
any pattern's surroundings reach. No pattern may begin or end with that sign, and none may hold both the sign and a line
end. So all that matches lies within one text; and as the sign is neither letter nor digit, a text ends at the wall as
it ends by itself. Patterns for which no such sign is to be found are looked for in each text by itself.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

from shoal.text.matching.pattern_traits import traits_of
from shoal.text.matching.pattern_walls import LINE_END, SIGNS
from shoal.text.matching.patterns import PatternFinder
from shoal.text.spans import Span

THICKNESS = 64
"""Characters of a wall: more than the reach of context and the gaps within numbers."""
FEWEST = 4
"""For fewer texts a wall does not pay."""
MOST = 1 << 18
"""Characters in one pass."""


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
        expression
        for recogniser in patterns.recognisers
        if recogniser.text
        for expression in (recogniser.text.expression, *([recogniser.text.labelled] if recogniser.text.after else ()))
    ]
    walls = [traits_of(expression).walls for expression in expressions]
    return next((sign for sign in SIGNS if all(sign in each for each in walls)), None)
