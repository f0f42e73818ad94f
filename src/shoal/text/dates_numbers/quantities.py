"""Quantities that tell of somebody: terms of imprisonment, sums in words, how many others there were, weight and
height, shares and degrees of disability, land, drugs, speed. Other numbers ("85% of memory", "two hours") are nobody's.
"""

from __future__ import annotations

import re

from shoal.text.dates_numbers.numerals import NUMERAL, NUMERAL_IN_WORDS
from shoal.text.lazy_patterns import lazy_pattern
from shoal.text.lexicon.gazetteers import in_small_letters, sections_in
from shoal.text.lexicon.sentence_context import PhraseHit, either
from shoal.text.spans import Span

BY = "quantities"
TOLD = 0.65
MONEY = 0.72

_LISTS = sections_in("quantities")
_UNITS = r"(?:years?|months?|weeks?|days?|hours?|jahren?|monaten?|ans|mois|años|meses)"
_LENGTH = lazy_pattern(rf"(?:{NUMERAL} {_UNITS},? (?:and |und |et |y )?){{0,2}}{NUMERAL}[ -]$")
_IN_PRISON = lazy_pattern(
    r" ?(?:(?:of|in|suspended|unconditional|conditional|strict|rigorous|further|pre-trial|solitary|the|a|an) ){0,2}"
    rf"(?:{either(_LISTS['prison'])})\b"
)
_SENTENCED = lazy_pattern(
    r"\b(?:sentenc\w+|condemned|imprison\w+|jailed|debarred|disqualified|banned|probation|prison|jail|custody|confinement"
    r"|verurteilt|condamn\w+|condenado|incarcerated)\b[^.;]{0,50}$"
    r"|\b(?:he|she|they|who|i) (?:got|received|was given|were given|is serving|was serving|served|faces|faced|did) $"
)
_LIVED = lazy_pattern(
    r"\b(?:he|she|i|they|who|applicant|patient|has|had|have|been) (?:(?:been|has|had|have) )?(?:married|lived|living"
    r"|worked|working|employed|receiving|served|serving|resident|together|separated|pregnant)\b[^.;]{0,30}"
    r" for (?:(?:about|over|almost|more than|nearly|some|the last|the past) )?$"
)
_OTHERS = lazy_pattern(rf"{NUMERAL} (?:(?:other|further|additional) (?:[\w-]+ ){{0,2}})$")
_COUNT = lazy_pattern(rf"{NUMERAL} $")
_MANY = lazy_pattern(r"\d{2,3} |(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|(?:a )?hundred)")
_SUM = lazy_pattern(
    rf"(?:\b(?:about|around|nearly|almost|approximately|roughly) )?(?<![\w-]){NUMERAL_IN_WORDS} "
    r"(?:(?:new )?[a-z]+(?:an|ish|ss|ch|ese) )?$"
)
_ALONE = frozenset(_LISTS["alone"])


def length_of_time(hit: PhraseHit) -> Span | None:
    """ "Two years and six months", where it is a sentence or how long somebody lived so."""
    end = hit.end
    if hit.small[end : end + 1] in ("'", "’"):
        end += 2 if hit.small[end + 1 : end + 2] == "s" else 1
    before = hit.before()
    match = _LENGTH.search(before)
    if match is None:
        return None
    opening, prison = before[: match.start()], _IN_PRISON.match(hit.small, end)
    if prison is None and not (_SENTENCED.search(opening) or _LIVED.search(opening)):
        return None
    if prison is not None and prison.group().startswith((" in ", " behind")):
        end = prison.end()
    return hit.span("number", TOLD, BY, more=len(match.group()), end=end)


def for_life(hit: PhraseHit) -> Span | None:
    return hit.span("number", TOLD, BY)


def sum_in_words(hit: PhraseHit) -> Span | None:
    """ "Five hundred euros"."""
    match = _SUM.search(hit.before())
    return None if match is None else hit.span("money", MONEY, BY, more=len(match.group()))


def others(hit: PhraseHit) -> Span | None:
    """How many others there were: "with 623 other suspects"."""
    before = hit.before(60)
    match = _OTHERS.search(before) or (_COUNT.search(before) if hit.phrase in _ALONE else None)
    if match is None or (hit.phrase == "hearings" and not _MANY.match(match.group())):
        return None
    return hit.span("number", TOLD, BY, more=len(match.group()))


# --- in digits, with a unit -------------------------------------------------------------------------------------------

