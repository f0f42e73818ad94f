"""Street addresses: number and street in the order of many countries, boxes, units, and the tail with town and code.

A core is found first: "12 High Street", "Rue de Rivoli 5", "Hauptstraße 12", "Blk 123 Ang Mo Kio Ave 3", "P.O. Box 7".
It is carried on over what follows, on the same line or the next ones, up to the last part that is sure: a flat, a
postal code, a known place; and back over the flat or the named house before it. Such an address holds its town and its
code; they are not reported again. A street without a number ("on Cedar Lane") and a town with its code are addresses
too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from shoal.text.address_forms import (
    ANYWHERE,
    CUE,
    GATES,
    HEAD,
    LONG_CODE,
    LOOSE,
    PERHAPS,
    PLACED,
    STREET,
    TOWN_FIRST,
    Forms,
    forms,
)
from shoal.text.address_tails import OPENERS, with_tail
from shoal.text.address_windows import Hint, alone, hints, small_windows, windows
from shoal.text.gazetteers import PLACE, Kind, folded, lexicon, words_in
from shoal.text.reading import UPPER
from shoal.text.spans import Span

BY = "addresses"
CUED = 0.2
"""What words before it that speak of an address add."""
A_TAIL = 0.03
"""What each part of the tail adds."""
SUREST = 0.97
NUMBER_FIRST = 0.89
"""A number before a name, with a code behind or a cue before: surer than that the name is a person's."""
TOWN_AND_CODE = 0.86
PERHAPS_A_TOWN = 0.66
MOST_HEADS = 2


def addresses(text: str) -> Iterator[Span]:
    small = text.islower()
    known = forms(small=small)
    found = hints(text)
    for first, past in small_windows(text) if small else windows(text, found):
        opened = {gate for gate, holds in GATES.items() if small or holds.search(text, first, past)} | {ANYWHERE}
        for pattern, score, gate in known.cores:
            for match in pattern.finditer(text, first, past) if gate in opened else ():
                if score > LOOSE or _unlisted(match.group()):
                    start, end = _without_everyday(match) if small else match.span()
                    if start < end:
                        yield _whole(text, start, end, score, known)
        for match in known.loose.finditer(text, first, past):
            yield from _loose(text, match, known)
        yield from _towns(text, first, past, opened, known)
    if not small:
        yield from _streets_alone(text, found, known)


def _whole(text: str, start: int, end: int, score: float, known: Forms) -> Span:
    """A core with its head and tail."""
    end, count, _ = with_tail(text, _without_stop(text, end), known)
    return Span(_head(text, start), end, "address", min(SUREST, score + A_TAIL * count), BY)


def _without_stop(text: str, end: int) -> int:
    """Without the full stop that ends the sentence; that of "Ave." stays."""
    return end - 1 if _STOP.search(text, max(0, end - 6), end) else end


_STOP = re.compile(r"(?:[^\W\d_]{5}|\d)\.$")


def _head(text: str, start: int) -> int:
    for _ in range(MOST_HEADS):
        head = HEAD.search(text[max(0, start - 48) : start])
        if head is None:
            break
        start -= len(head.group())
    return start


def _loose(text: str, match: re.Match[str], known: Forms) -> Iterator[Span]:
    """A name and a number: an address where words before it say so, or a code or a town behind it."""
    start = _past_openers(text, match.start())
    value = text[start : match.end()]
    number_first, unlisted = value[0].isdigit(), _unlisted(value)
    if not (unlisted or (number_first and not known.small)):
        return
    end, count, coded = with_tail(text, match.end(), known)
    before = text[max(0, start - 32) : start]
    cued = bool(CUE.search(before))
    if not unlisted and not (number_first and (cued or (coded and not _A_YEAR_FIRST.match(value)))):
        return
    if number_first and (coded or cued):
        yield Span(start, end, "address", min(SUREST, NUMBER_FIRST + A_TAIL * count), BY)
    elif cued or count > 1 or (count and number_first):
        yield Span(start, end, "address", LOOSE + CUED * cued + A_TAIL * count, BY)
        return
    if known.small:
        return
    between = number_first and _BETWEEN.match(value)
    perhaps = between or (count and before[-2:] == ", ") or PERHAPS.search(before)
    if perhaps and _likely(text, start, match.end()):
        placed = between or (value[-1].isdigit() and PLACED.search(before))
        yield Span(start, end, "address", (NUMBER_FIRST if placed else LOOSE) + A_TAIL * count, BY)


