"""What of an address stands by itself among other words: a street in small letters, a postal code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from shoal.text.lexicon.gazetteers import NAME, folded, lexicon, sections_in
from shoal.text.spans import Span
from shoal.text.street_addresses.address_parts import BOX, BY, CODE, STREET, address_forms, is_cued, whole_address

PLACED_STREET = 0.7
SHAPED = 0.75
"""A code by its form, after a word that speaks of a place."""
LONGEST_BEFORE = 40
LEAST_LETTERS = 6

_NUMBER = re.compile(r"\d(?<=[^\W\d_A-Z][ :]\d)|\d(?<=: \d)")
"""Behind a word in small letters; a digit comes first, so that other signs are skipped quickly."""


def among_words(text: str, *, small: bool) -> Iterator[Span]:
    """Streets in small letters only where the text has capitals elsewhere."""
    entries, following = lexicon().entries, _following()
    for number in _NUMBER.finditer(text):
        start = number.start()
        word = text[text.rfind(" ", 0, start - 1) + 1 : start - 1]
        if word in _BEFORE_A_CODE or word[-1:] == ":":
            if not _A_YEAR.match(text, start):
                yield from _code(text, start, word)
        elif small or word[:1].isupper() or (entries.get(word, 0) & ~NAME and word not in following):
            continue
        elif word in following or not entries.get(folded(word), 0) & ~NAME:
            yield from _street(text, start)


_A_YEAR = re.compile(r"(?:19|20)\d\d(?!\d)")


# --- streets in small letters -----------------------------------------------------------------------------------------

_HOUSE = re.compile(r"\d{1,4}[a-z]?(?![\w%°$€£]|[.,:/-]\d)\.?")
_WORDS_BEFORE = re.compile(r"(?:(?<![^\s(\"“])(\d{1,6}) )?((?:(?<![\w.,/-])[^\W\d_A-Z]+ ){1,4})$")
_PLACED = re.compile(
    r"(?:\b(?:at|on|near|in|to|from|of|opposite|outside|behind|beside|past|is|between|seen)|[:,;(\"“|])[ \n]$|(?:^|\n)$"
)


def _street(text: str, start_of_number: int) -> Iterator[Span]:
    """ "to 24 tawastintie 6", "in rúa olmos 44"."""
    number = _HOUSE.match(text, start_of_number)
    before = _WORDS_BEFORE.search(text[max(0, start_of_number - LONGEST_BEFORE) : start_of_number])
    if number is None or before is None:
        return
    words = before[2].split()
    count = _strange_at_the_end(words)
    if not count and not (before[1] and _no_everyday(words)):
        return
    number_first = before[1] is not None and (count == len(words) or _no_everyday(words))
    length = len(before.group()) if number_first else sum(map(len, words[-count:])) + count
    start = number.start() - length
    known = number_first or words[-1] in _following() or words[-count] in _openings()
    ends = len(words[-1]) >= LEAST_LETTERS and words[-1].endswith(_endings())
    placed = _PLACED.search(text[max(0, start - 12) : start])
    if known or (ends and placed) or (placed and not words[-1].isascii()):
        forms = address_forms(small=True, plain=text.isascii())
        yield whole_address(text, start, number.end(), STREET if known or ends else PLACED_STREET, forms)


def _no_everyday(words: list[str]) -> bool:
    return all(word in _openings() or not lexicon().kinds(word) & ~NAME for word in words)


def _strange_at_the_end(words: list[str]) -> int:
    """How many words at the end are on no list, small words of streets apart."""
    entries = lexicon().entries
    count = strange = 0
    for word in reversed(words):
        of_streets = word in _openings() or word in _following()
        if not of_streets and entries.get(folded(word), 0):
            break
        strange += not of_streets
        count += 1
        if word in _openings():
            break
    return count if strange else 0


@cache
def _openings() -> frozenset[str]:
    streets = sections_in("streets")
    return frozenset((*streets["openings in small letters"], *map(str.lower, streets["openings"]))) - {
        "place",
        "pot",
        "pod",
    }


@cache
def _following() -> frozenset[str]:
    return frozenset(word for word in sections_in("streets")["following"] if len(word) > 1)


@cache
def _endings() -> tuple[str, ...]:
    return tuple(sections_in("streets")["endings"])


# --- codes ------------------------------------------------------------------------------------------------------------

_PREPOSITIONS = frozenset(("in", "to", "from", "at", "and"))
_BEFORE_A_CODE = _PREPOSITIONS | frozenset(
    ("postcode", "postcode's", "postcode’s", "code", "code's", "code’s", "zip", "plz", "is")
)
_LABEL = re.compile(
    r"\b(?:post ?code|zip(?:[ -]?code)?|postal code|pin ?code|postleitzahl|plz|code postal|código postal)"
    r"(?:['’]s| is| was|:){0,2} ?$",
    re.IGNORECASE,
)
_CODE = re.compile(CODE)
_SHAPED = re.compile(r"(?:\d{5}-\d{3}|\d{4} [A-Z]{2})(?!\w|-\d| [A-Z])")
_BARE = re.compile(r"(?!(?:19|20)\d\d\b)\d{4,6}(?=[.,;!?]?(?:\s*$|\n)| please| and \d{4,6}\b)")


def _code(text: str, start: int, word: str) -> Iterator[Span]:
    """A postal code that no town stands beside: where it is named, has a form of its own, or follows "send it to"."""
    code, score = _SHAPED.match(text, start), SHAPED
    if word not in _PREPOSITIONS and _LABEL.search(text[max(0, start - 24) : start]):
        code, score = _CODE.match(text, start), BOX
    elif code is None:
        code = _BARE.match(text, start)
        if code is not None and not is_cued(text[max(0, start - 32) : start]):
            return
    if code is not None:
        yield Span(start, code.end(), "postal_code", score, BY)
