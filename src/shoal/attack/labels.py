"""Reading released labels as an attacker does: ``30-39``, ``< 18``, ``90+``, ``2026-03``, ``560xxx``, ``{a, b}``.

Numbers and dates lie on a line; a label on it is a half-open stretch, low ≤ value < high. ``30-39`` holds everything
below 40, because nobody lies between 39 and 40 unless another label begins at 39.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable
from dataclasses import dataclass
from math import inf, nextafter

import numpy as np
import polars as pl
from numpy.typing import NDArray

Stretch = tuple[float, float]
Ends = tuple[str | None, str | None, tuple[bool, bool]]
Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

DATE_FORMATS = ("%Y-%m-%d", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%d.%m.%Y", "%Y/%m/%d")
COVERS = "*•█×#?_xX"
"""Characters that stand for others; the last ones are letters or signs too, and have to look like a cover."""
SURE_COVERS = "*•█×"

_NUMBER = r"[-−+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:[eE][-+]?\d+)?"
_PERIOD = r"\d{4}(?:-(?:\d{2}-\d{2}|[0-1]\d|Q[1-4]|W\d{2}))?|\d{3}0s"
_ENDS = {"number": _NUMBER, "date": _PERIOD}
_BELOW, _ABOVE = r"<=?|≤|under |below |up to ", r">=?|≥|over |above |from "


@dataclass(frozen=True)
class Line:
    """The values as points on a line: numbers, or dates as days. What isn't on the line is NaN."""

    kind: str
    points: Floats

    @classmethod
    def of(cls, values: pl.Series) -> Line | None:
        """Only where more than half of the values that are there can be read as points."""
        there = len(values) - values.null_count()
        if isinstance(values.dtype, pl.Categorical | pl.Enum):
            values = values.cast(pl.String)
        for kind, read in (("date", _days(values)), ("number", _numbers(values))):
            if read is not None and 2 * int(np.isfinite(read).sum()) > there:
                return cls(kind, read)
        return None

    def stretches(self, texts: Iterable[str | None]) -> list[Stretch | None]:
        """The stretch that each label means; None where it means none."""
        read = [None if text is None else _split(text.strip(), _ENDS[self.kind]) for text in texts]
        begins = {low for parts in read if parts is not None and (low := parts[0])}
        return [None if parts is None else self._stretch(*parts, begins) for parts in read]

    def _stretch(
        self, low: str | None, high: str | None, closed: tuple[bool, bool], begins: set[str]
    ) -> Stretch | None:
        try:
            start = -inf if low is None else self._end(low)[0 if closed[0] else 1]
            if high is None:
                return start, inf
            first, last = self._end(high)
            if not closed[1]:
                return start, first
            between = low is not None and high not in begins and self.kind == "number"
            return start, (first + _unit(high) if between and first != start else last)
        except ValueError:
            return None

    def _end(self, text: str) -> Stretch:
        """Where the point or period begins, and where what comes after it does."""
        if self.kind == "date":
            return _period(text)
        if text.endswith("s"):
            return float(text[:-1]), float(text[:-1]) + 10
        number = as_number(text)
        return number, nextafter(number, inf)


def _split(text: str, end: str) -> Ends | None:
    """Lower end, upper end, and which of them belong to it."""
    if found := re.fullmatch(rf"([\[(])\s*({end}|-inf|[-−]∞)?\s*[,;]\s*({end}|\+?inf|\+?∞)?\s*([\])])", text):
        opening, low, high, closing = found.groups()
        low, high = (None if each is None or each[-1] in "f∞" else each for each in (low, high))
        return low, high, (opening == "[", closing == "]")
    if re.fullmatch(end if end == _PERIOD else r"\d{3}0s", text):
        return text, text, (True, True)
    if found := re.fullmatch(rf"({end})\s*(?:-|–|—|\.\.|to)\s*({end})", text):
        return found[1], found[2], (True, True)
    return _split_open(text, end)


def _split_open(text: str, end: str) -> Ends | None:
    """Labels with one end: ``< 18``, ``≥ 90``, ``90+``."""
    if found := re.fullmatch(rf"({_BELOW})\s*({end})", text):
        return None, found[2], (True, found[1] in ("<=", "≤", "up to "))
    if found := re.fullmatch(rf"({_ABOVE})\s*({end})", text):
        return found[2], None, (found[1] in (">=", "≥", "from "), False)
    if found := re.fullmatch(rf"({end})\s*(?:\+|and over|and above|or more|or older)", text):
        return found[1], None, (True, False)
    return None


