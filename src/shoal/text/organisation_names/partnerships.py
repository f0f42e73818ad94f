"""Firms called after their partners: "Hawkins, Richardson and Santana"."""

from __future__ import annotations

import re
from collections.abc import Sequence

from shoal.text.lexicon.capitalised_runs import JOINS, CapitalisedRun, RunWord
from shoal.text.lexicon.gazetteers import LexiconKind, sections_in
from shoal.text.organisation_names.business_context import HINT, OFFICERS, context
from shoal.text.organisation_names.formal_names import BY, past_its_tail, without_opener
from shoal.text.spans import Span

PARTNERS = 0.92
_BEFORE_PARTNERS = frozenset(sections_in("bodies")["before partners"])


def partners(run: CapitalisedRun, previous: CapitalisedRun | None, text: str) -> list[Span]:
    """ "Hawkins, Richardson and Santana", unless something says that these are several persons."""
    if previous is None or not _ends_a_row(run) or run.start - previous.end != 2 or text[previous.end] != ",":
        return []
    words = without_opener(previous)
    inside = max((place for place, word in enumerate(words) if word.key in _INTO_A_FIRM), default=-1)
    behind = _joined(words) if inside < 0 else -1
    first = words[max(inside, behind) + 1 :]
    if len(first) != 1 or not _surname(first[0]):
        return []
    if behind > 0:
        before: tuple[str, ...] = ("with",)
    elif inside >= 0:
        before = (words[inside].key,)
    else:
        before = previous.before if first[0] is previous.words[0] else (previous.words[0].key,)
    placed = not before or (previous.opens and before[-1][-1] != ":") or before[-1] in _BEFORE_PARTNERS
    if before[-1:] not in _INTO and _OF_PERSONS.match(run.after):
        return []
    said = placed or context(run, run.words, before=before) >= HINT or _is_one(first[0], run, before)
    goes_on = len(run.words) > 3 and _goes_on_after(run.words[3])
    end = run.words[2].end if goes_on else past_its_tail(text, run.end)
    return [Span(first[0].start, end, "organisation", PARTNERS, BY)] if said else []


def _ends_a_row(run: CapitalisedRun) -> bool:
    """ "Richardson and Santana", and no year or verb after it as after authors."""
    words = run.words
    if len(words) < 3 or words[1].key not in ("and", "&", "und", "et", "y", "e"):
        return False
    ended = len(words) == 3 or _goes_on_after(words[3]) or (len(words) == 4 and words[3].kinds & LexiconKind.BODY)
    hyphen = "-" in words[0].text or "-" in words[2].text
    return bool(ended) and not hyphen and _surname(words[0]) and _surname(words[2]) and not _CITED.match(run.after)


def _joined(words: Sequence[RunWord]) -> int:
    """Where the partners begin behind another name that is joined to them: "Asha Rao and | Hawkins"; -1 for nowhere."""
    place = len(words) - 2
    return place if place > 1 and words[place].key == "and" and words[0].is_cased else -1


def _goes_on_after(word: RunWord) -> bool:
    """What the name of a firm does not hold: a joining word, or its officer."""
    return word.key in JOINS or word.key in OFFICERS


_INTO_A_FIRM = frozenset(("of", "at", "for"))


def _is_one(first: RunWord, run: CapitalisedRun, before: tuple[str, ...]) -> bool:
    """Three surnames of which nothing says that they are several: no colon before them, no verb for several after."""
    listed = all(word.kinds & LexiconKind.FAMILY for word in (first, run.words[0], run.words[2]))
    return listed and before[-1][-1] not in ":," and before[-1] not in _OF_SEVERAL and not _SEVERAL.match(run.after)


_OF_SEVERAL = frozenset(
    ("and", "named", "brothers", "sisters", "messrs", "called", "both", "players", "authors", "children")
)
_INTO = (("at",), ("of",), ("for",), ("from",))
_OF_PERSONS = re.compile(r",? (?:are|were)\b")
_CITED = re.compile(r",? \(?\d{4}\b")
"""Persons or authors: "Smith, Jones and Brown are", "(2019)"."""
_SEVERAL = re.compile(r",? (?:are|were|have|all|both|each|argue|show|describe|et al|who|meet|met|went|go|\()")


def _surname(word: RunWord) -> bool:
    return bool(word.kinds & LexiconKind.FAMILY) or not word.kinds & (
        LexiconKind.COMMON | LexiconKind.GIVEN | LexiconKind.COUNTRY
    )
