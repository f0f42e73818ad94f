"""Dates in a text, moved by a number of days and written as they were.

The number of days is the person's own (``shoal.pseudonyms.date_shifts``). A multiple of seven keeps the day of the
week, and leaves fewer numbers to guess.

A date that is written in numbers alone, as ``03/04/2024``, is read with the day first unless the second number can't be
a month. Read the wrong way it is still moved, by about as many days. A month without a day is moved from its middle. A
year by itself, and whatever else can't be read as a date, is not moved: the caller puts a label there.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable
from dataclasses import dataclass

from shoal.text.lazy_patterns import lazy_pattern

MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
_CENTURY = 100
_LEAP = "2004"
"""For a day without a year: one that has a 29th of February."""
_MIDDLE = "15"
_PIVOT = 70
"""Years of two digits from here on are of the last century."""

_MONTH = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|"
    r"aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
_DAY = r"(?P<day>\d{1,2})(?P<ordinal>st|nd|rd|th)?"
_YEAR = r"(?P<year>\d{4}|'?\d{2})"
_GAP = r"[ ,/.\-]{1,3}(?:of )?"

_FORMS = (
    r"(?P<year>\d{4})[-/.](?P<month>\d{1,2})[-/.](?P<day>\d{1,2})",
    r"(?P<first>\d{1,2})[-/.](?P<second>\d{1,2})[-/.](?P<year>\d{4}|\d{2})",
    _DAY + _GAP + _MONTH + _GAP + _YEAR,
    _MONTH + _GAP + _DAY + _GAP + _YEAR,
    _DAY + _GAP + _MONTH,
    _MONTH + _GAP + r"(?P<year>\d{4})",
    _MONTH + _GAP + _DAY,
)
_PATTERNS = tuple(lazy_pattern(rf"(?<![\w]){form}(?!\d)", re.IGNORECASE) for form in _FORMS)
_CLOCK = r"\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?\s*(?:[ap]\.?m\.?)?\s*(?:Z|UTC|GMT|[+-]\d{2}:?\d{2})?"
_TIME = re.compile(rf"[\s,T]*(?:at )?(?:{_CLOCK})?[\s,.]*", re.IGNORECASE)
_ANY_DATE = "|".join(re.sub(r"\?P<\w+>", "?:", form) for form in _FORMS)


def marked_dates(mark: str) -> re.Pattern[str]:
    """Dates with the mark behind them, as we write them."""
    return lazy_pattern(rf"(?<![\w])(?:{_ANY_DATE}){re.escape(mark)}", re.IGNORECASE)


def shifted_date(text: str, days: int) -> tuple[str, str] | None:
    """The text of a date moved, and what of the text comes after the date (a time); None if it can't be read.

    >>> shifted_date("2024-02-28", 2)
    ('2024-03-01', '')
    >>> shifted_date("5th March 1999, 10:30", -5)
    ('28th February 1999', ', 10:30')
    """
    for pattern in _PATTERNS:
        match = pattern.match(text)
        if match is None or not _TIME.fullmatch(text[match.end() :]):
            continue
        read = _read(match)
        if read is None:
            return None
        try:
            moved = read.date + datetime.timedelta(days=days)
        except OverflowError:
            return None
        return read.write(moved), text[match.end() :]
    return None


@dataclass(frozen=True)
class _Read:
    date: datetime.date
    write: Callable[[datetime.date], str]


def _read(match: re.Match[str]) -> _Read | None:
    parts = {name: value for name, value in match.groupdict().items() if value}
    order = _order(parts)
    if order is None:
        return None
    day_name, month_name = order
    year_text = parts.get("year", _LEAP)
    try:
        date = datetime.date(_year(year_text), _month(parts[month_name]), int(parts.get(day_name, _MIDDLE)))
    except ValueError:
        return None

    def write(new: datetime.date) -> str:
        width = _width(parts.get(day_name, "00"), parts[month_name])
        values = {
            "year": _like_year(new.year, year_text),
            day_name: f"{new.day:0{width}}",
            month_name: _like_month(new.month, parts[month_name], width, short="-" in match[0]),
            "ordinal": _ordinal(new.day),
        }
        return _filled(match, {name: value for name, value in values.items() if name in parts})

    return _Read(date, write)


def _order(parts: dict[str, str]) -> tuple[str, str] | None:
    """The groups of the day and of the month."""
    if "first" not in parts:
        return "day", "month"
    if int(parts["second"]) <= len(MONTHS):
        return "first", "second"
    return ("second", "first") if int(parts["first"]) <= len(MONTHS) else None


def _filled(match: re.Match[str], values: dict[str, str]) -> str:
    """The matched text with new values at the places of its groups."""
    text, done = [], match.start()
    for (start, end), value in sorted((match.span(name), value) for name, value in values.items()):
        text += [match.string[done:start], value]
        done = end
    return "".join((*text, match.string[done : match.end()]))


def _year(text: str) -> int:
    digits = text.removeprefix("'")
    year = int(digits)
    if len(digits) > 2:
        return max(year, 1)
    return year + (1900 if year >= _PIVOT else 2000)


def _month(text: str) -> int:
    if text.isdigit():
        return int(text)
    return next(place for place, name in enumerate(MONTHS, 1) if name.startswith(text[:3].casefold()))


def _like_year(year: int, model: str) -> str:
    if len(model.removeprefix("'")) > 2:
        return f"{year:04}"
    return ("'" if model.startswith("'") else "") + f"{year % _CENTURY:02}"


def _width(day: str, month: str) -> int:
    """How many digits a day or a month has at least: two where a zero is written in front, or would be."""
    if month.isdigit():
        return 2 if len(day) == len(month) == 2 else 1
    return 2 if day.startswith("0") else 1


def _like_month(month: int, model: str, width: int, *, short: bool) -> str:
    """``short`` says how to take "May", which may be the month's whole name or three letters of it."""
    if model.isdigit():
        return f"{month:0{width}}"
    name = MONTHS[month - 1]
    if model.casefold() not in MONTHS or (short and model.casefold() == "may"):
        name = name[:3]
    return name.upper() if model.isupper() else name.title() if model[0].isupper() else name


def _ordinal(day: int) -> str:
    return "th" if 11 <= day <= 13 else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