_SHARE, _BODY, _SPEED, _LAND = "share", "body", "speed", "land"
_KINDS = {unit: kind for kind in (_BODY, _SPEED, _LAND) for unit in _LISTS[f"of {kind}"]}
_DRUG_UNITS = frozenset(_LISTS["of drugs"])
_UNIT_AFTER = lazy_pattern(
    r" ?(?:(?P<share>%|per ?cent\b|‰|per mille\b|promille\b|g/l\b)"
    rf"|(?P<unit>m\d(?!\w)|(?i:{either({*_KINDS, *_DRUG_UNITS})})(?!\w)))"
)
_UNITS_BEGIN = frozenset("%‰pgm").union(unit[0].casefold() for unit in {*_KINDS, *_DRUG_UNITS})
"""Signs that are looked at first: to tell that an expression can't match is quicker than to try it."""
_OF_A_DRUG = lazy_pattern(rf" (?:of )?(?:\w+ )?(?:{either(_LISTS['drugs'])})\b")
_AROUND = {
    _SHARE: re.compile(
        r"disab|incapac|invalidity|capacity|capabilit|impair|(?<!market )\bshares?\b(?! price| capital| index)"
        r"|\bstake\b|inherit|\bestate\b|\bbac\b|blood|behinderung|minderung|handicap|unfit|discapacidad|invalidité|hearing|eyesight|\bvision\b|alcohol"
        r"|loss of sight"
        r"|of the (?:money|income)|of (?:his|her) (?:salary|income|wages)"
    ),
    _BODY: re.compile(r"\b(?:weigh|height|tall|bmi|gewicht|größe|poids|peso|waist|wt|ht)"),
    _SPEED: re.compile(r"\bspeeding|driv|over the limit|exceed|radar|\bfahr|\bgefahren"),
    _LAND: re.compile(
        r"\b(?:plots?|land|house|flat|apartment|propert|estate|field|parcel|orchard|garden|grundstück|wohnung|terrain|finca"
        r"|building)"
    ),
}
_FROM = lazy_pattern(r"\d+(?:[.,]\d+)? ?%? ?(?:to|and|-|–) ?$")
_FRACTION = lazy_pattern(r"\d{1,2}/\d{1,3}$")
_FEET = lazy_pattern(r"\d['’′] ?\d{1,2}(?:[\"”″]|''|’’)?(?!\w)")


_FOOT = frozenset("'’′")


def measured(text: str, start: int, end: int) -> Span | None:
    """A number in digits with its unit, where words around say what of somebody it is."""
    sign = text[end : end + 1]
    if sign == " ":
        sign = text[end + 1 : end + 2]
    following = _UNIT_AFTER.match(text, end) if sign.casefold() in _UNITS_BEGIN else None
    if following is None:
        feet = _FEET.match(text, start) if text[start + 1 : start + 2] in _FOOT else None
        if feet is not None:
            return Span(start, feet.end(), "number", TOLD, BY) if _around(text, start, feet.end(), _BODY) else None
        part = (
            "/" in text[start:end]
            and _FRACTION.match(text[start:end]) is not None
            and _around(text, start, end, _SHARE)
        )
        return Span(start, end, "number", TOLD, BY) if part else None
    if following["share"]:
        if not _around(text, start, following.end(), _SHARE):
            return None
        first = _FROM.search(text[max(0, start - 16) : start])
        return Span(start - (len(first.group()) if first else 0), following.end(), "number", TOLD, BY)
    return _with_unit(text, start, following)


def _with_unit(text: str, start: int, following: re.Match[str]) -> Span | None:
    unit = following["unit"].lower()
    if unit in _DRUG_UNITS:
        drug = _OF_A_DRUG.match(text, following.end())
        if drug is not None or "ecstasy" in unit:
            return Span(start, following.end() if drug is None else drug.end(), "number", TOLD, BY)
    kind = _LAND if unit[-1].isdigit() else _KINDS.get(unit)
    told = kind is not None and _around(text, start, following.end(), kind)
    return Span(start, following.end(), "number", TOLD, BY) if told else None


def _around(text: str, start: int, end: int, kind: str) -> bool:
    """Whether the sentence around speaks of what is measured."""
    first = max(0, start - 90)
    window = text[first : end + 70]
    hit = PhraseHit(window, in_small_letters(window), start - first, end - first)
    return _AROUND[kind].search(f"{hit.before()} {hit.after()}") is not None
