"""The same person again in one document: who was once found for sure is found where only a part of the name stands."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence

from shoal.text.lexicon.gazetteers import PLACE, LexiconKind, lexicon
from shoal.text.listed_phrases import stands_apart
from shoal.text.spans import Span

BY = "mentions"
SURE = 0.7
"""From this score on a name is looked for again."""
AGAIN = 0.72
SHORTEST = 3
LONG, MANY = 4_096, 16
"""Characters and parts from which one look for all parts is quicker than one for each."""
_PARTS = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_WHOLE = frozenset({"organisation", "place"})


def find_repeated_mentions(text: str, spans: Sequence[Span]) -> list[Span]:
    """Further places of the parts of persons' names, and of whole names of places and organisations."""
    parts = _parts(text, spans)
    few = len(text) < LONG or len(parts) < MANY
    if not parts or (few and not any(_comes_again(text, part) for part in parts)):
        return []
    from ahocorasick_rs import AhoCorasick, MatchKind

    types = list(parts.values())
    automaton = AhoCorasick(list(parts), matchkind=MatchKind.LeftmostLongest)
    again = [
        Span(start, end, types[index], AGAIN, BY)
        for index, start, end in automaton.find_matches_as_indexes(text)
        if stands_apart(text, start, end)
    ]
    starts = [span.start for span in spans]
    return [span for span in again if not _covered(span, spans, starts)]


def _comes_again(text: str, part: str) -> bool:
    """Whether it stands anywhere but where it was found."""
    return text.find(part, text.find(part) + 1) >= 0


def _covered(span: Span, spans: Sequence[Span], starts: Sequence[int]) -> bool:
    """Whether it lies inside one that was found already, and no less surely; those are in order and don't overlap."""
    place = bisect_right(starts, span.start) - 1
    return place >= 0 and spans[place].holds(span) and (spans[place].score >= AGAIN or spans[place].type == span.type)


def _parts(text: str, spans: Sequence[Span]) -> dict[str, str]:
    parts: dict[str, str] = {}
    for span in spans:
        if span.score < SURE:
            continue
        value = text[span.start : span.end]
        if span.type in _WHOLE and len(value) > SHORTEST and value[0].isupper():
            parts.setdefault(value, span.type)
        elif span.type == "person":
            for match in _PARTS.finditer(value):
                part = match.group()
                if (
                    len(part) >= SHORTEST
                    and not part.islower()
                    and not lexicon().kinds(part) & (LexiconKind.COMMON | PLACE | LexiconKind.PEOPLE)
                ):
                    parts.setdefault(part, "person")
    return parts
