"""How the parts of an address are written: numbers, streets by country, units, codes, towns, words that introduce one.

And how far one reaches: what belongs to it before the street, and after it, on the same line or the next ones.
``finder`` puts the parts together.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

from shoal.text.lazy_patterns import lazy_pattern
from shoal.text.lexicon.capitalised_runs import LETTER, UPPER, plain_form
from shoal.text.lexicon.gazetteers import PLACE, LexiconKind, lexicon, sections_in
from shoal.text.spans import Span

STREET = 0.9
BOX = 0.85
LOOSE = 0.6
"""A name and a number, which only the words before or what follows make an address."""


def _any(section: str) -> str:
    return "|".join(sorted({re.escape(word) for word in sections_in("streets")[section]}, key=len, reverse=True))


_NUMBER = (
    r"(?:(?:No\.? ?|Nr\.? ?|[nN][°º]\.? ?|#|№ ?)?\d{1,6}(?:[/-](?:\d{1,5}|[A-Z](?!\w)))*[A-Za-z]?(?![\w%°])(?!-[a-z])"
    r"(?:[./-]\d+)?(?![./-]?\d))"
)
_NUMBERS = rf"(?<![\w.,])(?<!\d:){_NUMBER}(?: {_NUMBER})?,? "
_NAME = rf"(?:[{UPPER}](?:{LETTER}|['’\-]|(?<!{LETTER}{{5}})\.)*|\d{{1,3}}(?:st|nd|rd|th))"
_LINK = (
    r"(?:(?:(?:de|la|le|les|du|des|del|da|do|dos|das|di|dei|degli|della|e|y|von|van|der|den|zu|zur|of|the|el|al|sur"
    r"|aux) ){0,3}(?:[dl]['’])?)"
)
_NAMES = rf"{_NAME}(?: {_LINK}{_NAME}){{0,3}}"
_SIDE = r"(?: (?:North|South|East|West|N|S|E|W|NE|NW|SE|SW)(?!\w)\.?)?"
_CAPITALS = "|".join(word.upper() for word in sections_in("streets")["in capitals"])
_STREET_WORD = rf"(?:{_any('words')}|{_CAPITALS})(?!\w)\.?{_SIDE}"
_OPENING = rf"(?:{_any('openings')})"
_SMALL_OPENING = rf"(?:{_any('openings in small letters')})"
_ENDING_CAPITALS = "STRASSE|STRAßE|STR\\.|WEG|PLATZ|ALLEE|GASSE|STRAAT|LAAN|GATAN|VÄGEN|VEJ|VEIEN|KATU"
_ENDING = rf"(?:[{UPPER}]{LETTER}+-){{0,3}}[{UPPER}]{LETTER}*(?:{_any('endings')}|{_ENDING_CAPITALS})"
_UNITS = (
    "Apt|Apartment|Appt|Suite|Ste|Unit|Flat|Floor|Fl|Room|Rm|Studio|Box|Level|Block|Blk|Building|Bldg"
    "|Tower|Wing|Plot|House|Door|Top|Stiege|Wohnung|Whg|Appartement|Edif|Depto|Interior|Piso|Planta|Piano|Appartamento"
    "|Étage|Bât|кв|корп|д|дом|lok|PSC"
)
UNIT = rf"(?:(?:{_UNITS})\.?(?: No\.?)? ?#?\d+[\w/-]*|#\d{{1,3}}-\d{{1,4}}[A-Z]?|#\d{{1,4}}(?!\w)|Bus \d+)"
_CORNER = rf"(?:{_NUMBER} )?(?:{_LINK}{_NAME} ?|\d+\.? ?){{1,5}}"
_NO_GERMAN_STREET = (
    r"(?:Jahre?|Jänner|Januar|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember|Alter|Artikel|Abs"
    r"|Montag|Dienstag|Mittwoch|Donnerstag|Freitag|Samstag|Sonnabend|Sonntag|Kapitel|Fall|Anhang|Raum|Zimmer|Gruppe|Band"
    r"|Sommer|Winter|Frühjahr|Herbst|Ende|Anfang|Tag|Zeitraum|Durchschnitt|Schnitt|Wert|Spiel|Seite|Tabelle|Punkt|Wesentlichen)"
)
"""What a number follows in German that is no street: "Im Jahr 1999", "Am Montag 12"."""
_INDIAN = r"(?:Main|Cross|Block|Phase|Stage|Floor|Street|Road|Lane)"

CODE = (
    r"(?:[A-Z]{1,2}[ -])?(?:\d{5}-\d{3,4}|\d{8}(?= [A-Z])|\d{5}|\d{4}-\d{3}|\d{3} ?\d{3}|\d{3} \d{2}"
    r"|\d{4}(?: ?[A-Z]{2}(?![A-Za-z]))?|\d{2}-\d{3}|\d{3}(?= [A-Z]|\Z)"
    r"|[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}|[A-Z]\d[A-Z] ?\d[A-Z]\d)(?!\w|[ .:/-]\d)"
)
BRITISH = r"(?:[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}|[A-Z]\d[A-Z] ?\d[A-Z]\d)(?!\w)"
STATES = (
    "AL AK AZ AR CA CO CT DE DC FL GA HI ID IL IN IA KS KY LA ME MD MA MI MN MS MO MT NE NV NH NJ NM NY NC ND OH OK OR "
    "PA RI SC SD TN TX UT VT VA WA WV WI WY PR AB BC MB NB NL NS ON PE QC SK YT NSW VIC QLD TAS ACT NT"
)
_EMPTY = "nan|null|none|NULL|None|n/a|N/A"
"""How programs write that a field of an address was empty."""
EMPTY = frozenset(_EMPTY.split("|"))
_STATE = rf"(?:{'|'.join(STATES.split())})"
_AMONG = (
    r"(?:(?:de|la|le|les|du|des|del|da|do|dos|di|dei|della|y|von|van|der|den|of|the|el|al|nad|pod|aan|op|am|an|upon|on"
    r"|sur|sous|bei|im|ob|in|vor|u|'t) ){0,2}(?:[dl]['’])?"
)
_TOWN_WORD = rf"[{UPPER}](?:{LETTER}|['’∆\-]){{0,30}}(?![\w])"
TOWN = rf"((?:St\.? )?{_TOWN_WORD}(?:[ -]{_AMONG}{_TOWN_WORD}){{0,3}})(?: \([{UPPER}]{LETTER}+\))?"
GAP = (
    r"(?:[ ]?,[ \n]{1,3}|[ ]?[,.]?\n{1,2}[ ]*(?:[?•*>|-]{1,3} )?,?[ \n]{0,2}|[ ]{1,2}"
    r"|[ ]?[-–/|;][ ]?|\"[,;][ ]?\"|\. (?=Apt|Suite|Unit|Flat))"
)

OPENED, ENDED, FOLLOWED, WITH_UNIT, TOWN_FIRST, LONG_CODE, GERMAN = range(7)
WITH_WORD, BOXED, ON_BOARD, IN_BLOCK, HOUSE_NUMBERED, ORDINAL, CORNERED, FINNISH, CODE_FIRST, SLAVIC = range(7, 17)
"""What a stretch of text has to hold for a form to be looked for there; see ``GATES``. One sign or a set of signs comes
first where it can, so that others are skipped quickly."""
GATES = {
    OPENED: lazy_pattern(rf"(?<![^\s(\d\"“|;])(?:{_OPENING}|{_SMALL_OPENING}|{_OPENING.upper()}) "),
    ENDED: lazy_pattern(rf"(?:{_any('endings')}|{_ENDING_CAPITALS}),? (?:[Nn#№][^\d\n]{{0,4}})?\d"),
    FOLLOWED: lazy_pattern(rf"[ -](?:{_any('following')}|gate|tee)\.?,? (?:[Nn#№][^\d\n]{{0,4}})?\d"),
    WITH_UNIT: lazy_pattern(rf"(?:(?:{_UNITS}|Bus|CMR|apt)\.?(?: [Nn]o\.?)? ?#?|#)\d"),
    TOWN_FIRST: lazy_pattern(
        r"\d(?:[A-Z]{2}(?!\w)|(?<=[A-Z]\d)[A-Z] ?\d"
        r"|(?:(?<=[A-Z] \d)|(?<=[A-Z][.,] \d)|(?<=[A-Z]\., \d))\d{3})"
    ),
    GERMAN: lazy_pattern(r"[AHIUZ](?<!\w.)(?:m|n de|um|ur|uf de|inter de|nter den) [^\d\n]{2,40} \d"),
    LONG_CODE: lazy_pattern(r"\d(?:\d{5}|\d\d \d{3})"),
    BOXED: lazy_pattern(r"[bB](?i:ox|ag|p)|[pP](?i:ost)|[aA](?i:partado)"),
    ON_BOARD: lazy_pattern(r"US(?:N|C|S)"),
    IN_BLOCK: lazy_pattern(r"Bl(?:oc)?k|BLK"),
    HOUSE_NUMBERED: lazy_pattern(r"No|Flat|Plot"),
    ORDINAL: lazy_pattern(r"\d(?:st|nd|rd|th) [MCBPSFRL]"),
    CORNERED: lazy_pattern(r"(?i:corner) of"),
    FINNISH: lazy_pattern(r" (?:tee|tie|gate|g\.) "),
    CODE_FIRST: lazy_pattern(r"\d(?:\d{3}(?:\d?(?:-\d{3})?| [A-Z]{2})|\d\d \d{2}|\d-\d{3}),? [^a-z\d\s]"),
}
ALL_GATES = frozenset((*GATES, WITH_WORD, SLAVIC))
"""Beside these, ``WITH_WORD`` stands for a word of streets, ``SLAVIC`` for some of those that open one."""
_SLAVIC = frozenset(("Ulica", "Trg", "Cesta", "Pot", "Pod"))
_A_WORD = re.compile(r"[^\W\d_]+")


@cache
def _last_words() -> frozenset[str]:
    words = sections_in("streets")["words"]
    return frozenset((*(word.split(" ")[-1] for word in words), *_CAPITALS.split("|")))


@cache
def _words_needed() -> dict[int, frozenset[str]]:
    """Words of which a stretch has to hold one for a gate to be open; to look for words is quicker than for gates."""
    streets = sections_in("streets")
    openings = (*streets["openings"], *streets["openings in small letters"], *map(str.upper, streets["openings"]))
    return {
        OPENED: frozenset(word[0] for opening in openings if (word := _A_WORD.search(opening))),
        GERMAN: frozenset(first + rest for first in "AHIUZ" for rest in ("m", "n", "um", "ur", "uf", "inter", "nter")),
        WITH_UNIT: frozenset((*_UNITS.split("|"), "Bus", "CMR", "apt")),
    }


@cache
def _last_letters() -> tuple[str, ...]:
    """What words end with before the number of an ending of streets."""
    endings = (*sections_in("streets")["endings"], *_ENDING_CAPITALS.split("|"))
    return tuple({_A_WORD.findall(ending)[-1] for ending in endings})


@cache
def _last_two() -> frozenset[str]:
    """What those end with: to look two letters up is quicker than to compare all endings."""
    return frozenset(letters[-2:] for letters in _last_letters())


def opened_gates(text: str, first: int, past: int) -> set[int]:
    """For which forms a stretch of text holds what they need. It begins with a word."""
    words = set(_A_WORD.findall(text, first, past))
    shut = {gate for gate, needed in _words_needed().items() if needed.isdisjoint(words)}
    if WITH_UNIT in shut and text.find("#", first, past) >= 0:
        shut.remove(WITH_UNIT)
    if _last_two().isdisjoint([word[-2:] for word in words]) or not _has_an_ending(words):
        shut.add(ENDED)
    opened = {gate for gate, holds in GATES.items() if gate not in shut and holds.search(text, first, past)}
    if not _last_words().isdisjoint(words):
        opened.add(WITH_WORD)
    if OPENED in opened and not _SLAVIC.isdisjoint(words):
        opened.add(SLAVIC)
    return opened


def _has_an_ending(words: Iterable[str]) -> bool:
    last_two, last_letters = _last_two(), _last_letters()
    return any(word[-2:] in last_two and word.endswith(last_letters) for word in words)


_CORES = (
    (rf"{_NUMBERS}(?:{_NAME}[ ,]{{1,2}}{_LINK}){{1,4}}{_STREET_WORD}(?: {_NUMBER})?", STREET, WITH_WORD),
    (rf"(?:{_NUMBERS})?(?<!\w)(?:bis |ter )?{_OPENING} {_LINK}(?:\d{{1,2}} )?{_NAMES}(?:,? {_NUMBER})", STREET, OPENED),
    (rf"(?:{_NUMBERS})?(?<!\w)(?i:{_SMALL_OPENING}) {_LINK}(?:\d{{1,2}} )?{_NAMES}(?:,? {_NUMBER})?", STREET, OPENED),
    (rf"{_NUMBERS}(?:bis |ter )?(?i:{_OPENING}) {_LINK}{_NAMES}", STREET, OPENED),
    (rf"{_NUMBERS}(?i:{_OPENING}) {LETTER}{{3,}}(?: St\.)?", STREET - 0.1, OPENED),
    (rf"(?:{_NUMBERS})?(?<!\w)(?:{_NAME} ){{0,2}}{_ENDING},? {_NUMBER}", STREET, ENDED),
    (
        rf"(?:{_NUMBERS})?(?<!\w){_NAME}(?: {_NAME}| {LETTER}{{3,}})?[ -](?:{_any('following')}|(?<=s )gate|tee)"
        rf"\.?,? {_NUMBER}\.?",
        STREET,
        FOLLOWED,
    ),
    (
        r"\b(?i:(?:g\.?)?p\.? ?o\.? ?box|post ?box|postfach|boîte postale|apartado|caixa postal|postboks"
        r"|casella postale|private bag|postbus|bp)"
        r" ?(?:no\.? ?)?X?\d{1,7}(?!\w|/\d)",
        BOX,
        BOXED,
    ),
    (r"\b(?:Unit|PSC|CMR) \d{3,5},? Box \d{1,5}", BOX, WITH_UNIT),
    (rf"(?<=[a-z\d]: ){UNIT}(?=\n|$|,)", BOX, WITH_UNIT),
    (
        r"(?<![\w-])(?:Apt|apt|Apartment|Appt|Suite|Ste|Flat)\.? #?\d{1,4}(?:[A-Z](?!\w)|[/-]\d+)?(?!\w|[.,:]\d)",
        BOX,
        WITH_UNIT,
    ),
    (rf"(?<!\w){UNIT},? {_NUMBERS}{_NAMES}", STREET, WITH_UNIT),
    (r"\b(?:USNS|USCGC|USS|USNV) [A-Z]\w+(?=,? ?\n?(?:FPO|APO|DPO))", BOX, ON_BOARD),
    (rf"\b(?:Blk|Block|BLK) ?\d{{1,4}}[A-Z]?,? {_NAME}(?: (?:{_NAME}|\d{{1,3}})){{0,5}}", STREET, IN_BLOCK),
    (
        r"\b(?:H\.? ?No|House No|Door No|D\.? ?No|Plot No|Flat No|Flat|Plot|Survey No|Shop No|Khasra No)\.? ?[:#-]? ?"
        rf"[\w/-]{{0,9}}\d[\w/-]{{0,9}}(?:, ?(?:{_NAME}|\d\w*)(?: (?:{_NAME}|\d\w*)){{0,4}}){{1,5}}",
        STREET,
        HOUSE_NUMBERED,
    ),
    (rf"{_NUMBERS}\d{{1,2}}(?:st|nd|rd|th) {_INDIAN}(?!\w)(?:, {_NAME}(?: {_NAME}){{0,2}}){{0,3}}", STREET, ORDINAL),
    (rf"(?:{_NUMBERS})?(?<!\w){_NAMES}\.? {_NUMBER}\.?(?=[ ,]*\n? *{UNIT})", LOOSE + 0.2, WITH_UNIT),
    (rf"{_NUMBERS}(?:{_NAME}[ ,]{{1,2}}){{1,4}}{UNIT}", LOOSE + 0.2, WITH_UNIT),
    (rf"\b(?:the )?(?i:corner) of [^\n,;]{{3,40}}? and (?:[a-z]{{2,4}} )?{_CORNER}", STREET, CORNERED),
    (
        rf"(?:{_NUMBERS})?(?<!\w)(?:{'|'.join(sorted(_SLAVIC))}) (?:{LETTER}{{3,}} ){{1,2}}{_NUMBER}",
        STREET,
        SLAVIC,
    ),
    (
        r"(?:(?<![\w.,])\d{3,6} )?(?<!\w)(?:Am|An de[rnm]|Im|Zum|Zur|Auf de[rm]|In de[rn]|Hinter de[rnm]|Unter den)"
        rf" (?!{_NO_GERMAN_STREET}){_NAME}(?:-{_NAME})? {_NUMBER}",
        STREET,
        GERMAN,
    ),
    (rf"{_NUMBERS}{_NAME} (?:tee|tie|gate|g\.) {_NUMBER}", STREET, FINNISH),
    (rf"(?<=[a-z,] ){_NAME} (?:{_NAME} ){{0,2}}(?:{_any('words')})(?=[\s,.;])(?!\. ?[a-z])", LOOSE, WITH_WORD),
)
_NAME_AND_NUMBER = rf"(?:{_NUMBERS})?(?<!\w){_NAMES}(?:\.? {_NUMBER}|, {_NUMBER}(?! [{UPPER}\d]))|{_NUMBERS}{_NAMES}"
_TOWN_AND_CODE = rf"(?<!\w){TOWN},? (?:{BRITISH}|{_STATE}\.?,? \d{{4,5}}(?:-\d{{4}})?(?!\w)|{_STATE},? {BRITISH})"
_TOWN_AND_LONG_CODE = rf"(?<!\w){TOWN}(?:,? ?[-–]? ?|, )(?:\d{{6}}|\d{{3}} \d{{3}})(?![\w., -]\d|\w)"
_CODE_AND_TOWN = (
    r"(?<![\w.,/#-])(?:[A-Z]{1,2}-)?(\d{5}|\d{4} [A-Z]{2}|\d{4}|\d{3} \d{2}|\d{2}-\d{3}|\d{4}-\d{3}|\d{5}-\d{3})"
    rf",? {TOWN}"
)

_CUE = (
    r"(?:address(?:es)?(?: is| with|:|,| are:)?|liv(?:e|es|ed|ing) (?:at|on|in)|is at|located at|office at"
    r"|meet (?:me|you|us) at|meet at|stay(?:s|ed|ing)? (?:at|on)|moved (?:to|from)|situated at|place at|house (?:at|on)"
    r"|sen[dt] (?:it |this |that |them |everything |all )?to|deliver(?:ed|y)? to|return to|resid(?:es|ed|ing) at"
    r"|residence:|property at"
    r"|resident of|ship(?:ped|ping)?(?: it)? to|come to|go to|it'?s in|it is|premises at|parcel to|package (?:to|at)"
    r"|wohn(?:e|t|haft) (?:in der|in|am|an der)|adress?e(?: lautet| ist|:| :)?|adres:|address line \d:|street:|straße:"
    r"|j'habite(?: au| à| en)?|domicilié(?:e)? (?:au|à)|vivo en|vive en|direcci[oó]n(?: es|:)?|abito in"
    r"|indirizzo(?: è|:)?"
    r"|domicilio:?|anschrift:?|demeur(?:e|ant)(?: au)?|bill to:?|visit us:?|c/o [\w .-]{3,20},"
    r"|residente in|moro na|morada:|woon(?:t)? (?:op|in|aan)|bor (?:på|i)|lakc[ií]m:)[ \n:]*$"
)
CUE = lazy_pattern(_CUE, re.IGNORECASE)
_CUE_IN_SMALL = lazy_pattern(_CUE)
PERHAPS = lazy_pattern(
    r"(?:\b(?:and|or|at|to|on|near|from|in|of|with|[Ii]s|are|where|via|past|outside|opposite|beside|behind|between|by|for"
    r"|around|until|towards?|[Ii]f|reached|visit(?:ed)?|left|leave|rents?|rented|seen|called|address|street)"
    r"|[:\"“(|;–-])[ \n]*$|(?:^|\n)[ ?•*>|-]{0,4}$"
)
PLACED = lazy_pattern(
    r"\b(?:at|on|near|in|opposite|outside|behind|front of|next to|side of|corner of|across from|close to|past) $"
)
"""What comes before a street rather than a person."""
HEAD = lazy_pattern(
    rf"(?:(?<!\w){UNIT}[,]?[ \n]"
    rf"|(?<!\w)(?i:suite|unit|apt\.?|flat|studio|room|ste\.?|house|no\.?|plot) #?"
    rf"|(?<!\w)(?:The )?(?:[{UPPER}][\w'’-]+ ){{1,3}}"
    r"(?:House|Cottage|Lodge|Court|Towers?|Apartments?|Rectory|Vicarage|Farm|Villas?|Manor|Hall|Mansions?|Building"
    r"|Centre|Estate|Mill|Barn|Grange|Heights|Residency|Complex|Chambers|Bhavan|Niwas|Park|Flats"
    r"|Residences?|Condominium),[ \n])$"
)
"""What comes before the number and the street: a flat, a named house."""


def is_cued(before: str) -> bool:
    """Whether it ends with words after which an address comes. To fold the text is quicker than each sign of it."""
    cue = _CUE_IN_SMALL.search(before.lower()) if before.isascii() else CUE.search(before)
    return cue is not None


AddressTail = tuple[int, int, bool]
"""Where the last sure part ends, how many parts there are up to it, and whether one of them is a code."""


class AddressForms(NamedTuple):
    """All forms, compiled."""

    cores: tuple[tuple[re.Pattern[str], float, int], ...]
    """With their scores and what opens the gate to them."""
    loose: re.Pattern[str]
    towns: tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]
    """A town and its code in the order of some countries, then with six digits, then the code first."""
    unit: re.Pattern[str]
    code: re.Pattern[str]
    state: re.Pattern[str]
    town: re.Pattern[str]
    small: bool
    """For texts that have no capitals."""
    tails: dict[int, AddressTail] | None = None
    """Of one text, by where they begin: several forms end at the same place."""


@cache
def address_forms(*, small: bool, plain: bool) -> AddressForms:
    """``small`` for texts that have no capitals, ``plain`` for those in ASCII."""
    flags = re.IGNORECASE if small else re.NOFLAG

    def form(pattern: str, flags: re.RegexFlag = flags) -> re.Pattern[str]:
        return lazy_pattern(plain_form(pattern) if plain else pattern, flags)

    return AddressForms(
        tuple((form(pattern), score, gate) for pattern, score, gate in _CORES),
        form(_NAME_AND_NUMBER),
        (
            form(_TOWN_AND_CODE),
            form(_TOWN_AND_LONG_CODE),
            form(_CODE_AND_TOWN),
        ),
        form(GAP + UNIT, re.IGNORECASE),
        form(GAP + rf"(?:(?:[A-Z]{{1,3}}|{_EMPTY})[ ,\n]{{1,3}})?" + CODE),
        form(GAP + rf"(?:[A-Z]{{2,3}}|{_EMPTY})(?!\w)"),
        form(GAP + TOWN),
        small,
    )


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


def with_tail(text: str, end: int, known: AddressForms) -> AddressTail:
    if known.tails is None:
        return _with_tail(text, end, known)
    tail = known.tails.get(end)
    if tail is None:
        tail = known.tails[end] = _with_tail(text, end, known)
    return tail


def _with_tail(text: str, end: int, known: AddressForms) -> AddressTail:
    sure, count, place, after_unit, coded, town = end, 0, end, False, False, False
    small = known.small
    for step in range(1, MOST_TAILS + 1):
        unit = known.unit.match(text, place)
        match = unit or known.code.match(text, place)
        if match is not None:
            sure, count, after_unit = match.end(), step, unit is not None
            coded = coded or not after_unit
        else:
            short = known.state.match(text, place)
            match = short or known.town.match(text, place)
            if match is None:
                break
            named = short is None
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
