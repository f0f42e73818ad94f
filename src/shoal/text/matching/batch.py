"""Many short texts, looked through in one pass for all, with the outcome of one pass for each.

The texts stand one after the other with a wall between them: a row of signs with a line end in its middle, longer than
any pattern's surroundings reach. No pattern may begin or end with that sign, and none may hold both the sign and a line
end. So all that matches lies within one text; and as the sign is neither letter nor digit, a text ends at the wall as
it ends by itself. Patterns for which no such sign is to be found are looked for in each text by itself.
"""

from __future__ import annotations

import importlib
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Any

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
_parser = importlib.import_module("re._parser")
Node = tuple[Any, Any]


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
        _parsed(expression)
        for recogniser in patterns.recognisers
        if recogniser.text
        for expression in (recogniser.text.expression, *([recogniser.text.labelled] if recogniser.text.after else ()))
    ]
    return next((sign for sign in _SIGNS if all(_separators(parsed, sign) for parsed in expressions)), None)


def _parsed(expression: str) -> Any:
    try:
        return _parser.parse(expression)
    except (re.error, OverflowError):
        return None


def _separators(parsed: Any, sign: str) -> bool:
    if parsed is None or _begins(parsed, sign) or _begins(parsed, sign, backwards=True):
        return False
    singles = list(_singles(parsed))
    bound = any(str(kind) == "AT" and "BOUNDARY" not in str(value) for kind, value in singles)
    return not bound and not (_any_is(singles, sign) and _any_is(singles, LINE_END))


def _any_is(singles: Iterable[Node], sign: str) -> bool:
    return any(_is(str(kind), value, sign) for kind, value in singles)


def _begins(nodes: Any, sign: str, *, backwards: bool = False) -> bool:
    """Whether a match can begin (or end) with the sign."""
    for kind, value in reversed(list(nodes)) if backwards else nodes:
        inner = _inner(str(kind), value)
        if inner is None:
            if _is(str(kind), value, sign):
                return True
            if str(kind) != "AT":
                return False
        elif any(_begins(each, sign, backwards=backwards) for each in inner):
            return True
        elif not (str(kind).endswith("REPEAT") and value[0] == 0) and all(_width(each) for each in inner):
            return False
    return False


def _width(nodes: Any) -> int:
    """The fewest characters of a match."""
    return int(nodes.getwidth()[0])


def _inner(kind: str, value: Any) -> list[Any] | None:
    """The parts of what is made of others, one of which is matched; None for a single sign or edge."""
    match kind:
        case "BRANCH":
            return list(value[1])
        case "SUBPATTERN":
            return [value[3]]
        case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
            return [value[2]]
        case "ATOMIC_GROUP":
            return [value]
    return None


def _singles(nodes: Any) -> Iterator[Node]:
    for kind, value in nodes:
        inner = _inner(str(kind), value)
        if inner is None:
            yield kind, value
        for each in inner or ():
            yield from _singles(each)


def _is(kind: str, value: Any, sign: str) -> bool:
    """Whether a single part can be the sign; what is not understood can."""
    match kind:
        case "AT":
            return False
        case "LITERAL":
            return bool(value == ord(sign))
        case "IN":
            named = any(_names(str(what), which, sign) for what, which in value)
            return named != (str(value[0][0]) == "NEGATE")
    return True


def _names(kind: str, value: Any, sign: str) -> bool:
    match kind:
        case "LITERAL":
            return bool(value == ord(sign))
        case "RANGE":
            return bool(value[0] <= ord(sign) <= value[1])
        case "CATEGORY":
            letter = {"SPACE": r"\s", "DIGIT": r"\d", "WORD": r"\w"}[str(value).rsplit("_", 1)[-1]]
            return (re.match(letter, sign) is not None) != ("NOT" in str(value))
    return False
