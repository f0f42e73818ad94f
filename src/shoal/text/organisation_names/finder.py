"""Organisations in a text: bodies that say what they are, firms that the words around tell of, partners, cards.

Scores: partners (0.92), a legal form or a firm of several words that is known by name (0.9), a kind with a proper name
(0.8), the context of a firm (see ``firms``), a word that looks like one (0.52), a proper noun on no list (0.5).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from shoal.text.lexicon.capitalised_runs import CapitalisedRun, RunWord
from shoal.text.lexicon.caseless_text import caseless_runs
from shoal.text.lexicon.gazetteers import NAME, LexiconKind, lexicon, sections_in
from shoal.text.lexicon.word_shapes import is_derived, looks_coined
from shoal.text.organisation_names.business_context import before_everyday_words, is_a_thing, of_a_person
from shoal.text.organisation_names.company_names import (
    before_its_officer,
    beside_a_firm,
    company_score,
    is_a_town,
    known_company,
    named_apart,
)
from shoal.text.organisation_names.enumerations import OrganisationRow
from shoal.text.organisation_names.formal_names import (
    BY,
    CONTEXT,
    FORM,
    KIND,
    LOOKS_LIKE,
    abbreviated,
    find_formal_name,
    of_a_town,
    span_of,
    without_opener,
)
from shoal.text.organisation_names.letterheads import after_a_name, below_a_name, opens_a_card
from shoal.text.organisation_names.partnerships import partners
from shoal.text.spans import Span

MADE = 0.72
"""A word made up as firms do it, after another: more than a large city has."""
UNKNOWN = 0.5
"""A proper noun of which nothing speaks: more often a firm or a product than a person or a place."""

_AT = (("at",), ("from",), ("for",), ("by",))
_IN = (" in ", " at ")
_ASIDE = re.compile(r" \((?!the [A-Z][a-z]+\)|[a-z]+\))[^\W\d_][^()\d“”\"\n]{1,90}\)")
"""Its name in another language or its short name, in brackets after it."""
_CAMEL = re.compile(r"[A-Z][a-z]+[A-Z][a-z]+$")
_NEVER_ALONE = (
    LexiconKind.BODY
    | LexiconKind.GENERIC
    | LexiconKind.TITLE
    | LexiconKind.PEOPLE
    | LexiconKind.BELIEF
    | LexiconKind.COUNTRY
    | LexiconKind.LARGE
)
_GERMAN = frozenset(sections_in("bodies")["german"])


def organisations(text: str, runs: Sequence[CapitalisedRun]) -> Iterator[Span]:
    previous: CapitalisedRun | None = None
    card: CapitalisedRun | None = None
    row = OrganisationRow(text)
    for run in caseless_runs(text, runs):
        found: Sequence[Span] = ()
        if len(run.words) > 1 or not run.words[0].kinds & _NEVER_ALONE or run.words[0].kinds & LexiconKind.FIRM:
            found = (
                partners(run, previous, text)
                or _in_run(run, text)
                or below_a_name(run, card, text)
                or after_a_name(run, previous, text)
            )
            if row.is_town_of_the_last(run, found):
                found = ()
                yield Span(run.start, run.end, "place", LOOKS_LIKE, BY)
            yield from _with_asides(text, found)
        yield from row.goes_on(run, found)
        if previous is not None and text.startswith(_IN, run.start - 4):
            yield from of_a_town(run, previous)
        previous = run
        if opens_a_card(run):
            card = run
    if "(“" in text or '("' in text:
        yield from abbreviated(text)


def _with_asides(text: str, spans: Sequence[Span]) -> Iterator[Span]:
    for span in spans:
        aside = _ASIDE.match(text, span.end) if span.score >= KIND else None
        yield span if aside is None else Span(span.start, aside.end(), span.type, span.score, BY)


def _in_run(run: CapitalisedRun, text: str) -> Sequence[Span]:
    words = without_opener(run)
    if not words:
        return ()
    return _in_words(run, words, text)


def _two_bodies(words: Sequence[RunWord]) -> int:
    """Where two are joined of which each says what it is: "Laursen ApS | and | Hale Group"; 0 for none."""
    for place in range(2, len(words) - 2):
        if words[place].key in ("and", "or") and words[place - 1].kinds & _ENDS and words[-1].kinds & _ENDS:
            return place if words[place - 2].is_cased and _own(words[place - 2]) and _own(words[place + 1]) else 0
    return 0


_ENDS = LexiconKind.FORM | LexiconKind.BODY


def _own(word: RunWord) -> bool:
    return not word.kinds & (LexiconKind.COMMON | LexiconKind.BODY | LexiconKind.GENERIC) or bool(word.kinds & NAME)


def _in_words(run: CapitalisedRun, words: Sequence[RunWord], text: str) -> Sequence[Span]:
    span = find_formal_name(run, words, text)
    if span is None:
        return list(_by_context(run, words, text))
    cut = _two_bodies(words)
    if cut:
        return [*_in_words(run, words[:cut], text), *_in_words(run, words[cut + 1 :], text)]
    beside = [word for word in words if word.start >= span.end]
    joined = 1 < len(beside) < 5 and beside[0].key in ("and", "or", "for")
    score = company_score(run, beside[1:], before=("against",)) if joined else 0.0
    return [span, span_of(beside[1:], score)] if score else [span]


def _by_context(run: CapitalisedRun, words: Sequence[RunWord], text: str) -> Iterator[Span]:
    if run.after[:2] in ("'s", "’s") and lexicon().entries.get(f"{words[-1].key}'s", 0) & LexiconKind.FIRM:
        yield Span(words[-1].start, run.end + 2, "organisation", FORM, BY)
        return
    if len(words) > 1:
        phrase = known_company(words)
        if phrase is not None:
            yield span_of(words[phrase[0] : phrase[1]], FORM)
            return
        whose = before_its_officer(words)
        if whose:
            yield span_of(*whose)
            return
    for part in named_apart(words) if len(words) > 1 else (words,):
        small = text[part[0].start].islower() and part[0].is_cased
        score = max(company_score(run, part), 0.0 if small else _looks_like_one(run, part))
        if not score and _against(run, part, text):
            score = beside_a_firm(part)
        if score:
            yield span_of(part, score)
        elif not small and is_a_town(run, part):
            yield Span(part[0].start, part[0].end, "place", LOOKS_LIKE, BY)


def _against(run: CapitalisedRun, words: Sequence[RunWord], text: str) -> bool:
    """One of two that are set against each other: "Nordwind vs. Zelvex"."""
    before = words[0] is run.words[0] and text.endswith(_VERSUS, 0, run.start)
    return before or (words[-1] is run.words[-1] and text.startswith(_VERSUS, run.end))


_VERSUS = (" vs. ", " vs ", " versus ", " v ", " v. ")


def _looks_like_one(run: CapitalisedRun, words: Sequence[RunWord]) -> float:
    """What the word itself says: "Weeks-Rivas" where a firm can stand, "PlotWatt", a proper noun on no list."""
    if len(words) > 1:
        return _several_look_like_one(run, words)
    word = words[0]
    if "-" in word.text and word.kinds & NAME and (run.alone or run.before[-1:] in _AT):
        return CONTEXT + 0.05
    if _CAMEL.match(word.text) and not word.kinds & NAME and word.text[:2] != "Mc":
        return LOOKS_LIKE + 0.1
    if word.kinds or word.is_initial or not _proper(word) or not _in_english(run) or of_a_person(run.after):
        return 0.0
    return 0.0 if is_a_thing(run, word) else _of_a_proper_noun(run, word)


def _of_a_proper_noun(run: CapitalisedRun, word: RunWord) -> float:
    if looks_coined(word.key) and not (run.opens and (is_derived(word.key) or not before_everyday_words(run.after))):
        return LOOKS_LIKE
    return 0.0 if run.opens else UNKNOWN


def _several_look_like_one(run: CapitalisedRun, words: Sequence[RunWord]) -> float:
    """ "Russell Plotwatt", "Balefire Global"."""
    made = len(words) == 2 and not words[1].kinds and words[0].is_cased and looks_coined(words[1].key)
    if made and not words[0].kinds & (LexiconKind.COUNTRY | LexiconKind.TITLE):
        return MADE
    own = not words[0].kinds and _proper(words[0]) and not run.opens and not is_a_thing(run, words[0])
    return UNKNOWN if own and all(word.kinds == LexiconKind.COMMON for word in words[1:]) and _in_english(run) else 0.0


def _in_english(run: CapitalisedRun) -> bool:
    """Whether the words beside are not German, where every noun has a capital."""
    return _GERMAN.isdisjoint(run.before) and _GERMAN.isdisjoint(run.after.split(None, 4)[:4])


def _proper(word: RunWord) -> bool:
    """A word on no list that is neither short nor an abbreviation."""
    return len(word.text) > 3 and not (word.text.isupper() and len(word.text) < 6)