def as_number(text: str) -> float:
    return float(text.replace(",", "").replace("−", "-"))


def _unit(text: str) -> float:
    """One in the last decimal that is written."""
    return 10.0 ** -len(text.partition(".")[2]) if "e" not in text.lower() else 0.0


def _period(text: str) -> Stretch:
    """First day of the period, and the day after its last.

    >>> [int(day) for day in _period("1970-02")]
    [31, 59]
    """
    if text.endswith("s"):
        year = int(text[:-1])
        return _day(year, 1), _day(year + 10, 1)
    year, _, rest = int(text[:4]), text[4:5], text[5:]
    if not rest:
        return _day(year, 1), _day(year + 1, 1)
    if rest[0] == "Q":
        month = 3 * int(rest[1]) - 2
        return _day(year, month), _day(year, month + 3)
    if rest[0] == "W":
        monday = datetime.date.fromisocalendar(year, int(rest[1:]), 1)
        start = float((monday - datetime.date(1970, 1, 1)).days)
        return start, start + 7
    month, day = int(rest[:2]), rest[3:]
    if day:
        start = _day(year, month, int(day))
        return start, start + 1
    return _day(year, month), _day(year, month + 1)


def _day(year: int, month: int, day: int = 1) -> float:
    date = datetime.date(year + (month == 13), 1 if month == 13 else month, day)
    return float((date - datetime.date(1970, 1, 1)).days)


def _numbers(values: pl.Series) -> Floats | None:
    if values.dtype.is_numeric() or values.dtype == pl.String:
        return values.cast(pl.Float64, strict=False).fill_null(float("nan")).to_numpy()
    return None


def _days(values: pl.Series) -> Floats | None:
    dates = values
    if values.dtype == pl.String:
        there = len(values) - values.null_count()
        for form in DATE_FORMATS:
            dates = values.str.slice(0, 10).str.to_date(form, strict=False)
            if there and 2 * (len(dates) - dates.null_count()) > there:
                break
        else:
            # Periods are dates of a coarser kind: their first day stands for them.
            dates = (values.str.extract(r"^(\d{4}-\d{2})$") + "-01").str.to_date("%Y-%m-%d", strict=False)
    elif not isinstance(values.dtype, pl.Date | pl.Datetime):
        return None
    return dates.cast(pl.Date).to_physical().cast(pl.Float64).fill_null(float("nan")).to_numpy()


def text_of(series: pl.Series) -> pl.Series:
    """Values as text; a whole number is written without a decimal point, whatever it is stored as."""
    if series.dtype.is_decimal():
        series = series.cast(pl.Float64)
    if series.dtype.is_float():
        whole = (series == series.floor()) & (series.abs() < 2**53)
        texts = pl.DataFrame({"x": series, "whole": whole.fill_null(False)}).select(  # noqa: FBT003
            pl.when("whole")
            .then(pl.col("x").cast(pl.Int64, strict=False).cast(pl.String))
            .otherwise(pl.col("x").cast(pl.String))
        )
        return texts.to_series()
    return series.cast(pl.String)


def members(text: str) -> list[str] | None:
    """What stands between braces: ``{a, b}``."""
    if len(text) < 2 or text[0] != "{" or text[-1] != "}":
        return None
    return [part.strip().strip("\"'") for part in re.split(r"[,;|]", text[1:-1])]


def cover_of(text: str) -> str | None:
    """The character that covers others in a masked label."""
    for char in COVERS:
        if char not in text or text.count(char) == len(text) == 1:
            continue
        if char in SURE_COVERS:
            return char
        rest = text.replace(char, "")
        if re.search(re.escape(char) + "{2,}", text) or (text[-1] == char and rest and rest[-1].isdigit()):
            return char
    return None


Shape = tuple[int, tuple[tuple[int, int], ...]]
"""Of a mask: its length, and from where to where it shows characters."""


def shape_of(text: str) -> Shape | None:
    """
    >>> shape_of("56xxx4"), shape_of("Texas")
    ((6, ((0, 2), (5, 6))), None)
    """
    if (cover := cover_of(text)) is None:
        return None
    shown = re.finditer(f"[^{re.escape(cover)}]+", text)
    return len(text), tuple((found.start(), found.end()) for found in shown)
