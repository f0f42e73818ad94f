"""What the words around a capitalised word say: whether a place is spoken of, and how surely."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from shoal.text.lexicon.capitalised_runs import CapitalisedRun
from shoal.text.lexicon.gazetteers import NAME, LexiconKind, sections_in

_LISTS = sections_in("places")
_LOCATIVE = frozenset(sections_in("context")["before a place"])
_MOVING = frozenset(sections_in("context")["moving"])
_PLACE_NOUNS = frozenset(sections_in("context")["of places"])
_IN = frozenset(_LISTS["in"])
_STRONGLY_IN, _OF = frozenset(_LISTS["strongly in"]), frozenset(_LISTS["of"])
_IN_BEFORE_A_NAME = frozenset(_LISTS["in, even before a name"])
_LABELS = frozenset(f"{label}:" for label in _LISTS["labels"])
_LIVING, _GOING = frozenset(_LISTS["living"]), frozenset(_LISTS["going"])
_NOT_AFTER = frozenset(_LISTS["no place after in"])
BEFORE_NOUNS = frozenset(_LISTS["noun capitals"])
_BEEN = frozenset(
    ("been", "trains", "buses", "headed", "heading", "drive", "drives", "sail", "sailed", "sailing", "walked")
)
_ONWARD = frozenset(("on", "back", "over", "down", "up", "out"))
_PEOPLE = frozenset(
    ("man", "woman", "men", "women", "couple", "tourists", "visitors", "students", "someone", "boy", "girl")
)
_HANDED = frozenset(("transferred", "shipped", "ship", "shipping", "back", "welcome", "greetings", "way", "was", "is"))
"""What goes to somebody as well as to some place."""
_GOING_TO = frozenset(("to", "from", "nach", "à", "a", "naar"))
_AND = frozenset(("and", "or", "und", "et", "y", "e", "og"))
_WAYS = frozenset(
    ("road", "border", "distance", "train", "trains", "flight", "bus", "ferry", "highway", "route", "journey")
)
NONE, WEAK, STRONG, SURE = range(4)
"""How much the words before speak of a place."""


_IS_A_TOWN = re.compile(
    r",? (?:is|was) (?:an?|the|my|our|one of the) (?:[\w-]+ ){0,3}"
    r"(?:town|village|city|island|country|capital|hamlet|suburb)s?\b"
)


_OF_A_TOWN = re.compile(
    r"['’]s (?:[a-z]+ )?(?:mayor|population|streets?|residents|inhabitants|council|airport|suburbs|outskirts|harbour"
    r"|harbor|cathedral|old town|town hall|capital|economy|government|parliament|coast|border|police)\b"
)
""" "Ardgour's mayor"."""
_IS = (" is ", " was ", ", is ")


class LastPlace(NamedTuple):
    """The place found last: where it ends, and what spoke for it."""

    end: int
    cue: int


def cue_before(run: CapitalisedRun, first: int, seen: LastPlace) -> int:
    """What the words before a word of a run say."""
    inside = [word.key for word in run.words[max(0, first - 3) : first]]
    before = [*run.before, *inside][-3:] if len(inside) < 3 else inside
    if _said_behind(run, first):
        return SURE
    if not before:
        return NONE
    last, verb = before[-1], before[-2] if len(before) > 1 else ""
    if verb in _ONWARD and last in _GOING_TO and len(before) > 2:
        verb = before[-3]
    if verb in _NOT_AFTER:
        return NONE
    if (last in _LABELS and not first) or _lived_in(last, verb) or (last == "of" and verb in _OF):
        return SURE
    if _spoken_of(run, first, last, verb) or _goes_on(run, first, last, seen):
        return STRONG
    return WEAK if last in _MOVING or (first and last in ("of", "at")) else NONE


def _said_behind(run: CapitalisedRun, first: int) -> bool:
    """ "Ardgour is a town", "Ardgour's mayor"."""
    if not first and run.after.startswith(_IS) and _IS_A_TOWN.match(run.after):
        return True
    return run.after.startswith(("'s ", "’s ")) and bool(_OF_A_TOWN.match(run.after))


def _lived_in(last: str, verb: str) -> bool:
    """ "lives in", "moved to"."""
    if (last == "between" and verb in _WAYS) or (last == "is" and verb == "far"):
        return True
    if last in _IN or last in ("at", "from"):
        if last == "from" and verb in _PEOPLE:
            return True
        return verb in _LIVING or (last in _GOING_TO and verb in _GOING)
    return last in _GOING_TO and (verb in _GOING or verb in _BEEN)


def _spoken_of(run: CapitalisedRun, first: int, last: str, verb: str) -> bool:
    if last in _LOCATIVE or last in _PLACE_NOUNS or last in _STRONGLY_IN:
        return True
    if last in ("of", "at"):
        return verb in _PLACE_NOUNS or _part_of(run, first)
    if last == "the":
        return verb in _IN or verb in _LOCATIVE
    return last in ("to", "for") and ("from" in run.before or verb in _GOING)


def _part_of(run: CapitalisedRun, first: int) -> bool:
    """After "of" inside a run that is no office: "Diocese of Ely", not "Minister of Agriculture"."""
    office = LexiconKind.TITLE | LexiconKind.BODY | LexiconKind.OCCUPATION | LexiconKind.GENERIC
    noun = run.words[first - 2].kinds if first > 1 else office
    return not run.words[first - 1].is_cased and not noun & office and not (run.opens and noun == LexiconKind.COMMON)


def _goes_on(run: CapitalisedRun, first: int, last: str, seen: LastPlace) -> bool:
    """Joined to a place before it by a comma or "and"."""
    word = run.words[first]
    gap = word.start - seen.end
    if (gap == 2 and word.kinds & NAME) or (first and run.words[first - 1].is_cased):
        return False
    return seen.cue >= STRONG and (
        gap == 2 or (gap in (4, 5, 6) and last in ("and", "or", "und", "et", "y", "e", "og"))
    )


def to_somebody(run: CapitalisedRun, first: int, kinds: int) -> bool:
    """ "Transferred to Gilbert", "sat near Cora": a given name is somebody's there, unless the city is large."""
    if not kinds & LexiconKind.GIVEN or kinds & (LexiconKind.LARGE | LexiconKind.COUNTRY):
        return False
    before = (*run.before, *(word.key for word in run.words[max(0, first - BOTH) : first]))[-BOTH:]
    if len(before) < BOTH:
        return False
    return before[1] == "near" or (before[1] in ("to", "from", "for") and before[0] in _HANDED)


