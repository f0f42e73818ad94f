"""Organisations in a text: bodies that say what they are, firms that the words around tell of, partners, cards.

Scores: partners (0.92), a legal form or a firm of several words that is known by name (0.9), a kind with a proper name
(0.8), the context of a firm (see ``firms``), a word that looks like one (0.52), a proper noun on no list (0.5).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from shoal.text.bodies import (
    BY,
    CONTEXT,
    FORM,
    KIND,
    LONGEST_BODY,
    LOOKS_LIKE,
    abbreviated,
    body,
    of_a_town,
    past_its_tail,
    span_of,
    without_opener,
)
from shoal.text.firms import HINT, before_everyday_words, context, firm, known, of_a_person
from shoal.text.gazetteers import NAME, Kind, lexicon, sections_in
from shoal.text.reading import JOINS, Run, Word
from shoal.text.shapes import looks_made
from shoal.text.spans import Span
from shoal.text.uncased import by_case

PARTNERS = 0.92
MADE = 0.72
"""A word made up as firms do it, after another: more than a large city has."""
UNKNOWN = 0.5
"""A proper noun of which nothing speaks: more often a firm or a product than a person or a place."""

_AT = (("at",), ("from",), ("for",), ("by",))
_IN = (" in ", " at ")
_ASIDE = re.compile(r" \([^\W\d_][^()\d“”\"\n]{1,90}\)")
"""Its name in another language or its short name, in brackets after it."""
_CAMEL = re.compile(r"[A-Z][a-z]+[A-Z][a-z]+$")
_NEVER_ALONE = Kind.BODY | Kind.GENERIC | Kind.TITLE | Kind.PEOPLE | Kind.BELIEF | Kind.COUNTRY | Kind.LARGE
_BEFORE_PARTNERS = frozenset(sections_in("bodies")["before partners"])
_GERMAN = frozenset(sections_in("bodies")["german"])


def organisations(text: str, runs: Sequence[Run]) -> Iterator[Span]:
    previous: Run | None = None
    card: Run | None = None
    for run in by_case(text, runs):
        if len(run.words) > 1 or not run.words[0].kinds & _NEVER_ALONE or run.words[0].kinds & Kind.FIRM:
            found = (
                _partners(run, previous, text)
                or _in_run(run, text)
                or _below_a_name(run, card, text)
                or _after_a_name(run, previous, text)
            )
            yield from _with_asides(text, found)
        if previous is not None and text.startswith(_IN, run.start - 4):
            yield from of_a_town(run, previous)
        previous = run
        if _opens_a_card(run):
            card = run
    if "(“" in text or '("' in text:
        yield from abbreviated(text)


def _with_asides(text: str, spans: Sequence[Span]) -> Iterator[Span]:
    for span in spans:
        aside = _ASIDE.match(text, span.end) if span.score >= KIND else None
        yield span if aside is None else Span(span.start, aside.end(), span.type, span.score, BY)


def _in_run(run: Run, text: str) -> Sequence[Span]:
    words = without_opener(run)
    if not words:
        return ()
    span = body(run, words, text)
    if span is None:
        return list(_by_context(run, words, text))
    beside = [word for word in words if word.start >= span.end]
    joined = len(beside) == 2 and beside[0].key in ("and", "or")
    score = firm(run, beside[1:], before=("against",)) if joined else 0.0
    return [span, span_of(beside[1:], score)] if score else [span]


def _partners(run: Run, previous: Run | None, text: str) -> list[Span]:
    """ "Hawkins, Richardson and Santana", unless something says that these are several persons."""
    if previous is None or not _ends_a_row(run) or run.start - previous.end != 2 or text[previous.end] != ",":
        return []
    words = without_opener(previous)
    inside = max((place for place, word in enumerate(words) if word.key in _INTO_A_FIRM), default=-1)
    first = words[inside + 1 :]
    if len(first) != 1 or not _surname(first[0]):
        return []
    if inside >= 0:
        before: tuple[str, ...] = (words[inside].key,)
    else:
        before = previous.before if first[0] is previous.words[0] else (previous.words[0].key,)
    placed = not before or (previous.opens and before[-1][-1] != ":") or before[-1] in _BEFORE_PARTNERS
    said = placed or context(run, run.words, before=before) >= HINT or _is_one(first[0], run, before)
    return [Span(first[0].start, past_its_tail(text, run.end), "organisation", PARTNERS, BY)] if said else []


def _ends_a_row(run: Run) -> bool:
    """ "Richardson and Santana", and no year or verb after it as after authors."""
    words = run.words
    if not 3 <= len(words) <= 4 or words[1].key not in ("and", "&", "und", "et", "y", "e"):
        return False
    named = _surname(words[0]) and _surname(words[2]) and (len(words) == 3 or words[3].kinds & Kind.BODY)
    return bool(named) and not _CITED.match(run.after)


_INTO_A_FIRM = frozenset(("of", "at", "for"))


def _is_one(first: Word, run: Run, before: tuple[str, ...]) -> bool:
    """Three surnames of which nothing says that they are several: no colon before them, no verb for several after."""
    listed = all(word.kinds & Kind.FAMILY for word in (first, run.words[0], run.words[2]))
    return listed and before[-1][-1] not in ":," and before[-1] not in _OF_SEVERAL and not _SEVERAL.match(run.after)


_OF_SEVERAL = frozenset(
    ("and", "named", "brothers", "sisters", "messrs", "called", "both", "players", "authors", "children")
)
_CITED = re.compile(r",? (?:are|were)\b|,? \(?\d{4}\b")
"""Persons or authors: "Smith, Jones and Brown are", "(2019)"."""
_SEVERAL = re.compile(r",? (?:are|were|have|all|both|each|argue|show|describe|et al|who|meet|met|went|go|\()")


def _surname(word: Word) -> bool:
    return bool(word.kinds & Kind.FAMILY) or not word.kinds & (Kind.COMMON | Kind.GIVEN | Kind.COUNTRY)


def _below_a_name(run: Run, card: Run | None, text: str) -> list[Span]:
    """In a block of lines as on a card: an unlisted name alone on a line, below a person or the person's occupation."""
    if card is None or not run.alone or run.start - card.end > LONGEST_BODY:
        return []
    between = text[card.end : run.start]
    near = between.count("\n") <= 2 and not any(letter.isdigit() for letter in between)
    unlisted = not any(word.kinds & ~Kind.COMMON for word in run.words)
    return [span_of(run.words, LOOKS_LIKE + 0.02)] if unlisted and near else []