def _without_everyday(match: re.Match[str]) -> tuple[int, int]:
    """In a text without capitals, where any word can be part of a name: without the sentence before and behind it."""
    start, end = match.span()
    value = match.group()
    if not value[0].isdigit():
        for word in _LEADING.finditer(value):
            if word[1] not in OPENERS and lexicon().kinds(word[1]) != Kind.COMMON:
                break
            start = match.start() + word.end()
    for word in _WORDS.finditer(value, start - match.start()):
        if word.group() in _LINKING and word.start() > start - match.start():
            again = match.re.match(match.string, start, match.start() + word.start() - 1)
            return again.span() if again else (start, start)
    return start, end


_LEADING = re.compile(r"([^\W\d_]+)(?:['’][a-z]+)? (?!\d)")
_LINKING = frozenset(("and", "in", "from", "at", "to", "with", "for", "is", "was", "or", "but", "by"))


_LIKELY = re.compile(rf"[^\W\d_]{{4,}}|[{UPPER}][^\W\d_]+ [{UPPER}][^\W\d_]+")
_A_YEAR = re.compile(r"(?:19|20)\d\d$")
_A_YEAR_FIRST = re.compile(r"(?:19|20)\d\d(?!\d)")
_OPENS = re.compile(r"(?:^|\n)[ ?•*>|-]{0,4}$")
_ALONE = re.compile(r"[,.]? ?(?:\n|$)")
_GOES_ON = re.compile(
    r"\.?(?:[,;]? ?\n|[,.;)?!]|$| (?:and|in|for|from|with|by|on|at|as|to|if|is|was|has|had|will|can|far|or|but"
    r"|before|after|between|until|when|where|while|every|instead|then|because|since|today|tomorrow|tonight|last|this"
    r"|next|which|that|via|please|now|again|meets|during)\b)"
)


def _likely(text: str, start: int, end: int) -> bool:
    """Of a street rather than of a product or a count: a longer name, no year, and what follows does not count it."""
    value = text[start:end]
    if "," in value or _A_YEAR.search(value):
        return False
    if value[0].isdigit() and value[-1].isdigit():
        return True
    if _OPENS.search(text[max(0, start - 6) : start]) and not _ALONE.match(text, end):
        return False
    return bool(_LIKELY.search(value)) and bool(_GOES_ON.match(text, end))


def _past_openers(text: str, start: int) -> int:
    """Without "In" or "At" that only opens the sentence."""
    opener = _OPENER.match(text, start)
    return start if opener is None else opener.end()


_OPENER = re.compile(r"(?:(?:Is|At|On|In|From|To|Near|And|The|If|By|For|With|Was|Are) )+")
_BETWEEN = re.compile(r"\d{3,6} \D+\d+[A-Za-z]?\.?$|\d{3,6} \d{1,4} \D+$")
"""A number on either side of the name, or two before it: hardly anything but an address."""


# --- towns with their codes -------------------------------------------------------------------------------------------


def _towns(text: str, first: int, past: int, opened: set[int], known: Forms) -> Iterator[Span]:
    with_code, with_long_code, code_first = known.towns
    for match in with_code.finditer(text, first, past) if TOWN_FIRST in opened else ():
        yield _whole(text, _town_start(match), match.end(), TOWN_AND_CODE, known)
    for match in with_long_code.finditer(text, first, past) if LONG_CODE in opened else ():
        if lexicon().kinds(match.group(1).split(" ")[-1]) & PLACE or lexicon().kinds(match.group(1)) & PLACE:
            yield _whole(text, match.start(), match.end(), TOWN_AND_CODE, known)
    for match in code_first.finditer(text, first, past):
        score = _code_first(text, match)
        if score:
            yield _whole(text, match.start(), match.end(), score, known)


