"""Streets without a number: "on Cedar Lane", "in Larch Close"."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from shoal.text.lazy_patterns import lazy_pattern
from shoal.text.lexicon.capitalised_runs import UPPER
from shoal.text.lexicon.gazetteers import NAME, PLACE, SIZES, LexiconKind, folded, lexicon, sections_in
from shoal.text.spans import Span
from shoal.text.street_addresses.address_parts import OPENERS, STREET, AddressForms, whole_address
from shoal.text.street_addresses.candidate_windows import HYPHENED, StreetHint, alone

_ON = frozenset(("on", "along", "onto", "off", "down", "up", "across"))
_IN = frozenset(("in", "at", "from", "near", "to", "of", "and", "between", "into", "around", "behind", "opposite"))
_PASSING = frozenset(("in", "into", "cross", "pass", "past", "to", "towards", "of", "at", "from", "between"))
MOST_NAMES = 3


def streets_alone(text: str, found: list[StreetHint], known: AddressForms) -> Iterator[Span]:
    words, endings = alone(), _endings()
    for start, end in found:
        if _PART_OF_A_WORD.match(text, end):
            continue
        if text[start:end] in endings:
            yield from _in_one_word(text, start, end, known)
            continue
        word = text[start + 1 : end]
        way = words.get(word) or ("rarely" if word in _rarer() else None)
        if way is None or text[start] != " ":
            continue
        before = _APART.split(text[max(0, start - 48) : start])[-1].split(" ")
        count = _names_at_the_end(before)
        if way == "rarely" and count and _is_a_person(before[-count], word):
            continue
        if count and _leads(before, count, way):
            length = sum(map(len, before[-count:])) + count - 1
            yield whole_address(text, start - length, end, STREET, known)


def _is_a_person(first: str, last: str) -> bool:
    """ "William Ford"."""
    return bool(lexicon().kinds(first) & LexiconKind.GIVEN and lexicon().kinds(last) & NAME)


def _in_one_word(text: str, start: int, end: int, known: AddressForms) -> Iterator[Span]:
    """ "Lindenstraße", "Elsa-Brand-Weg": a sure ending, or any after "on"."""
    first = _BACK.search(text, max(0, start - 32), start)
    if first is None or lexicon().kinds(text[first.start() : end]):
        return
    last = _LAST_WORD.search(text, max(0, first.start() - 12), first.start())
    if text[start:end] in _SURE or (last is not None and last[1].lower() in _ON):
        yield whole_address(text, first.start(), end, STREET - 0.1, known)


_BACK = lazy_pattern(
    rf"(?<![\w-])(?:[{UPPER}][^\W\d_]+-)*[{UPPER}][^\W\d_]{{2,}}$|(?<![\w-])[{UPPER}][^\W\d_]+(?:-[{UPPER}][^\W\d_]+)*$"
)
_LAST_WORD = lazy_pattern(r"([^\W\d_]+) $")
_SURE = frozenset(
    (
        "straße",
        "strasse",
        "gasse",
        "straat",
        "gracht",
        "gatan",
        "vägen",
        "gränd",
        "stræde",
        "katu",
        "tänav",
        "utca",
        "vej",
    )
) | frozenset(HYPHENED)


@cache
def _endings() -> frozenset[str]:
    return frozenset(ending for ending in sections_in("streets")["endings"] if len(ending) > 2) | frozenset(HYPHENED)


@cache
def _rarer() -> frozenset[str]:
    """Other words of streets, "Isle", "Forges": after "on" mostly."""
    words = (word for word in sections_in("streets")["words"] if len(word) > 3 and word[0].isupper())
    return frozenset(word for word in words if not lexicon().kinds(word) & _OTHERS) - alone().keys()


_OTHERS = (
    LexiconKind.BODY
    | LexiconKind.FORM
    | LexiconKind.OCCUPATION
    | LexiconKind.TITLE
    | LexiconKind.GENERIC
    | LexiconKind.PEOPLE
)
_OWN = NAME | PLACE | SIZES


def _names_at_the_end(words: list[str]) -> int:
    """How many words at the end belong to the name of a street, without "On" or "The" that only open the sentence."""
    count = 0
    for word in reversed(words[-MOST_NAMES:]):
        if not (word[:1].isupper() or _ORDINAL.match(word)) or word[-1] in ",;:!?)" or folded(word) in OPENERS:
            break
        count += 1
    if count and lexicon().kinds(" ".join(words[-count:])) & (LexiconKind.PEOPLE | LexiconKind.GENERIC):
        return 0
    return count


_PART_OF_A_WORD = lazy_pattern(r"\w|[-'’][^\W\d_]{2}")
_APART = lazy_pattern(r"[\n(\"“‘«\[]")
_ORDINAL = lazy_pattern(r"\d{1,3}(?:st|nd|rd|th)$")


def _leads(before: list[str], count: int, way: str) -> bool:
    """Whether the word before the name fits the street: "on Larch Court", "in Larch Close"."""
    last = before[-count - 1].lower() if len(before) > count else ""
    if way == "rarely":
        kinds = [lexicon().kinds(word.rstrip(".")) for word in before[-count:]]
        return not any(kind & ~_OWN for kind in kinds) and (last in _ON or last in _PASSING)
    if way == "alone" or last in _ON:
        return True
    everyday = any(lexicon().kinds(word) & LexiconKind.COMMON for word in before[-count:])
    return last in _IN and (way == "after in" or (way != "after on" and not everyday))
