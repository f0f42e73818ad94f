"""Organisations: legal forms, kinds of organisations with a name of their own, and words that speak of an employer.

"Regional Court" or "Ministry of Defence" alone names an office that every country has: it is not taken. "Lubań District
Court" is, for its first word. Scores: a legal form (0.9), a kind with a proper name (0.8), an employer's context (0.6).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from shoal.text.gazetteers import NAME, PLACE, Kind, sections_in
from shoal.text.reading import JOINS, PARTICLES, Run, Word
from shoal.text.spans import Span

BY = "organisations"
FORM = 0.9
KIND = 0.8
CONTEXT = 0.6
IS_ONE = 0.89
LOOKS_LIKE = 0.52
UNKNOWN = 0.5
"""A proper noun of which nothing speaks: more often a firm or a product than a person or a place."""
GENERIC_FROM = 3
"""A body of this many words is taken though each is generic: "Supreme Administrative Court"."""

_EMPLOYED = re.compile(
    r"(?:work(?:s|ed|ing)? (?:for|at|with)|employed (?:by|at|with)|employees? of|joined|(?:ceo|cfo"
    r"|cto|director|founder|manager"
    r"|head|president|chairman|employee|customer|subsidiary|acquired|founded|owner) (?:of|by)|became"
    r"|renamed|merged with|company(?: called)?|firm"
    r"|employer(?: is|:)?|company:|organi[sz]ation:?|year at|job at|interview (?:at|with)"
    r"|shares (?:of|in)|account with)$"
)
_EMPLOYED_LAST = frozenset(sections_in("context")["before an employer"])
_IS_ONE = re.compile(
    r"^(?:,? (?:is|was) (?:a|an|the) (?:[a-z-]+ ){0,3}(?:company|agency|firm|start-?up|brainchild"
    r"|bank|business|organi[sz]ation"
    r"|charity|manufacturer|provider|retailer|school|hospital|publisher|corporation)"
    r"| (?:office|offices|headquarters|employees|shares|branch|staff|website|store|app)\b)"
)
_AT = (("at",), ("from",), ("for",), ("by",))
_ASIDE = re.compile(r" \([^\W\d_][^()\d“”\"\n]{1,90}\)")
"""Its name in another language or its short name, in brackets after it."""
_CAMEL = re.compile(r"[A-Z][a-z]+[A-Z][a-z]+$")


def organisations(text: str, runs: Sequence[Run]) -> Iterator[Span]:
    previous: Run | None = None
    for run in runs:
        span = _partners(run, previous) or _in_run(run) or _below_a_name(run, previous)
        if span is not None:
            aside = _ASIDE.match(text, span.end) if span.score >= KIND else None
            yield span if aside is None else Span(span.start, aside.end(), span.type, span.score, BY)
        previous = run


def _in_run(run: Run) -> Span | None:
    words = _without_opener(run)
    if not words:
        return None
    heads = [place for place, word in enumerate(words) if word.kinds & (Kind.FORM | Kind.BODY) and not word.is_initial]
    forms = [place for place in heads if words[place].kinds & Kind.FORM and not words[place].kinds & NAME and place]
    if forms:
        return _span(words[: forms[-1] + 1], FORM)
    return (_kinds(words) if heads else None) or _by_context(run, words)


def _segments(words: Sequence[Word]) -> Iterator[Sequence[Word]]:
    """Cut where one body ends and another begins: "Dean | Klagenfurt University", "Prosecutor | High Court"."""
    first = 0
    for place, word in enumerate(words):
        headless = not any(each.kinds & (Kind.FORM | Kind.BODY) for each in words[first:place])
        if word.key in ("at", "on") or (word.key in ("of", "for") and headless):
            yield words[first:place]
            first = place + 1
    yield words[first:]


def _kinds(words: Sequence[Word]) -> Span | None:
    """The last segment of a run that names a body."""
    for segment in reversed(list(_segments(words))):
        while segment and segment[0].key in JOINS:
            segment = segment[1:]  # noqa: PLW2901
        heads = [place for place, word in enumerate(segment) if word.kinds & Kind.BODY and not word.is_initial]
        span = _kind(segment, heads) if heads else None
        if span is not None:
            return span
    return None


def _kind(words: Sequence[Word], heads: list[int]) -> Span | None:
    past = heads[-1] + 1
    joined = past < len(words) and words[past].key in ("of", "for", "de", "di", "du", "della")
    if joined:
        past = len(words)
    inside = words[:past]
    proper = [
        word
        for word in inside
        if word.is_cased and not word.kinds & (Kind.BODY | Kind.GENERIC | Kind.PEOPLE | Kind.TITLE)
    ]
    named = [word for word in proper if not word.kinds & Kind.COMMON or word.kinds & (PLACE | NAME)]
    if named:
        return _span(inside, KIND)
    return _span(inside, LOOKS_LIKE) if len(proper) > 1 or _long(inside) else None


def _long(words: Sequence[Word]) -> bool:
    return sum(word.is_cased and not word.kinds & Kind.PEOPLE for word in words) >= GENERIC_FROM


def _partners(run: Run, previous: Run | None) -> Span | None:
    """ "Hawkins, Richardson and Santana" where a firm can stand: alone on a line, after "at" or "from"."""
    if previous is None or len(run.words) < 3 or run.words[1].key not in ("and", "&", "und", "et", "y"):
        return None
    near = run.start - previous.end == 2 and len(previous.words) == 1 and not previous.words[0].kinds & Kind.COMMON
    placed = not previous.before or previous.before[-1] in ("at", "from", "for", "with", "by", "the")
    if near and placed and (len(run.words) == 3 or run.words[3].kinds & Kind.BODY):
        return Span(previous.start, run.end, "organisation", KIND, BY)
    return None


def _below_a_name(run: Run, previous: Run | None) -> Span | None:
    """In a block of lines as on a card: an unlisted name alone on the line below a person."""
    if previous is None or not (run.alone and previous.alone) or run.start - previous.end > 8:
        return None
    unlisted = not any(word.kinds & ~Kind.COMMON for word in run.words)
    person = any(word.kinds & NAME or word.is_initial for word in previous.words) and len(previous.words) > 1
    return _span(run.words, LOOKS_LIKE + 0.02) if unlisted and person else None


def _by_context(run: Run, words: Sequence[Word]) -> Span | None:
    own = [word for word in words if word.is_cased]
    everyday = all(word.kinds & Kind.COMMON and not word.kinds & NAME for word in own) and len(own) < 2
    score = 0.0 if everyday else max(_said_of(run, words, own), _looks_like_one(run, words, own))
    return _span(words, score) if score else None


def _said_of(run: Run, words: Sequence[Word], own: list[Word]) -> float:
    """What the words around say: an employer, a firm, somewhere to be at."""
    last = run.before[-1] if run.before and words[0] is run.words[0] else ""
    if words[-1] is run.words[-1] and _IS_ONE.match(run.after):
        return IS_ONE
    if last in _EMPLOYED_LAST and _EMPLOYED.search(" ".join(run.before)):
        return CONTEXT + 0.05
    return LOOKS_LIKE + 0.02 if last == "at" and not any(word.kinds & ~Kind.COMMON for word in own) else 0.0


def _looks_like_one(run: Run, words: Sequence[Word], own: list[Word]) -> float:
    """What the word itself says: "Weeks-Rivas" where a firm can stand, "PlotWatt", a proper noun on no list."""
    if len(words) > 1:
        return 0.0
    word = words[0]
    if "-" in word.text and word.kinds & NAME and (run.alone or run.before[-1:] in _AT):
        return CONTEXT + 0.05
    if _CAMEL.match(word.text) and not word.kinds & NAME and word.text[:2] != "Mc":
        return LOOKS_LIKE
    return UNKNOWN if not run.opens and not word.kinds and not word.is_initial and _proper(own) else 0.0


def _proper(words: Sequence[Word]) -> bool:
    """A single word on no list, in the middle of a sentence, that is neither short nor an abbreviation."""
    return len(words) == 1 and len(words[0].text) > 3 and not (words[0].text.isupper() and len(words[0].text) < 6)


def _without_opener(run: Run) -> Sequence[Word]:
    """The run without an everyday word that only begins the sentence, and without what joins nothing."""
    words: Sequence[Word] = run.words
    while words and (words[0].key in _OPENERS or (run.opens and words[0].key in JOINS)):
        words = words[1:]
    while words and (words[-1].key in JOINS or words[-1].key in PARTICLES):
        words = words[:-1]
    return words


_OPENERS = frozenset(sections_in("context")["openers"])


def _span(words: Sequence[Word], score: float) -> Span:
    return Span(words[0].start, words[-1].end, "organisation", score, BY)
