"""A name and a number, which only the words around make an address: "at Bratří Čapků 46", "909 Williams, Leeds"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from shoal.text.lazy_patterns import lazy_pattern
from shoal.text.lexicon.capitalised_runs import UPPER
from shoal.text.lexicon.gazetteers import NAME, PLACE, SIZES, LexiconKind, folded, lexicon, words_in
from shoal.text.spans import Span
from shoal.text.street_addresses.address_parts import (
    A_TAIL,
    BY,
    LOOSE,
    PERHAPS,
    PLACED,
    SUREST,
    AddressForms,
    is_cued,
    with_tail,
)
from shoal.text.street_addresses.candidate_windows import IS_DATED

FOREIGN = 0.79
"""Surer than that half of it is a person's name."""
CUED = 0.2
"""What words before it that speak of an address add."""
NUMBER_FIRST = 0.89
"""A number before a name, with a code behind or a cue before: surer than that the name is a person's."""


def loose_addresses(text: str, first: int, past: int, known: AddressForms) -> Iterator[Span]:
    match = known.loose.search(text, first, past)
    while match is not None:
        spans = list(_loose(text, match, known))
        yield from spans
        match = known.loose.search(text, match.end() if spans else _next(match), past)


def _next(match: re.Match[str]) -> int:
    """Where to go on behind what is no address: behind an everyday word that opens it, or at its number."""
    word = _OPENS_WITH.match(match.group())
    if word is not None and lexicon().kinds(word[1]) & LexiconKind.COMMON:
        return match.start() + word.end()
    number = _LAST_NUMBER.search(match.group())
    return match.start() + number.start(1) if number else match.end()


_OPENS_WITH = lazy_pattern(r"([^\W\d_]+) (?=[^\W\d_])")
_LAST_NUMBER = lazy_pattern(r"\D[ .]+(\d[^ ]*)$")


def _loose(text: str, match: re.Match[str], known: AddressForms) -> Iterator[Span]:
    """A name and a number: an address where words before it say so, or a code or a town behind it."""
    start = _past_openers(text, match.start())
    value = text[start : match.end()]
    if all(map(IS_DATED.match, _LETTERS.findall(value))):
        return
    number_first, strange = value[0].isdigit(), unlisted(value)
    if not (strange or (number_first and not known.small)):
        return
    end, count, coded = with_tail(text, match.end(), known)
    before = text[max(0, start - 32) : start]
    cued = is_cued(before)
    if not strange and not (number_first and (cued or (coded and not _A_YEAR_FIRST.match(value)))):
        return
    if number_first and (coded or cued):
        yield Span(start, end, "address", min(SUREST, NUMBER_FIRST + A_TAIL * count), BY)
    elif cued or count > 1 or (count and number_first):
        yield Span(start, end, "address", LOOSE + CUED * cued + A_TAIL * count, BY)
        return
    if known.small:
        return
    between = number_first and _BETWEEN.match(value)
    foreign = _looks_foreign(value) and (not number_first or bool(_LONG_NUMBER.match(value)))
    perhaps = between or foreign or (count and before[-2:] == ", ") or PERHAPS.search(before)
    if perhaps and _likely(text, start, match.end()):
        placed = between or (value[-1].isdigit() and PLACED.search(before))
        score = NUMBER_FIRST if placed else FOREIGN if foreign else LOOSE
        yield Span(start, end, "address", score + A_TAIL * count, BY)


_LONG_NUMBER = lazy_pattern(r"(?!(?:19|20)\d\d )\d{3,5} \D")


def _looks_foreign(value: str) -> bool:
    """A word on no list that is hardly a product's: with letters beyond English, or with another such word."""
    words = _LETTERS.findall(value)
    strange = [word for word in words if len(word) > 3 and not lexicon().kinds(word)]
    return (
        bool(strange)
        and not any(lexicon().kinds(word) & ~_OWN for word in words)
        and (len(strange) > 1 or not strange[0].isascii())
    )