def _after_a_name(run: Run, previous: Run | None, text: str) -> list[Span]:
    """ "Asha Rao (Brightwater)": a word on no list in brackets after a person."""
    if text[run.start - 1 : run.start] != "(":
        return []
    word = run.words[0]
    if (
        previous is None
        or len(run.words) > 1
        or len(word.text) < 4
        or (word.kinds & ~Kind.COMMON and "-" not in word.text)
    ):
        return []
    bracketed = text.startswith(" (", previous.end) and run.start == previous.end + 2 and text.startswith(")", run.end)
    person = len(previous.words) > 1 and previous.words[0].kinds & Kind.GIVEN
    return [span_of(run.words, CONTEXT + 0.05)] if bracketed and person else []


def _opens_a_card(run: Run) -> bool:
    """A person's name alone on its line."""
    return run.alone and len(run.words) > 1 and any(word.kinds & NAME or word.is_initial for word in run.words)


def _by_context(run: Run, words: Sequence[Word], text: str) -> Iterator[Span]:
    if run.after[:2] in ("'s", "’s") and lexicon().entries.get(f"{words[-1].key}'s", 0) & Kind.FIRM:
        yield Span(words[-1].start, run.end + 2, "organisation", FORM, BY)
        return
    phrase = known(words)
    if phrase is not None:
        yield span_of(words[phrase[0] : phrase[1]], FORM)
        return
    for part in _named_apart(words):
        small = text[part[0].start].islower() and part[0].is_cased
        score = max(firm(run, part), 0.0 if small else _looks_like_one(run, part))
        if score:
            yield span_of(part, score)


def _named_apart(words: Sequence[Word]) -> Iterator[Sequence[Word]]:
    """A run without a form or a kind, cut where one name ends: "CEO of | Nordwind", "Nordwind and | Zelvex"."""
    if len(words) == 1:
        yield words
        return
    first = 0
    for place, word in enumerate(words):
        if word.key in JOINS and word.key != "&":
            if place > first:
                yield words[first:place]
            first = place + 1
    yield words[first:]


def _looks_like_one(run: Run, words: Sequence[Word]) -> float:
    """What the word itself says: "Weeks-Rivas" where a firm can stand, "PlotWatt", a proper noun on no list."""
    if len(words) > 1:
        made = len(words) == 2 and not words[1].kinds and words[0].is_cased and looks_made(words[1].key)
        return MADE if made and not words[0].kinds & (Kind.COUNTRY | Kind.TITLE) else 0.0
    word = words[0]
    if "-" in word.text and word.kinds & NAME and (run.alone or run.before[-1:] in _AT):
        return CONTEXT + 0.05
    if _CAMEL.match(word.text) and not word.kinds & NAME and word.text[:2] != "Mc":
        return LOOKS_LIKE + 0.1
    if word.kinds or word.is_initial or not _proper(word) or not _in_english(run) or of_a_person(run.after):
        return 0.0
    if looks_made(word.key) and (not run.opens or before_everyday_words(run.after)):
        return LOOKS_LIKE
    return 0.0 if run.opens else UNKNOWN


def _in_english(run: Run) -> bool:
    """Whether the words beside are not German, where every noun has a capital."""
    return _GERMAN.isdisjoint(run.before) and _GERMAN.isdisjoint(run.after.split(None, 4)[:4])


def _proper(word: Word) -> bool:
    """A word on no list that is neither short nor an abbreviation."""
    return len(word.text) > 3 and not (word.text.isupper() and len(word.text) < 6)
