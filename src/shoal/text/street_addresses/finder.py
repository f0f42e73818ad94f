"""Street addresses: number and street in the order of many countries, boxes, units, and the tail with town and code.

A core is found first: "12 High Street", "Rue de Rivoli 5", "Hauptstraße 12", "Blk 123 Ang Mo Kio Ave 3", "P.O. Box 7".
It is carried on over what follows, on the same line or the next ones, up to the last part that is sure: a flat, a
postal code, a known place; and back over the flat or the named house before it. Such an address holds its town and its
code; they are not reported again. A street without a number ("on Cedar Lane") and a town with its code are addresses
too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Set

from shoal.text.lazy_patterns import lazy_pattern
from shoal.text.lexicon.capitalised_runs import UPPER
from shoal.text.lexicon.gazetteers import PLACE, LexiconKind, lexicon
from shoal.text.spans import Span
from shoal.text.street_addresses.address_parts import (
    ALL_GATES,
    CODE_FIRST,
    CUE,
    ENDED,
    FOLLOWED,
    LONG_CODE,
    LOOSE,
    OPENERS,
    TOWN_FIRST,
    AddressForms,
    address_forms,
    opened_gates,
    whole_address,
)
from shoal.text.street_addresses.candidate_windows import hints, small_windows, windows
from shoal.text.street_addresses.contextual_addresses import A_YEAR, WORDS, loose_addresses, unlisted
from shoal.text.street_addresses.inline_addresses import among_words
from shoal.text.street_addresses.unnumbered_streets import streets_alone

TOWN_AND_CODE = 0.86
PERHAPS_A_TOWN = 0.66
SURE_ENOUGH = 0.75


def addresses(text: str) -> list[Span]:
    """Of two that end together, where both are sure, the longer."""
    kept: list[Span] = []
    for span in sorted(_found(text), key=lambda one: (one.start, -one.end)):
        if kept and kept[-1].end == span.end and kept[-1].score >= SURE_ENOUGH:
            kept[-1] = kept[-1]._replace(score=max(kept[-1].score, span.score))
        else:
            kept.append(span)
    return kept


def _found(text: str) -> Iterator[Span]:
    small = text.islower()
    known = address_forms(small=small, plain=text.isascii())._replace(tails={})
    found = hints(text)
    for first, past in small_windows(text) if small else windows(text, found):
        opened = ALL_GATES if small else opened_gates(text, first, past)
        for pattern, score, gate in known.cores:
            for match in pattern.finditer(text, first, past) if gate in opened else ():
                if (score > LOOSE or unlisted(match.group())) and not _after_a_name(match):
                    start, end = _without_everyday(match, gate) if small else _without_labels(match, gate)
                    if start < end:
                        yield whole_address(text, start, end, score, known)
        yield from loose_addresses(text, first, past, known)
        yield from _towns(text, first, past, opened, known)
    if not small:
        yield from streets_alone(text, found, known)
    yield from among_words(text, small=small)


def _after_a_name(match: re.Match[str]) -> bool:
    """An "R." that is no street's but an initial: "Amal R. Costa, 12"."""
    return match.group()[1:2] == "." and bool(_NAMED.search(match.string, max(0, match.start() - 16), match.start()))


_NAMED = lazy_pattern(rf"[{UPPER}][^\W\d_]+ $")


def _without_labels(match: re.Match[str], gate: int) -> tuple[int, int]:
    """Without everyday words before the street that have a capital for another reason: "Address Ringweg 4"."""
    start, end = match.span()
    if match.group()[0].isdigit():
        return start, end
    for word in _LABELS.finditer(match.group()):
        everyday = gate in (ENDED, FOLLOWED) and lexicon().kinds(word[1]) == LexiconKind.COMMON
        if word.start() + match.start() != start or not (everyday or CUE.match(word.group())):
            break
        start = match.start() + word.end()
    return start, end


_LABELS = re.compile(r"([^\W\d_]+) (?=[^\W\d_])")


def _without_everyday(match: re.Match[str], gate: int) -> tuple[int, int]:
    """In a text without capitals, where any word can be part of a name: without the sentence before and behind it."""
    start, end = match.span()
    value = match.group()
    if not value[0].isdigit():
        for word in _LEADING.finditer(value):
            if word[1] in OPENERS or lexicon().kinds(word[1]) == LexiconKind.COMMON:
                start = match.start() + word.end()
            elif gate != ENDED:
                break
    for word in WORDS.finditer(value, start - match.start()):
        if word.group() in _LINKING and word.start() > start - match.start():
            again = match.re.match(match.string, start, match.start() + word.start() - 1)
            return again.span() if again else (start, start)
    return start, end


_LEADING = re.compile(r"([^\W\d_]+)(?:['’][a-z]+)? (?!\d)")
_LINKING = frozenset(("and", "in", "from", "at", "to", "with", "for", "is", "was", "or", "but", "by"))


# --- towns with their codes -------------------------------------------------------------------------------------------


def _towns(text: str, first: int, past: int, opened: Set[int], known: AddressForms) -> Iterator[Span]:
    with_code, with_long_code, code_first = known.towns
    for match in with_code.finditer(text, first, past) if TOWN_FIRST in opened else ():
        if known.small and _NO_STATE.search(match.group()):
            continue
        yield whole_address(text, _town_start(match), match.end(), TOWN_AND_CODE, known)
    for match in with_long_code.finditer(text, first, past) if LONG_CODE in opened else ():
        if lexicon().kinds(match.group(1).split(" ")[-1]) & PLACE or lexicon().kinds(match.group(1)) & PLACE:
            yield whole_address(text, match.start(), match.end(), TOWN_AND_CODE, known)
    for match in code_first.finditer(text, first, past) if CODE_FIRST in opened else ():
        score = _code_first(text, match)
        if score:
            yield whole_address(text, match.start(), match.end(), score, known)


_NO_STATE = re.compile(r" (?:al|co|de|hi|id|in|la|ma|me|mi|mo|no|oh|ok|on|or|pa),? \d")
"""Small words that are states where they are capitals."""


def _town_start(match: re.Match[str]) -> int:
    """Without everyday words before the town: "From Leeds LS1 4AP"."""
    start = match.start(1)
    words = match.group(1).split(" ")
    while len(words) > 1 and lexicon().kinds(words[0]) & LexiconKind.COMMON and not lexicon().kinds(words[0]) & PLACE:
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
    if (first & LexiconKind.COMMON and not listed) or (
        A_YEAR.match(code) and not (placed and placed.group()[0] in ",\n")
    ):
        return 0.0
    if listed:
        return TOWN_AND_CODE if placed or len(code) > 4 else PERHAPS_A_TOWN
    return PERHAPS_A_TOWN if placed and len(code) > 4 and not first & (LexiconKind.PEOPLE | LexiconKind.TITLE) else 0.0