_OWN = NAME | PLACE | SIZES


_LETTERS = lazy_pattern(r"[^\W\d_]+")
_LIKELY = lazy_pattern(rf"[^\W\d_]{{4,}}|[{UPPER}][^\W\d_]+ [{UPPER}][^\W\d_]+")
A_YEAR = lazy_pattern(r"(?:19|20)\d\d$")
_A_YEAR_FIRST = lazy_pattern(r"(?:19|20)\d\d(?!\d)")
_OPENS = lazy_pattern(r"(?:^|\n)[ ?•*>|-]{0,4}$")
_ALONE = lazy_pattern(r"[,.]? ?(?:\n|$)")
_GOES_ON = lazy_pattern(
    r"\.?(?:[,;]? ?\n|[,.;)?!]|$| (?:and|in|for|from|with|by|on|at|as|to|if|is|was|has|had|will|can|far|or|but"
    r"|before|after|between|until|when|where|while|every|instead|then|because|since|today|tomorrow|tonight|last|this"
    r"|next|which|that|via|please|now|again|meets|during)\b)"
)


def _likely(text: str, start: int, end: int) -> bool:
    """Of a street rather than of a product or a count: a longer name, no year, and what follows does not count it."""
    value = text[start:end]
    if "," in value or A_YEAR.search(value):
        return False
    if value[0].isdigit() and value[-1].isdigit():
        return True
    if not _LIKELY.search(value) or (value[-1].isdigit() and _PHONE.match(text, start)):
        return False
    if _OPENS.search(text[max(0, start - 6) : start]) and not _ALONE.match(text, end):
        return _looks_foreign(value) and not _COUNTED.match(text, end)
    goes_on = bool(_GOES_ON.match(text, end))
    return goes_on or (_looks_foreign(value) and not _COUNTED.match(text, end))


_PHONE = lazy_pattern(r"\D+(?:\d[ ()-]{0,2}){7}")
_COUNTED = lazy_pattern(
    rf" (?:[{UPPER}\d$€£%]|(?:[^\W\d_-]+ )?(?:[^\W\d_]*[^\Wsi\d_]s|people|men|women|children|per|percent|million"
    r"|billion|thousand|hundred|times|km|kg|mm|cm|am|pm|a\.m|p\.m|uhr|euro|o'clock|degrees|year|day|month|week|minute|hour)(?!\w))|[%°€$£]"
)
"""Behind a number that counts: "20 young men"."""


def _past_openers(text: str, start: int) -> int:
    """Without "In" or "At" that only opens the sentence."""
    opener = _OPENER.match(text, start)
    return start if opener is None else opener.end()


_OPENER = lazy_pattern(r"(?:(?:Is|At|On|In|From|To|Near|And|The|If|By|For|With|Was|Are) )+")
_BETWEEN = lazy_pattern(r"\d{3,6} \D+\d+[A-Za-z]?\.?$|\d{3,6} \d{1,4} \D+$")
"""A number on either side of the name, or two before it: hardly anything but an address."""


WORDS = lazy_pattern(r"(?<![\w-])[^\W\d_]{2,}(?!\w|-[^\W\d_])")


@cache
def _abroad() -> frozenset[str]:
    """Small words of other languages: part of many streets, "Øster Allé", "Fuente del Gallo"."""
    return frozenset(map(folded, words_in("abroad"))) - frozenset(words_in("common"))


def unlisted(value: str) -> bool:
    """No word of it is an everyday one, a people or a title: "12 May 1994" and "Article 5" are no addresses."""
    entries = lexicon().entries
    never = LexiconKind.COMMON | LexiconKind.PEOPLE | LexiconKind.TITLE
    words = [word for word in map(folded, WORDS.findall(value)) if word not in _abroad()]
    return bool(words) and not any(
        (entries.get(word, 0) | entries.get(word.removesuffix("s"), 0) & LexiconKind.COMMON) & never for word in words
    )
