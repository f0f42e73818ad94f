"""Where in a text an address can be at all: near a word of streets, near a number that a name stands beside.

All expressions for addresses together take long; most texts have few places that are worth it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

from shoal.text.lexicon.capitalised_runs import UPPER
from shoal.text.lexicon.gazetteers import sections_in

if TYPE_CHECKING:
    from ahocorasick_rs import AhoCorasick

StreetHint = tuple[int, int]
"""Where a word of streets, a unit or a cue stands."""


def hints(text: str) -> list[StreetHint]:
    """What opens a quotation, a bracket or a line stands for the space before a word of streets."""
    spaced = f" {text}"
    for sign in _OPENING_SIGNS:
        spaced = spaced.replace(sign, " ")
    return [(max(0, start - 1), end - 1) for _, start, end in _automaton().find_matches_as_indexes(spaced)]


_OPENING_SIGNS = '\n"(“„«\t;|'


def windows(text: str, hints: list[StreetHint]) -> list[tuple[int, int]]:
    """Where an address can be at all: around a word of streets with a digit near it, near numbers, and short lines."""
    windows: list[tuple[int, int]] = []
    rare = rare_words()
    ends = [end for start, end in hints if not text[end : end + 1].islower() and text[start:end] not in rare]
    for near in sorted([*ends, *_near_numbers(text)]):
        if windows and near + AFTER <= windows[-1][1] + AFTER // 2:
            continue
        if _DIGIT.search(text, max(0, near - BEFORE), near + BEFORE) or text.endswith(_NO_DIGIT, 0, near):
            first = _back_to_a_gap(text, near - BEFORE)
            if windows and first < windows[-1][1]:
                windows[-1] = windows[-1][0], near + AFTER
            else:
                windows.append((first, near + AFTER))
    return windows


def small_windows(text: str) -> list[tuple[int, int]]:
    """Where an address can be in a text that has no capitals: around its numbers, and corners."""
    windows: list[tuple[int, int]] = []
    for match in _IN_SMALL.finditer(text):
        first, past = _back_to_a_gap(text, match.start() - BEFORE), match.end() + AFTER
        if windows and first < windows[-1][1]:
            windows[-1] = windows[-1][0], past
        else:
            windows.append((first, past))
    return windows


BEFORE, AFTER = 60, 120
_IN_SMALL = re.compile(r"\d+|corner of")
_DIGIT = re.compile(r"\d")
_NO_CAPITAL = frozenset(("avenue", "boulevard", "prospekt"))
"""Openings that in English come behind the name."""
_OPENINGS = sections_in("streets")["openings in small letters"]
_NO_DIGIT = (
    "corner of",
    *(f" {word}" for word in _OPENINGS),
    *(f" {word.capitalize()}" for word in _OPENINGS if word not in _NO_CAPITAL),
)
HYPHENED = tuple(f"-{word}" for word in ("Straße", "Strasse", "Weg", "Platz", "Allee", "Gasse", "Ring", "Ufer", "Damm"))
"""Behind names with hyphens between."""
_DIGITS = re.compile(r"\d\d*")
_SHORT_LINE = re.compile(r"(?m)^(?=[^\n]{0,20}\d)[^\n]{3,70}$")
_DATED = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?"
    r"|Nov(?:ember)?|Dec(?:ember)?|Articles?|Sections?|Rules?|Act|Nos?|Protocol)\b"
)
_NAME_AFTER = re.compile(rf" (?!{_DATED})[{UPPER}]")
IS_DATED = re.compile(_DATED)
_HALF = re.compile(r"\d? ?\d?[A-Z]{2}(?!\w)")
LONGEST_NUMBER = 6


def _near_numbers(text: str) -> Iterator[int]:
    """Numbers beside a capitalised word, in a code with letters, or in a short line."""
    for match in _SHORT_LINE.finditer(text):
        yield match.start()
    for match in _DIGITS.finditer(text):
        start, end = match.span()
        if end - start > LONGEST_NUMBER:
            continue
        before = text[start - 1 : start]
        if (
            (before not in _JOINED and not before.isalnum() and _NAME_AFTER.match(text, end))
            or (before in " -" and _name_before(text, start))
            or (before.isupper() and _HALF.match(text, end))
            or (end - start == ZIP and text[max(0, start - 3) : start - 1].isupper())
        ):
            yield start


def _name_before(text: str, start: int) -> bool:
    words = text[max(0, start - 24) : start - 1].rstrip(" -").rsplit(None, 1)
    word = words[-1].strip('.,("“') if words else ""
    return len(word) > 2 and word[0].isupper() and not IS_DATED.match(word)


_JOINED = frozenset(".,/-_")
ZIP = 5


def _back_to_a_gap(text: str, place: int) -> int:
    """The beginning of the word that a place is in."""
    return max(0, text.rfind(" ", 0, max(0, place)) + 1) if place > 0 else 0


@cache
def _automaton() -> AhoCorasick:
    from ahocorasick_rs import AhoCorasick, Implementation, MatchKind

    streets = sections_in("streets")
    sections = ("words", "openings", "openings in small letters", "following", "alone", "after on")
    words = {f" {word}" for section in sections for word in streets[section]} - (
        rare_words() - {f" {word}" for word in alone()}
    )
    units = (
        *("Apt", "Apartment", "Suite", "Unit", "Flat", "Floor", "Room", "Block", "Blk", "BLK", "Bldg", "Plot", "House"),
        *("Door", "PSC", "Box", "BOX", "box", "Postfach", "Private Bag", "Postbus", "Apartado"),
    )
    cues = ["address", "Address", "lives at", "lives on", "live at", "located at", "is at", "meet at"]
    endings = [ending for ending in streets["endings"] if len(ending) > 2]
    return AhoCorasick(
        [*words, *HYPHENED, *units, *cues, *endings, "corner of", " street", " tee ", "P.O"],
        matchkind=MatchKind.LeftmostLongest,
        implementation=Implementation.DFA,
    )


@cache
def rare_words() -> frozenset[str]:
    """Words of streets that other texts are full of: one of them alone makes no window."""
    return frozenset(f" {word}" for word in sections_in("context")["rarely streets"])


@cache
def alone() -> dict[str, str]:
    """Words of streets that need no number, and the section that says after what."""
    streets = sections_in("streets")
    return {
        word: section
        for section in ("after on", "after in, unless everyday", "after in", "alone")
        for word in streets[section]
    }
