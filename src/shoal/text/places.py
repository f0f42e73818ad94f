"""Places by list and by the words around them; peoples, beliefs and occupations by list.

A country is believed wherever it stands (0.85), a large city nearly so (0.7); a small town, and a word on no list, need
words before them that speak of a place: "in", "lives in", "from". Peoples and beliefs are special categories of
personal data (GDPR, Article 9): found in small letters too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from shoal.text.gazetteers import NAME, PLACE, Kind, lexicon, sections_in
from shoal.text.reading import JOINS, Run, Word, phrases_in
from shoal.text.spans import Span

BY = "places"
COUNTRY = 0.85
LARGE_CITY = 0.7
TOWN = 0.52
AFTER_A_PREPOSITION = 0.2
BEFORE_A_COUNTRY = 0.7
PERHAPS = 0.51
UNKNOWN = 0.55
"""A word on no list after a word that speaks of a place."""

_LOCATIVE = frozenset(sections_in("context")["before a place"])
_MOVING = frozenset(sections_in("context")["moving"])
_PLACE_NOUNS = frozenset(sections_in("context")["of places"])


def places(runs: Sequence[Run]) -> Iterator[Span]:
    for run in runs:
        covered = 0
        for first, past, kinds in phrases_in(run.words):
            if kinds & PLACE:
                score = _score(run, first, past, kinds)
                if score > 0:
                    yield Span(run.words[first].start, run.words[past - 1].end, "place", score, BY)
                covered = past
        if not covered:
            yield from _unknown(run)


def _score(run: Run, first: int, past: int, kinds: int) -> float:
    words = run.words[first:past]
    located = _located(run, first, moving=not kinds & NAME)
    if kinds & Kind.COUNTRY:
        return COUNTRY if not kinds & NAME or located else LARGE_CITY - 0.1
    if len(words) == 1 and (len(words[0].text) < 3 or (words[0].text.isupper() and len(words[0].text) < 5)):
        return 0
    score = LARGE_CITY if kinds & Kind.LARGE else TOWN
    if located:
        score += AFTER_A_PREPOSITION
    if kinds & Kind.COMMON:
        score -= 0.25 if located and not run.opens else 0.45
    if kinds & NAME and not located and not kinds & Kind.METROPOLIS:
        score -= 0.2
    return score


def _located(run: Run, first: int, *, moving: bool) -> bool:
    """Whether the words before speak of a place; "to" and "at" do for what is no name as well."""
    if first:
        before = run.words[first - 1].key
        return before in _LOCATIVE or before in _PLACE_NOUNS or before in ("of", "at")
    if not run.before:
        return False
    last = run.before[-1]
    return (
        last in _LOCATIVE
        or last in _PLACE_NOUNS
        or (moving and last in _MOVING)
        or (last == "the" and not _LOCATIVE.isdisjoint(run.before))
    )


def _unknown(run: Run) -> Iterator[Span]:
    """Capitalised words on no list: after "in" or "village of", before a country, or a town in postal capitals."""
    words: list[Word] = []
    for word in run.words:
        if word.key in JOINS or word.is_initial or word.kinds & ~Kind.FAMILY or (word.kinds and len(run.words) > 1):
            break
        words.append(word)
    if not words or (len(words) == 1 and words[0].text.isupper() and len(words[0].text) < 5):
        return
    score = _unknown_score(run, words)
    if score:
        yield Span(words[0].start, words[-1].end, "place", score, BY)


def _unknown_score(run: Run, words: list[Word]) -> float:
    last = run.before[-1] if run.before else ""
    spoken_of = last in ("of", "to", "at") and len(run.before) > 1 and run.before[-2] in _PLACE_NOUNS
    if words[-1] is run.words[-1] and _names_a_country(run.after):
        return BEFORE_A_COUNTRY
    if last in _LOCATIVE or spoken_of:
        return UNKNOWN + 0.05
    unlisted = not run.opens and not any(word.kinds for word in words)
    return PERHAPS if unlisted and (last == "to" or words[0].text.isupper()) else 0.0


def _names_a_country(after: str) -> bool:
    """What follows is a comma and a country: ", new zealand"."""
    parts = after[2:].replace(".", " ").replace(",", " ").split()[:3] if after.startswith(", ") else []
    entries = lexicon().entries
    return any(entries.get(" ".join(parts[:count]), 0) & Kind.COUNTRY for count in range(1, len(parts) + 1))
