"""Street addresses: number and street in the order of many countries, boxes, units, and the tail with town and code.

A core is found first: "12 High Street", "Rue de Rivoli 5", "Hauptstraße 12", "Blk 123 Ang Mo Kio Ave 3", "P.O. Box 7".
It is carried on over what follows, on the same line or the next ones, up to the last part that is sure: a flat, a
postal code, a known place. Such an address holds its town and its code; they are not reported again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

from shoal.text.gazetteers import PLACE, Kind, folded, lexicon, sections_in
from shoal.text.reading import LETTER, UPPER
from shoal.text.spans import Span

if TYPE_CHECKING:
    from ahocorasick_rs import AhoCorasick

BY = "addresses"
STREET = 0.9
BOX = 0.85
LOOSE = 0.6
"""A name and a number, which only the words before or what follows make an address."""
CUED = 0.2
"""What words before it that speak of an address add."""
A_TAIL = 0.03
"""What each part of the tail adds."""
MOST_TAILS = 8


def _any(section: str) -> str:
    return "|".join(sorted({re.escape(word) for word in sections_in("streets")[section]}, key=len, reverse=True))


_NUMBER = r"(?:(?:No\.? ?|#|№ ?)?\d{1,6}(?:[/-]\d{1,5})*[A-Za-z]?(?!\w)(?:[./-]\d+)?)"
_NUMBERS = rf"(?<![\w.,]){_NUMBER}(?: {_NUMBER})?,? "
_NAME = rf"(?:[{UPPER}](?:{LETTER}|['’.\-])*|\d{{1,3}}(?:st|nd|rd|th))"
_LINK = r"(?:(?:de|la|le|les|du|des|del|da|do|di|e|y|von|van|der|den|of|the|el|al) ){0,3}"
_NAMES = rf"{_NAME}(?: {_LINK}{_NAME}){{0,3}}"
_SIDE = r"(?: (?:North|South|East|West|N|S|E|W|NE|NW|SE|SW)(?!\w)\.?)?"
_STREET_WORD = rf"(?:{_any('words')})(?!\w)\.?{_SIDE}"
_OPENING = rf"(?:{_any('openings')})"
_ENDING = rf"[{UPPER}]{LETTER}+(?:{_any('endings')})"
_UNIT = (
    r"(?:(?:Apt|Apartment|Suite|Ste|Unit|Flat|Floor|Fl|Room|Rm|Box|Level|Block|Blk|Building|Bldg"
    r"|Tower|Wing|Plot|House|Door"
    r"|Top|Stiege|Wohnung|Appartement|Piso|Planta|Étage|PSC)\.?(?: No\.?)? ?#?\d+[\w/-]*|#\d{1,3}-\d{1,4}[A-Z]?)"
)
_CORNER = rf"(?:{_NUMBER} )?(?:{_LINK}{_NAME} ?|\d+\.? ?){{1,5}}"

_CORES = (
    (rf"(?:{_NUMBERS}(?:{_NAME}[ ,]{{1,2}}{_LINK}){{1,4}}|{_NUMBERS}){_STREET_WORD}(?: {_NUMBER})?", STREET),
    (rf"(?:{_NUMBERS})?(?<!\w)(?:bis |ter )?(?:{_OPENING}) {_LINK}{_NAMES}(?:,? {_NUMBER})", STREET),
    (rf"{_NUMBERS}(?i:{_OPENING}) {_LINK}{_NAMES}", STREET),
    (rf"{_NUMBERS}(?i:{_OPENING}) {LETTER}{{3,}}(?: St\.)?", STREET - 0.1),
    (rf"(?:{_NUMBERS})?(?<!\w)(?:{_NAME} ){{0,2}}{_ENDING} {_NUMBER}", STREET),
    (
        r"\b(?i:p\.? ?o\.? ?box|post ?box|postfach|boîte postale|apartado|caixa postal|postboks"
        r"|casella postale|private bag)"
        r" ?(?:no\.? ?)?\d{1,7}",
        BOX,
    ),
    (r"\b(?:Unit|PSC|CMR) \d{3,5},? Box \d{1,5}", BOX),
    (r"\b(?:USNS|USCGC|USS|USNV) [A-Z]\w+(?=,? ?\n?(?:FPO|APO|DPO))", BOX),
    (rf"\b(?:Blk|Block|BLK) ?\d{{1,4}}[A-Z]?,? {_NAME}(?: (?:{_NAME}|\d{{1,3}})){{0,5}}", STREET),
    (
        r"\b(?:H\.? ?No|House No|Door No|D\.? ?No|Plot No|Flat No|Flat|Plot|Survey No|Shop No|Khasra No)\.? ?[:#-]? ?"
        rf"[\w/-]{{0,9}}\d[\w/-]{{0,9}}(?:, ?(?:{_NAME}|\d\w*)(?: (?:{_NAME}|\d\w*)){{0,4}}){{1,5}}",
        STREET,
    ),
    (rf"(?:{_NUMBERS})?(?<!\w){_NAMES}\.? {_NUMBER}\.?(?=[ ,]*\n? *{_UNIT})", LOOSE + 0.2),
    (rf"{_NUMBERS}(?:{_NAME}[ ,]{{1,2}}){{1,4}}{_UNIT}", LOOSE + 0.2),
    (rf"\b(?:the )?(?i:corner) of {_CORNER}and {_CORNER}", STREET),
    (
        rf"(?<!\w){_NAME} (?:{_NAME} ){{0,2}}(?:Street|Road|Avenue|Lane|Boulevard|Drive|Highway|Marg"
        rf"|Nagar|Salai)(?!\w)",
        STREET,
    ),
    (rf"(?<=[a-z,] ){_NAME} (?:{_NAME} ){{0,2}}(?:{_any('words')})(?=[\s,.;])(?!\. ?[a-z])", LOOSE),
)
_NAME_AND_NUMBER = rf"(?:{_NUMBERS})?(?<!\w){_NAMES}\.? {_NUMBER}|{_NUMBERS}{_NAMES}"
_CUE = re.compile(
    r"(?:address(?:es)?(?: is| with|:|,| are:)?|lives? (?:at|on|in)|is at|located at|office at"
    r"|meet (?:me|you|us) at|meet at"
    r"|sent? (?:it |this )?to|deliver(?:ed|y)? to|return to|residing at"
    r"|resident of|shipped to|come to|go to|it'?s in|it is)[ \n:]*$",
    re.IGNORECASE,
)
_PERHAPS = re.compile(r"(?:\b(?:and|at|to|on|near|from|in|of|with|is)|:)[ \n]*$|(?:^|\n)[ ?•*>|-]{0,4}$")
_GAP = (
    r"(?:[ ]?,[ \n]{1,3}|[ ]?[,.]?\n{1,2}[ ]*(?:[?•*>|-]{1,3} )?,?[ \n]{0,2}|[ ]{1,2}"
    r"|[ ]?[-–][ ]?|\. (?=Apt|Suite|Unit|Flat))"
)
_CODE = (
    r"(?:[A-Z]{1,2}[ -])?(?:\d{5}(?:-\d{4})?|\d{3} ?\d{3}|\d{3} \d{2}|\d{4}(?: ?[A-Z]{2})?"
    r"|\d{2}-\d{3}|\d{3}(?= [A-Z]|\Z)"
    r"|[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}|[A-Z]\d[A-Z] ?\d[A-Z]\d)(?!\w|[.:/]\d)"
)
_PLACE_NAME = (
    rf"((?:St\.? )?[{UPPER}](?:{LETTER}|['’∆\-])*(?!\d)"
    rf"(?:[ -]{_LINK}[{UPPER}](?:{LETTER}|['’∆\-])*(?!\w)){{0,3}})(?!\w)(?: \([{UPPER}]{LETTER}+\))?"
)


@cache
def _compiled(
    *, small: bool
) -> tuple[tuple[tuple[re.Pattern[str], float], ...], re.Pattern[str], tuple[re.Pattern[str], ...]]:
    """Cores, the loose form and the parts of a tail; ``small`` for texts that have no capitals."""
    flags = re.IGNORECASE if small else re.NOFLAG
    cores = tuple((re.compile(pattern, flags), score) for pattern, score in _CORES)
    tails = (re.compile(_GAP + _UNIT, re.IGNORECASE), re.compile(_GAP + r"(?:[A-Z]{1,3}[ ,\n]{1,3})?" + _CODE, flags))
    further = re.compile(_GAP + r"[A-Z]{2,3}(?!\w)", flags), re.compile(_GAP + _PLACE_NAME, flags)
    return cores, re.compile(_NAME_AND_NUMBER, flags), (*tails, *further)


def addresses(text: str) -> Iterator[Span]:
    small = text.islower()
    cores, loose, tails = _compiled(small=small)
    for first, past in [(0, len(text))] if small else _windows(text):
        for pattern, score in cores:
            for match in pattern.finditer(text, first, past):
                if score > LOOSE or _unlisted(match.group()):
                    end, count = _with_tail(text, match.end(), tails)
                    yield Span(match.start(), end, "address", min(0.97, score + A_TAIL * count), BY)
        for match in loose.finditer(text, first, past):
            if _unlisted(match.group()):
                end, count = _with_tail(text, match.end(), tails)
                before = text[max(0, match.start() - 24) : match.start()]
                cued = bool(_CUE.search(before))
                if cued or count > 1 or (count and match.group()[0].isdigit()) or _PERHAPS.search(before):
                    yield Span(match.start(), end, "address", LOOSE + CUED * cued + A_TAIL * count, BY)


def _windows(text: str) -> list[tuple[int, int]]:
    """Where an address can be at all: around a word of streets with a digit near it, and short lines."""
    windows: list[tuple[int, int]] = []
    ends = [end for _, start, end in _hints().find_matches_as_indexes(text) if not text[end : end + 1].islower()]
    for near in sorted([*ends, *(match.start() for match in _SHORT_LINE.finditer(text))]):
        if windows and near + AFTER <= windows[-1][1] + AFTER // 2:
            continue
        if _DIGIT.search(text, max(0, near - BEFORE), near + BEFORE) or text.endswith("corner of", 0, near):
            first = _back_to_a_gap(text, near - BEFORE)
            if windows and first < windows[-1][1]:
                windows[-1] = windows[-1][0], near + AFTER
            else:
                windows.append((first, near + AFTER))
    return windows


BEFORE, AFTER = 60, 120
_DIGIT = re.compile(r"\d")
_MONTHS = "Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec|Article|Section|Rule|Act|No"
_SHORT_LINE = re.compile(
    r"(?m)^(?=[^\n]{0,20}\d)[^\n]{3,70}$"
    rf"|(?<![\w.,/-])\d{{1,6}} (?!{_MONTHS})[{UPPER}]"
    rf"|(?<!\w)(?!{_MONTHS})[{UPPER}]{LETTER}{{3,}}\.? \d{{1,4}}(?!\d)"
)


def _back_to_a_gap(text: str, place: int) -> int:
    """The beginning of the word that a place is in."""
    return max(0, text.rfind(" ", 0, max(0, place)) + 1) if place > 0 else 0


@cache
def _hints() -> AhoCorasick:
    from ahocorasick_rs import AhoCorasick, MatchKind

    streets = sections_in("streets")
    words = {f" {word}" for section in ("words", "openings") for word in streets[section] if word not in _RARE}
    units = (
        *("Apt", "Apartment", "Suite", "Unit", "Flat", "Floor", "Room", "Block", "Blk", "BLK", "Bldg", "Plot", "House"),
        *("Door", "PSC", "Box", "BOX", "box", "Postfach"),
    )
    cues = ["address", "Address", "lives at", "lives on", "live at", "located at", "is at", "meet at"]
    endings = [ending for ending in streets["endings"] if len(ending) > 2]
    return AhoCorasick(
        [*words, *units, *cues, *endings, "corner of", " street", "P.O"], matchkind=MatchKind.LeftmostLongest
    )


_RARE = frozenset(sections_in("context")["rarely streets"])
"""Words of streets that other texts are full of: one of them alone makes no window."""


def _unlisted(value: str) -> bool:
    """No word of it is an everyday one, a people or a title: "12 May 1994" and "Article 5" are no addresses."""
    entries = lexicon().entries
    never = Kind.COMMON | Kind.PEOPLE | Kind.TITLE
    return not any(entries.get(folded(word).strip("."), 0) & never for word in re.findall(r"[^\W\d_]{2,}", value))


def _with_tail(text: str, end: int, tails: tuple[re.Pattern[str], ...]) -> tuple[int, int]:
    """Where the last sure part ends, and how many parts there are up to it."""
    unit, code, state, name = tails
    sure, count, place, after_unit = end, 0, end, False
    for step in range(1, MOST_TAILS + 1):
        match = unit.match(text, place) or code.match(text, place)
        if match is not None:
            sure, count, after_unit = match.end(), step, match.re is unit
        else:
            match = state.match(text, place) or name.match(text, place)
            if match is None:
                break
            kinds = lexicon().kinds(match.group(1)) if match.re is name else 0
            if kinds & Kind.COMMON:
                break
            if kinds & PLACE or (after_unit and match.re is name and not kinds):
                sure, count, after_unit = match.end(), step, False
            elif match.re is name and _ends_line(text, match):
                sure, count = match.end(), step
        place = match.end()
    return sure, count


def _ends_line(text: str, match: re.Match[str]) -> bool:
    """A place on no list is believed after a comma or on a new line, where nothing follows it but a comma or a stop."""
    apart = match.group()[0] in ",\n" or match.group()[:2] in (" ,", " \n")
    return apart and text[match.end() : match.end() + 2].strip(" ") in ("", "\n", ".", ".\n", ",", ",\n", "\n\n")