def _town_start(match: re.Match[str]) -> int:
    """Without everyday words before the town: "From Leeds LS1 4AP"."""
    start = match.start(1)
    words = match.group(1).split(" ")
    while len(words) > 1 and lexicon().kinds(words[0]) & Kind.COMMON and not lexicon().kinds(words[0]) & PLACE:
        start += len(words[0]) + 1
        words = words[1:]
    return start


_BEFORE_A_CODE = re.compile(
    r"(?:\b(?:in|to|from|near|at|aus|nach|bei|à|en|a|i|w|v|naar|uit|till|z|do|of)|[,;:(–-]) $|[,]?\n *$", re.IGNORECASE
)


def _code_first(text: str, match: re.Match[str]) -> float:
    code, town = match.group(1), match.group(2)
    first = lexicon().kinds(town.split(" ")[0])
    listed = (lexicon().kinds(town) | first) & PLACE
    placed = _BEFORE_A_CODE.search(text[max(0, match.start() - 8) : match.start()])
    if (first & Kind.COMMON and not listed) or (_A_YEAR.match(code) and not (placed and placed.group()[0] in ",\n")):
        return 0.0
    if listed:
        return TOWN_AND_CODE if placed or len(code) > 4 else PERHAPS_A_TOWN
    return PERHAPS_A_TOWN if placed and len(code) > 4 and not first & (Kind.PEOPLE | Kind.TITLE) else 0.0


# --- streets without a number -----------------------------------------------------------------------------------------

_ON = frozenset(("on", "along", "onto", "off", "down", "up", "across"))
_IN = frozenset(("in", "at", "from", "near", "to", "of", "and", "between", "into", "around", "behind", "opposite"))
MOST_NAMES = 3


def _streets_alone(text: str, found: list[Hint], known: Forms) -> Iterator[Span]:
    words = alone()
    for start, end in found:
        way = words.get(text[start + 1 : end])
        if way is None or text[start] != " " or text[end : end + 1].isalnum():
            continue
        before = _APART.split(text[max(0, start - 48) : start])[-1].split(" ")
        count = _names_at_the_end(before)
        if count and _leads(before, count, way):
            length = sum(map(len, before[-count:])) + count - 1
            yield _whole(text, start - length, end, STREET, known)


def _names_at_the_end(words: list[str]) -> int:
    """How many words at the end belong to the name of a street, without "On" or "The" that only open the sentence."""
    count = 0
    for word in reversed(words[-MOST_NAMES:]):
        if not (word[:1].isupper() or _ORDINAL.match(word)) or word[-1] in ",;:!?)" or folded(word) in OPENERS:
            break
        count += 1
    if count and lexicon().kinds(" ".join(words[-count:])) & (Kind.PEOPLE | Kind.GENERIC):
        return 0
    return count


_APART = re.compile(r"[\n(\"“‘«\[]")
_ORDINAL = re.compile(r"\d{1,3}(?:st|nd|rd|th)$")


def _leads(before: list[str], count: int, way: str) -> bool:
    """Whether the word before the name fits the street: "on Larch Court", "in Larch Close"."""
    last = before[-count - 1].lower() if len(before) > count else ""
    if way == "alone" or last in _ON:
        return True
    everyday = any(lexicon().kinds(word) & Kind.COMMON for word in before[-count:])
    return last in _IN and (way == "after in" or (way != "after on" and not everyday))


_WORDS = re.compile(r"(?<![\w-])[^\W\d_]{2,}(?!\w|-[^\W\d_])")


@cache
def _abroad() -> frozenset[str]:
    """Small words of other languages: part of many streets, "Øster Allé", "Fuente del Gallo"."""
    return frozenset(map(folded, words_in("abroad"))) - frozenset(words_in("common"))


def _unlisted(value: str) -> bool:
    """No word of it is an everyday one, a people or a title: "12 May 1994" and "Article 5" are no addresses."""
    entries = lexicon().entries
    never = Kind.COMMON | Kind.PEOPLE | Kind.TITLE
    words = [word for word in map(folded, _WORDS.findall(value)) if word not in _abroad()]
    return bool(words) and not any(
        (entries.get(word, 0) | entries.get(word.removesuffix("s"), 0) & Kind.COMMON) & never for word in words
    )
