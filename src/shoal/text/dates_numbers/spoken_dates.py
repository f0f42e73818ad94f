"""Dates and ages as people say them: "last November", "see you Wednesday", "when she was 54", "in his late fifties".

A month by itself needs a word before it that makes it a time; a number needs somebody before it, and nothing after it
that it could count. Of a number only its length is looked at: whether 54 is an age is for the words to say.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

from shoal.text.dates_numbers.age_context import is_age, is_another, is_stated_age, word_before
from shoal.text.lexicon.capitalised_runs import with_capitals
from shoal.text.lexicon.gazetteers import sections_in
from shoal.text.listed_phrases import stands_apart
from shoal.text.spans import Span

if TYPE_CHECKING:
    from ahocorasick_rs import AhoCorasick

BY = "spoken"
MONTH = 0.55
WEEKDAY = 0.55
DAY = 0.7
AGE = 0.62

_LISTS = sections_in("calendar")
_BEFORE_A_MONTH = frozenset(_LISTS["before a month"])
_BEFORE_A_DAY = frozenset(_LISTS["before a day"])
_NOT_BEFORE_A_WEEKDAY = frozenset(_LISTS["not before a weekday"])
_WORDS = "|".join(sorted(_LISTS["numbers in words"], key=len, reverse=True))
_THE_DAY = re.compile(r",? (?:the )?\d{1,2}(?:st|nd|rd|th)(?!\w)")
_A_DAY = re.compile(r" \d{1,2}(?:st|nd|rd|th)?(?![\w%]|[.,:/]\d)")
_DAY_AND_MONTH = re.compile(r"\d{1,2}/\d{2}(?![\w/]|[.,:-]\d)")
_BEFORE_A_DAY_AND_MONTH = frozenset(_LISTS["before a day and month"])
_M = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}"
_A_DATE = re.compile(rf"\.?,? (?:\d{{1,2}}(?:st|nd|rd|th)?[ -](?:[Oo]f )?{_M}|{_M}\.? \d{{1,2}}(?:st|nd|rd|th)?)(?!\w)")
_LAST_WORD = re.compile(r"([^\W\d_]+)[ -]$")


def find_spoken_dates(text: str) -> Iterator[Span]:
    read = with_capitals(text)
    kinds = _kinds()
    for index, start, end in _automaton().find_matches_as_indexes(read):
        span = _judged(text, read, kinds[index], start, end) if stands_apart(read, start, end) else None
        if span is not None:
            yield span
    yield from _by_numbers(text, read)


@cache
def _kinds() -> list[str]:
    """The kind of each word that is looked for, in the order in which the automaton has them."""
    return [*_words().values(), *("old" for _ in _OLD)]


@cache
def _words() -> dict[str, str]:
    """Months, days and decades as they are written, and with a capital; with the section that each is in."""
    listed = {word: section for section in _TRIGGERS for word in _LISTS[section]}
    return listed | {word.capitalize(): section for word, section in listed.items()}


_IN_FULL = re.compile(r"[^\W\d_]+(?:[- ](?:one|two|three|four|five|six|seven|eight|nine))?(?!\w)", re.IGNORECASE)
_TRIGGERS = ("ages in words", "months", "weekdays", "short weekdays", "decades")
_OLD = ("years old", "year old", "years of age", "year-old", "months old", "month old", "month-old", "weeks old")


@cache
def _automaton() -> AhoCorasick:
    from ahocorasick_rs import AhoCorasick, MatchKind

    return AhoCorasick([*_words(), *_OLD], matchkind=MatchKind.LeftmostLongest)


def _judged(text: str, read: str, kind: str, start: int, end: int) -> Span | None:
    before = text[max(0, start - 24) : start]
    if kind == "months":
        return _month(text, start, end, before)
    if kind == "weekdays":
        return _weekday(text, start, end, before)
    if kind == "short weekdays":
        dated = _A_DATE.match(read, end)
        return Span(start, dated.end(), "date", DAY, BY) if dated else None
    if kind == "decades":
        decade = _IN_HIS.search(before.lower())
        return Span(start - len(decade.group(1)), end, "age", AGE, BY) if decade else None
    if kind == "ages in words":
        whole = _IN_FULL.match(read, start)
        return Span(start, whole.end(), "age", AGE, BY) if whole and is_stated_age(text, start, whole.end()) else None
    counted = _COUNTED.search(before)
    return Span(start - len(counted.group()), end, "age", DAY, BY) if counted else None


_IN_HIS = re.compile(r"\bin(?:to)? (?:his|her|their|my|your) ((?:early |mid |mid-|late )?)$")
_COUNTED = re.compile(rf"(?<!\w)(?:(?:{_WORDS})[ -]?){{1,2}}$", re.IGNORECASE)
_TH = re.compile(r"(?:th|nd|rd)(?!\w)(?! [A-Z])")
_TENS = re.compile(r"\d\d['’]?s(?!\w)")


def _month(text: str, start: int, end: int, before: str) -> Span | None:
    last = _LAST_WORD.search(before)
    if last is None:
        return None
    word = last.group(1).lower()
    day = _A_DAY.match(text, end)
    if day is not None and word in _BEFORE_A_DAY:
        return Span(start, day.end(), "date", DAY, BY)
    of = word == "of" and before.lower().endswith(("end of ", "beginning of ", "middle of "))
    return Span(start, end, "date", MONTH, BY) if of or word in _BEFORE_A_MONTH else None


def _weekday(text: str, start: int, end: int, before: str) -> Span | None:
    last = _LAST_WORD.search(before)
    if last is not None and last.group(1).lower() in _NOT_BEFORE_A_WEEKDAY:
        return None
    if text[end : end + 1] == "-" and text[end + 1 : end + 2].islower():
        return None
    day = _THE_DAY.match(text, end)
    return Span(start, end if day is None else day.end(), "date", WEEKDAY, BY)


# --- in numbers -------------------------------------------------------------------------------------------------------

_DIGITS = re.compile(r"\d+")
LONGEST = 2
"""Digits of a day, a month or an age. Those of a hundred years and more are left to "years old"."""


def _by_numbers(text: str, read: str) -> Iterator[Span]:
    """Ages, decades and days in numbers: every short number after a blank is looked at once."""
    aged = -1
    for match in _DIGITS.finditer(text):
        start, end = match.span()
        if end - start > LONGEST or not start or text[start - 1] not in " (-\n[":
            continue
        following = text[end : end + 1]
        if following == "/":
            day = _DAY_AND_MONTH.match(text, start)
            if day is not None and word_before(text, start) in _BEFORE_A_DAY_AND_MONTH:
                yield Span(start, day.end(), "date", MONTH, BY)
        elif following in _FURTHER:
            yield from _counted(text, start, end)
        elif text[start] == "0" or text[start - 1] == "-":
            continue
        elif is_another(text, aged, start, end) or is_age(text, read, start, end):
            aged = end
            yield Span(start, end, "age", AGE, BY)


_FURTHER = frozenset("s'’tnr")


def _counted(text: str, start: int, end: int) -> Iterator[Span]:
    """ "In his 40s", "happy 40th"."""
    before = text[max(0, start - 24) : start].lower()
    decade, tens = _IN_HIS.search(before), _TENS.match(text, start)
    if decade and tens:
        yield Span(start - len(decade.group(1)), tens.end(), "age", AGE, BY)
    elif before.endswith("happy ") and (ordinal := _TH.match(text, end)):
        yield Span(start, ordinal.end(), "age", AGE, BY)
