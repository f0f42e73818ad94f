"""Figures that single somebody out beside identifiers: sums of money, numbers of cases and files, years of a life.

Every number of the text is looked at once: what stands before it and after it says what it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from shoal.geonames import countries
from shoal.text.dates_numbers.phone_numbers import called_number
from shoal.text.dates_numbers.quantities import measured
from shoal.text.dates_numbers.reference_numbers import by_form, is_nobodys
from shoal.text.lexicon.gazetteers import sections_in
from shoal.text.spans import Span

BY = "figures"
MONEY = 0.72
REFERENCE = 0.75
YEAR = 0.6
_NUMBERS = re.compile(r"\d(?:(?<![\w.,]\d)\d*(?:[,.'/:–-][\dA-Z]+)*(?!\w)|(?<=[$€£¥₹₩₽₺₫฿₦₱sM]\d)\d*(?:[,.]\d+)*)")
"""A digit comes first, so that other signs are skipped quickly."""
_FORMER = "ATS BEF CYP DEM ESP FIM FRF GRD IEP ITL LTL LVL NLG PTE SIT SKK TRL ROL CSK YUM SUR ZWD TRY"
_SIGN = re.compile(r"(?:(?:US|S|A|C|HK|NZ|R)?\$|[€£¥₹₩₽₺₫฿₦₱]|\bRs\.?|\bRM|\b[A-Z]{3})[ \u00a0]?$")
_AMOUNT = re.compile(r"\d+(?:[,.' \u00a0]\d{2,3}){0,8}(?:[.,]\d{1,2})?(?!\d)")
_SIZE = re.compile(r" ?(?:million|billion|thousand|lakhs?|crores?|mn|bn|k|m)\b")
_COIN = re.compile(
    r"[ \u00a0]?(?:(?P<code>[A-Z]{3})\b|[€₹£]|(?:[Nn]ew )?(?:[A-Z][a-z]+ )?(?i:euros?|dollars?"
    r"|pounds?(?: sterling)?|rupees?|paise"
    r"|ringgit|yen|yuan|renminbi|won|francs?|marks?|deutschmarks?|schillings?|liras?|lire|pesos?|reais|r(?:o?u)bles?"
    r"|kron(?:a|or|e|er|ur)|z[lł]otys?|forints?|lei|leva?|dirhams?|riyals?|dinars?|baht|rupiah|dong"
    r"|shillings?|rand|naira"
    r"|cedis?|pesetas?|drachmas?|guilders?|hryvnias?|lpa)\b(?: \([A-Z]{3}(?:\)|(?=;)))?)"
)
_REFERENCE = re.compile(r"\d+(?:[/:.\-–][A-Z\d]+){1,4}$")
_LABEL = re.compile(
    r"\b(?:nos?|numbers?|ref|reference|case|file|docket|applications?|petition|appeal|claim|policy"
    r"|plot|sheet/plan|invoice|order"
    r"|ticket)\.?:? ?#?$",
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"(?i)\bnos?\.? ?$")
_HOUR = re.compile(r"\d{1,2}[.:]\d\d$")
_AND = re.compile(r"(?:,|;| and|, and) $")
_YEAR = re.compile(r"(?:1[89]|20)\d\d(?:[-–/](?:(?:1[89]|20)\d\d|\d\d))?$")
_BEFORE_A_YEAR = frozenset(sections_in("context")["before a year"])
_MONTH = re.compile(r"(?:January|February|March|April|May|June|July|August|September|October|November|December) $")
_WINDOW = 14


def figures(text: str) -> Iterator[Span]:
    referred = -1
    for match in _NUMBERS.finditer(text):
        start, end, value = match.start(), match.end(), match.group()
        before = text[max(0, start - _WINDOW) : start]
        money = _money(text, start, end, before)
        if money is not None:
            yield money
        elif (measure := measured(text, start, end)) is not None:
            yield measure
        elif (called := called_number(text, start)) is not None:
            yield called
        elif (case := by_form(text, start, end)) is not None:
            yield case
        elif _REFERENCE.match(value) and (_LABEL.search(before) or (0 <= start - referred < 8 and _AND.search(before))):
            referred = end
            if _is_somebodys(text, start, value, before):
                yield Span(start, end, "reference", REFERENCE, BY)
        elif len(value) >= 4 and _YEAR.match(value) and (_says_year(before) or _is_a_year(text, start, end)):
            month = _MONTH.search(before)
            yield Span(start - (len(month.group()) if month else 0), end, "date", YEAR, BY)


def _is_somebodys(text: str, start: int, value: str, before: str) -> bool:
    """Not the number of a law or a bus, nor the time of day after "in any case"."""
    if _HOUR.match(value) and not _NUMBERED.search(before):
        return False
    return not is_nobodys(_NUMBERED.sub("", text[max(0, start - 30) : start]))


def _says_year(before: str) -> bool:
    words = before.split()
    return before.endswith(" ") and bool(words) and words[-1].lower() in _BEFORE_A_YEAR


def _is_a_year(text: str, start: int, end: int) -> bool:
    """A year that the words on both sides let stand for one: "2011 was a hard year", "Was it 1998?"."""
    following = _AFTER_A_YEAR.match(text, end)
    if following is None:
        return False
    before = text[max(0, start - _WINDOW) : start]
    if following["verb"]:
        return _OPENS.search(before) is not None
    return _PERHAPS_A_YEAR.search(before) is not None


_OPENS = re.compile(r"(?:^\s*|\n\s*|[!?] |(?<!\bno)(?<!\bnr)(?<!\bart)(?<!\bp)\. )[\"“'‘]?$", re.IGNORECASE)
_AFTER_A_YEAR = re.compile(
    r"(?P<verb>['’]s | (?:was|is|will|has|had|saw|brought|marked|began|ended)\b|: )|[.?!;,)]?(?:\s|$)"
)
_PERHAPS_A_YEAR = re.compile(
    r"\b(?:it|was|is|were|or|than|back in|established|est\.?|founded|vintage|season|built|dated|expected|due|for) $",
    re.IGNORECASE,
)


def _money(text: str, start: int, end: int, before: str) -> Span | None:
    amount = _AMOUNT.match(text, start)
    if amount is None:
        return None
    end = amount.end()
    size = _SIZE.match(text, end) if _sign_after(text, end) in _SIZES_BEGIN else None
    end = end if size is None else size.end()
    sign = _SIGN.search(before) if _sign_before(before) in _SIGNS_END else None
    if sign is not None and (
        len(sign.group().strip()) != 3 or sign.group().strip()[-1] in "$." or sign.group()[:3] in _codes()
    ):
        return Span(_from_about(text, start - len(sign.group())), end, "money", MONEY, BY)
    following = _sign_after(text, end)
    coin = _COIN.match(text, end) if following.isalpha() or following in _COINS else None
    if coin is not None and (coin["code"] is None or coin["code"] in _codes()):
        return Span(_from_about(text, start), coin.end(), "money", MONEY, BY)
    return None


_SIZES_BEGIN = frozenset("mbtlck")
_SIGNS_END = frozenset("$€£¥₹₩₽₺₫฿₦₱s.ABCDEFGHIJKLMNOPQRSTUVWXYZ")
_COINS = frozenset("€₹£")
"""Signs that are looked at first: to tell that an expression can't match is quicker than to try it."""
_GAP = (" ", "\u00a0")


def _sign_after(text: str, end: int) -> str:
    """What stands there, or behind the blank that stands there."""
    sign = text[end : end + 1]
    return text[end + 1 : end + 2] if sign in _GAP else sign


def _sign_before(before: str) -> str:
    """The last sign but for a blank, and but for an end of a line behind that."""
    last = len(before) - (before[-1:] == "\n")
    sign = before[last - 1 : last] if last else ""
    return before[last - 2 : last - 1] if sign in _GAP and last > 1 else sign


_ABOUT = re.compile(
    r"(?i)\b(?:approximately|approx\.?|about|around|roughly|nearly|almost|circa|ca\.|environ|etwa|rund|unos) $"
)


def _from_about(text: str, start: int) -> int:
    """Where a sum begins, with a word before it that says it is none too exact."""
    about = _ABOUT.search(text[max(0, start - 15) : start])
    return start if about is None else start - len(about.group())


@cache
def _codes() -> frozenset[str]:
    """Codes of currencies (ISO 4217), with those of currencies that are gone."""
    return frozenset(country.currency for country in countries()) - {""} | frozenset(_FORMER.split())
