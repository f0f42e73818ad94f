"""What can still be found in a long text after a round: only what stands near to where the round changed something.

Patterns and word lists judge by what stands around, less far than an overlap of the windows of a stream reaches (see
``streams``). So a stretch that nothing was found in, and near which nothing was changed since, need not be read again.
Some things are judged by the text as a whole: whether it has capitals, and lines, whether every noun has a capital,
whether it tells of several illnesses. Where the stretches near the changes could be judged otherwise by themselves, the
whole text is read again. Names that are found now are looked for in the whole text, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from shoal.scrub.piece_table import Range
from shoal.text.annotator import Annotator
from shoal.text.lexicon.capitalised_runs import runs_in, words_of
from shoal.text.lexicon_finder import LexiconFinder
from shoal.text.listed_phrases import tells_of_illness
from shoal.text.logs.log_lines import TextKind
from shoal.text.matching.patterns import PatternFinder
from shoal.text.place_names.place_context import BEFORE_NOUNS, all_nouns_have_capitals
from shoal.text.spans import Span

LONG_WORD = 30
REACH = 512
"""Characters from a change in which something may be found anew; as many around them are read as well."""
WORTH = 0.5
"""Where more than this share of the text would be read, all of it is."""


def judges_by_surroundings(annotator: Annotator) -> bool:
    """Whether all its finders are such that judge by what stands near; a learned model reads further."""
    return all(isinstance(finder, PatternFinder | LexiconFinder) for finder in annotator.finders)


def found_near(changes: Sequence[Range], text: str, annotator: Annotator, kind: TextKind) -> list[Span]:
    """What is found in a text of which all was read before these ranges, in order, were changed."""
    stretches = list(_stretches(changes, text))
    read = [text[first:past] for first, past, _ in stretches]
    if sum(map(len, read)) > WORTH * len(text) or any(map(_is_judged_otherwise, read)):
        return annotator.annotate(text, kind)
    found = [
        span._replace(start=span.start + first, end=span.end + first)
        for part, (first, _, near) in zip(read, stretches, strict=True)
        for span in annotator.annotate(part, kind)
        if any(span.start + first < past and start < span.end + first for start, past in near)
    ]
    return annotator.with_repeated_mentions(text, found)


def _is_judged_otherwise(stretch: str) -> bool:
    """Whether it may be; what has a capital, or an end of a line, is cut of a text that has."""
    if "\n" not in stretch or not any(map(str.isupper, stretch)):
        return True
    return (_may_be_german(stretch) and all_nouns_have_capitals(list(runs_in(stretch)))) or tells_of_illness(stretch)


def _may_be_german(stretch: str) -> bool:
    """Whether two words stand in it that a noun follows. Of a very long word, a run is told the end only."""
    words = words_of(stretch)
    return sum(map(BEFORE_NOUNS.__contains__, words)) > 1 or max(map(len, words), default=0) >= LONG_WORD


def _stretches(changes: Sequence[Range], text: str) -> Iterator[tuple[int, int, list[Range]]]:
    """Whole lines around changes, and where in them something may be found anew."""
    first = past = 0
    near: list[Range] = []
    for start, end in changes:
        if near and start - 2 * REACH < past:
            past = _line_end(text, end + 2 * REACH)
        else:
            if near:
                yield first, past, near
            first, past, near = _line_start(text, start - 2 * REACH), _line_end(text, end + 2 * REACH), []
        near.append((start - REACH, end + REACH))
    if near:
        yield first, past, near


def _line_start(text: str, place: int) -> int:
    """The beginning of the line, or of the word where the line is long."""
    if place <= 0:
        return 0
    line = text.rfind("\n", max(0, place - REACH), place)
    return line + 1 if line >= 0 else text.rfind(" ", 0, place) + 1


def _line_end(text: str, place: int) -> int:
    if place >= len(text):
        return len(text)
    end = text.find("\n", place, place + REACH)
    end = end if end >= 0 else text.find(" ", place)
    return len(text) if end < 0 else end