def at_a_branch(run: CapitalisedRun, first: int) -> bool:
    """ "Our branch at Freamunde": rather a place than a firm."""
    return not first and run.before[-1:] == ("at",) and run.before[-2:-1] in _BRANCHES


BOTH = 2
_BRANCHES = tuple(
    (word,) for word in ("branch", "branches", "office", "offices", "plant", "factory", "warehouse", "farm")
)


def dateline(run: CapitalisedRun) -> bool:
    """A place and a day alone open a line: "Stalhille, 4 May 2004"."""
    return run.opens and not run.before and bool(_A_DAY.match(run.after))


_A_DAY = re.compile(
    r", (?:the )?(?:\d{1,2}[ ./-]|\d{4}(?:\W|$)|(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february"
    r"|march|april|may \d|june|july|august|september|october|november|december)"
)


def beside_a_name(run: CapitalisedRun, previous: CapitalisedRun) -> bool:
    """One word on a line of its own with the full name before it: "Emilie Broberg, Kulusuk"."""
    return (
        len(run.words) == 1
        and run.start - previous.end == len(", ")
        and previous.opens
        and not previous.before
        and len(previous.words) > 1
        and not run.after.strip(" .,")
        and all(word.kinds & NAME or word.is_initial for word in previous.words)
    )


def after_in(run: CapitalisedRun, first: int) -> bool:
    """Whether it follows a word after which even a person's name is a place's."""
    return (run.words[first - 1].key if first else "".join(run.before[-1:])) in _IN_BEFORE_A_NAME


def said_in(run: CapitalisedRun, first: int) -> bool:
    last = run.words[first - 1].key if first else run.before[-1] if run.before else ""
    of_people = not first and last == "from" and len(run.before) > 1 and run.before[-2] in _PEOPLE
    return last in _IN or last in _LABELS or of_people


def all_nouns_have_capitals(runs: Sequence[CapitalisedRun]) -> bool:
    """A text in German, say, where a capital says little."""
    after_an_article = sum(bool(run.before) and run.before[-1] in BEFORE_NOUNS for run in runs)
    return after_an_article > 1 and 4 * after_an_article >= len(runs)
