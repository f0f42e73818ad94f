"""What belongs to an address before the street, and after it, on the same line or the next ones."""

from __future__ import annotations

import re

from shoal.text.lexicon.gazetteers import PLACE, LexiconKind, lexicon, sections_in
from shoal.text.spans import Span
from shoal.text.street_addresses.address_patterns import EMPTY, HEAD, STATES, AddressForms

BY = "addresses"
A_TAIL = 0.03
"""What each part of the tail adds."""
SUREST = 0.97
MOST_HEADS = 2
MOST_TAILS = 8
_AFTER_A_TOWN = frozenset(STATES.split()) | EMPTY
OPENERS = frozenset(sections_in("context")["openers"]) | {
    "along",
    "near",
    "between",
    "off",
    "into",
    "around",
    "outside",
}
"""Words that only open a sentence."""


def whole_address(text: str, start: int, end: int, score: float, known: AddressForms) -> Span:
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


def with_tail(text: str, end: int, known: AddressForms) -> tuple[int, int, bool]:
    """Where the last sure part ends, how many parts there are up to it, and whether one of them is a code."""
    sure, count, place, after_unit, coded, town = end, 0, end, False, False, False
    small = known.small
    for step in range(1, MOST_TAILS + 1):
        match = known.unit.match(text, place) or known.code.match(text, place)
        if match is not None:
            sure, count, after_unit = match.end(), step, match.re is known.unit
            coded = coded or not after_unit
        else:
            match = known.state.match(text, place) or known.town.match(text, place)
            if match is None:
                break
            named = match.re is known.town
            if named and small and (listed := _listed_end(match)):
                sure, count, place, town = listed, step, listed, True
                continue
            if small and _goes_back_to_the_sentence(match, named=named):
                break
            kinds = lexicon().kinds(match.group(1)) if named else 0
            if kinds & LexiconKind.COMMON or (named and match.group(1).split(" ")[0].lower() in OPENERS):
                break
            state = town and not named and match.group().strip(" ,\n") in _AFTER_A_TOWN
            if state or kinds & PLACE or (named and ((after_unit and not kinds) or (coded and not town))):
                sure, count, after_unit = match.end(), step, False
            elif named and _ends_line(text, match):
                sure, count = match.end(), step
            town = town or named
        place = match.end()
    return sure, count, coded


def _goes_back_to_the_sentence(match: re.Match[str], *, named: bool) -> bool:
    """In a text without capitals, where any word could be a town."""
    words = match.group().strip(" ,\n").split(" ")
    everyday = named and any(lexicon().kinds(word) & LexiconKind.COMMON for word in words)
    return words[0] in OPENERS or (named and (match.group()[0] == " " or everyday))


def _listed_end(match: re.Match[str]) -> int:
    """In a text without capitals: where the longest listed place at the beginning of the match ends, or 0."""
    words = match.group(1).split(" ")
    for count in range(len(words), 0, -1):
        value = " ".join(words[:count])
        if lexicon().kinds(value) & PLACE and not lexicon().kinds(value) & LexiconKind.COMMON:
            return match.start(1) + len(value)
    return 0


def _ends_line(text: str, match: re.Match[str]) -> bool:
    """A place on no list is believed after a comma or on a new line, where nothing follows it but a comma or a stop."""
    apart = match.group()[0] in ',\n"|;' or match.group()[:2] in (" ,", " \n", " |")
    after = text[match.end() : match.end() + 2].strip(" ")
    return apart and after in ("", "\n", ".", ".\n", ",", ",\n", "\n\n", "|", ";", '"', '",')
