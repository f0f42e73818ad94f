"""Numbers of cases, files, plots, orders, bookings: after a label, and those that are counted up behind it.

"No." alone says little: "Law no. 657" and "bus no. 42" are nobody's. The word before it decides, or the form of the
number: courts write "II K 123/04", "1 BvR 2378/98", "[2005] UKHL 34", "19-cv-08132".
"""

from __future__ import annotations

import re

from shoal.text.lazy_patterns import lazy_pattern
from shoal.text.lexicon.gazetteers import sections_in
from shoal.text.lexicon.sentence_context import PhraseHit, either
from shoal.text.spans import Span

BY = "references"
REFERENCE = 0.75
MOST = 200
"""Numbers that are looked for behind one label."""

_LISTS = sections_in("references")
LABELS = (*_LISTS["number"], *_LISTS["nouns"])
_NUMBER = frozenset(_LISTS["number"])
_SOMEBODYS = lazy_pattern(rf"(?:\b(?:{either(_LISTS['somebody'])})|\()(?: \([a-z]{{1,8}}\))?[ :]*$")
_NOBODYS = lazy_pattern(rf"\b(?:{either(_LISTS['nobody'])})[ :]*$")
_BY_A_COURT = r"(?:[IVXL]{1,5}|\d{1,3}) [A-Z][A-Za-z]{0,4}(?:/[A-Z][A-Za-z]{1,2})?"
_CASE = rf"{_BY_A_COURT} \d{{1,6}}/\d{{2,4}}"
_WORD = r"(?:[A-Z]{2,5} (?=\d))?(?=[\w/.:–-]{0,24}\d)\w{1,24}(?:[/.:–-]\w{1,16}){0,6}"
_ONE = rf"(?P<value>(?:{_CASE}|\d{{1,6}} of \d{{4}}|{_WORD})(?!\w))"
_FIRST = lazy_pattern(
    rf"[.:# \u00a0]{{0,3}}(?:(?:no|nos|number|nr|id|is|de dossier|of the)\b[.:# ]{{0,3}}){{0,2}}{_ONE}"
)
_NEXT = lazy_pattern(
    rf"(?:,|;|,? and| &| und| et| y) {_ONE}"
    r"(?! (?:years?|months?|weeks?|days?|hours?|euros?|dollars?|pounds?|[A-Z][a-z]+ \d|[A-Z][a-z]{2,8} ?\d{4}))"
)
_PLAIN = lazy_pattern(r"\d+$")
_COMPOSED = lazy_pattern(r"(?:[A-Z]{2,5} )?[A-Z\d]+(?:[/:.–-][A-Z\d]+){0,6}$")
_DATE = lazy_pattern(r"\d{1,2}[./-]\d{1,2}[./-]\d{2,4}$|\d+[.,]\d{1,2}$|\d{1,2}:\d\d")
_REGISTER = lazy_pattern(rf"(?<![\w/])(?:{_BY_A_COURT}|\[\d{{4}}\](?: \d)? [A-Z][A-Za-z]{{1,6}}) $")
_OF_A_YEAR = lazy_pattern(r"\d{1,6}/\d{2,4}$")
_AMERICAN = lazy_pattern(r"-(?:CV|CR|cv|cr|mc|MC|bk|md|civ|crim)-\d{3,7}(?:-[A-Z]{2,4})*(?!\w)")


def after_a_label(hit: PhraseHit) -> list[Span]:
    """The number behind a label and those that follow it."""
    match = _FIRST.match(hit.text, hit.end)
    if match is None:
        return []
    value = match["value"]
    if hit.phrase in _NUMBER:
        fits = _numbers(hit.before(28), value)
    else:
        fits = _names(hit.small[hit.end : match.start("value")], value)
    spans: list[Span] = []
    while fits and match is not None and len(spans) < MOST:
        spans.append(Span(*match.span("value"), "reference", REFERENCE, BY))
        match = _NEXT.match(hit.text, match.end())
    return spans


def _numbers(before: str, value: str) -> bool:
    """Whether "no." with this before it counts something of somebody's."""
    if _NOBODYS.search(before):
        return False
    owned = _SOMEBODYS.search(before) is not None
    if _PLAIN.match(value):
        return owned and len(value) > 1
    return owned or (any(sign in value for sign in "/-") and _COMPOSED.match(value) is not None and len(value) > 4)


def _names(between: str, value: str) -> bool:
    """Whether a value can stand right behind "case" or "invoice": composed as references are, or marked."""
    marked = any(sign in between for sign in (":", "#", " is", "no"))
    if _PLAIN.match(value):
        return marked and len(value) > 3
    if _DATE.match(value) and not marked:
        return False
    return len(value) > 4 and (_COMPOSED.match(value) is not None or re.match(_CASE, value) is not None)


def by_form(text: str, start: int, end: int) -> Span | None:
    """A number that the letters of a court's register around it make the number of a case."""
    if text[end : end + 1] == "-" and (rest := _AMERICAN.match(text, end)) is not None:
        return Span(start, rest.end(), "reference", REFERENCE, BY)
    before = text[max(0, start - 20) : start]
    if "/" not in text[start:end] and "]" not in before:
        return None
    register = _REGISTER.search(before)
    if register is None or not (register.group()[0] == "[" or _OF_A_YEAR.match(text[start:end])):
        return None
    return Span(start - len(register.group()), end, "reference", REFERENCE, BY)


def is_nobodys(before: str) -> bool:
    """Whether "no." with this before it counts laws, volumes or buses."""
    return _NOBODYS.search(before.lower()) is not None
