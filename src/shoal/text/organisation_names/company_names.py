"""Names that are a firm's by the words around.

How much the context says is weighed against how much the name itself looks like a person's: a full name stays a person
but after "at", a surname becomes a firm where the context is clear, a word on no list where it only hints at one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

from shoal.text.lexicon.capitalised_runs import JOINS, CapitalisedRun, RunWord
from shoal.text.lexicon.gazetteers import LONGEST_PHRASE, NAME, LexiconKind, folded, lexicon, words_in
from shoal.text.lexicon.word_shapes import is_double_surname, looks_coined, looks_like_a_name, looks_like_a_town
from shoal.text.organisation_names.business_context import (
    CLEAR,
    HINT,
    OFFICERS,
    SPOKEN_OF,
    SURE,
    before_everyday_words,
    context,
    inside,
)

SCORES = {
    "person": (0.0, 0.0, 0.0, 0.9),
    "given": (0.0, 0.0, 0.0, 0.66),
    "surname": (0.0, 0.0, 0.84, 0.9),
    "double": (0.0, 0.88, 0.9, 0.9),
    "partners": (0.66, 0.88, 0.9, 0.9),
    "unlisted": (0.0, 0.51, 0.84, 0.84),
    "word": (0.0, 0.66, 0.84, 0.84),
    "phrase": (0.0, 0.52, 0.7, 0.7),
    "plain": (0.0, 0.0, 0.7, 0.7),
}
"""Scores by what the name looks like (see ``_look``) and what the context says. To compare: a person's full name has
0.88, a single one that is spoken of as a person 0.81, an unlisted place 0.6."""
KNOWN = 0.76
SINGLE_HINTED = 0.53
"""A single word on no list where a firm is hinted at: more than what a word looks like says of a person."""
_OFFICES = LexiconKind.GENERIC | LexiconKind.BODY | LexiconKind.TITLE | LexiconKind.OCCUPATION | LexiconKind.PEOPLE
_NO_FIRM = LexiconKind.LARGE | LexiconKind.PEOPLE | LexiconKind.BELIEF | LexiconKind.TITLE


def company_score(run: CapitalisedRun, words: Sequence[RunWord], *, before: tuple[str, ...] | None = None) -> float:
    """How sure it is that these words of a run name a firm, by the words around; 0 for not at all."""
    own = [word for word in words if word.is_cased]
    look = _look(own)
    if not look:
        return 0.0
    firms = [word for word in own if word.kinds & LexiconKind.FIRM]
    if firms and any(not word.kinds & (NAME | LexiconKind.COMMON | LexiconKind.CITY) for word in firms):
        return KNOWN
    said = context(run, words, before=before)
    if said and len(firms) == len(own):
        return SCORES["word"][CLEAR]
    if len(own) == 1 and not own[0].kinds and looks_like_a_town(own[0].key):
        return SCORES["word"][said] if said == SURE else 0.0
    if look == "unlisted" and said == HINT and len(own) == 1:
        return SINGLE_HINTED
    return 0.0 if look == "plain" and _ends_an_office(run, words) else SCORES[look][said]


def _ends_an_office(run: CapitalisedRun, words: Sequence[RunWord]) -> bool:
    """ "Board of Directors"."""
    return words[0] is not run.words[0] and inside(run, words)[-1:] in (("of",), ("for",))


def known_company(words: Sequence[RunWord]) -> tuple[int, int] | None:
    """Where a firm of several words stands that is known by name: first word and past the last."""
    entries, openers = lexicon().entries, _openers()
    for first, word in enumerate(words[:-1]):
        if word.key in openers:
            for past in range(min(len(words), first + LONGEST_PHRASE), first + 1, -1):
                if entries.get(" ".join([one.key for one in words[first:past]]), 0) & LexiconKind.FIRM:
                    return first, past
    return None


@cache
def _openers() -> frozenset[str]:
    return frozenset(folded(name).split(" ", 1)[0] for name in words_in("firms") if " " in name)


def before_its_officer(words: Sequence[RunWord]) -> tuple[Sequence[RunWord], float] | None:
    """ "Nordwind CEO Asha Rao": the firm, and how sure it is."""
    for place in range(1, len(words)):
        if words[place].key in OFFICERS:
            look = _look(words[:place])
            return None if look in ("", "plain", "phrase") else (words[:place], SCORES[look][CLEAR])
    return None


def named_apart(words: Sequence[RunWord]) -> Iterator[Sequence[RunWord]]:
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
    if first < len(words):
        yield words[first:]


def is_a_town(run: CapitalisedRun, words: Sequence[RunWord]) -> bool:
    """A word on no list that ends as towns do, inside a sentence or before everyday words."""
    unlisted = len(words) == 1 and not words[0].kinds and looks_like_a_town(words[0].key)
    return unlisted and (not run.opens or before_everyday_words(run.after))


def beside_a_firm(words: Sequence[RunWord]) -> float:
    """How sure it is that these words name a firm, if the one beside them in a row does."""
    own = [word for word in words if word.is_cased]
    look = _look(own)
    return SCORES[look][HINT] if look and not looks_like_a_town(own[-1].key) else 0.0


def _look(own: Sequence[RunWord]) -> str:
    """What the name itself looks like, empty for what is no firm's name.

    ``person``: a full name. ``given``, ``surname``, ``double`` for two with a hyphen, ``partners`` if both
    are surnames. ``unlisted``: like a name, on no
    list. ``plain``: an everyday word; ``phrase``: several. ``word``: any other.
    """
    if len(own) == 1:
        return "" if own[0].kinds & (LexiconKind.COUNTRY | _OFFICES) else _look_of_one(own[0])
    if not own or any(word.kinds & LexiconKind.COUNTRY for word in own) or all(word.kinds & _OFFICES for word in own):
        return ""
    if own[0].kinds & LexiconKind.GIVEN and own[-1].kinds & LexiconKind.FAMILY:
        return "person"
    if all(word.kinds & LexiconKind.COMMON for word in own):
        return "phrase"
    if any(word.kinds & LexiconKind.COMMON and not word.kinds & NAME for word in own) or _made(own):
        return "word"
    named = own[0].kinds & LexiconKind.GIVEN or own[0].is_initial or all(word.kinds & NAME for word in own)
    return "person" if named else "unlisted"


def _made(own: Sequence[RunWord]) -> bool:
    return looks_coined(own[0].key) or (not own[-1].kinds and looks_coined(own[-1].key))


def _look_of_one(word: RunWord) -> str:
    if not word.kinds and word.key in SPOKEN_OF:
        return ""
    if (word.kinds & _NO_FIRM and not word.kinds & LexiconKind.FIRM) or word.is_initial or len(word.text) < 3:
        return ""
    if word.kinds & LexiconKind.COMMON:
        return "" if word.text.isupper() or word.kinds & NAME else "plain"
    if word.kinds & NAME:
        if is_double_surname(word.key):
            return "partners"
        return "double" if "-" in word.text else "surname" if word.kinds & LexiconKind.FAMILY else "given"
    return "unlisted" if looks_like_a_name(word.key) else "word"
