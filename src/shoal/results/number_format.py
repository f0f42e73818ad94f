"""How figures are written: enough digits to compare, never rounded to a promise that was not kept."""

from __future__ import annotations

import math
from datetime import datetime

NONE = "–"
_TRACE = 1e-9


def number(value: float) -> str:
    """
    >>> number(5.0), number(0.33333333), number(48211.6), number(float("nan"))
    ('5', '0.3333', '48,212', '–')
    """
    if not math.isfinite(value):
        return NONE
    if value == int(value) or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.4g}"


def small(value: float) -> str:
    """A share with four digits after the point at most; what is not nothing stays so.

    >>> small(0.005416), small(0.5), small(0.0), small(0.00002), small(1.0)
    ('0.0054', '0.5', '0', '<0.0001', '1')
    """
    return "<0.0001" if 0 < value < 0.0001 else number(round(value, 4))


def percent(share: float) -> str:
    """One decimal; 0% and 100% only where nothing, or all, is meant.

    >>> percent(0.2), percent(0.71349), percent(0.0001), percent(0.99999), percent(1.0)
    ('20%', '71.3%', '<0.1%', '>99.9%', '100%')
    """
    if not math.isfinite(share):
        return NONE
    if 0 < share < 0.001:
        return "<0.1%"
    if 0.999 < share < 1:
        return ">99.9%"
    return f"{100 * share:.1f}".removesuffix(".0") + "%"


def span(low: float, high: float, between: str = " to ") -> str:
    """An interval of shares; what rounding left of nothing, or lacks of all, is not told.

    >>> span(0.123, 0.2), span(3e-19, 0.0004), span(1e-17, 2e-17), span(0.97, 1 - 1e-16)
    ('12.3% to 20%', '0% to <0.1%', '0%', '97% to 100%')
    """
    ends = [percent(0.0 if end < _TRACE else 1.0 if end > 1 - _TRACE else end) for end in (low, high)]
    return between.join(dict.fromkeys(ends))


def one_in(risk: float) -> str:
    """
    >>> one_in(0.2), one_in(1.0), one_in(0.3), one_in(0.0)
    ('1 in 5', '1 in 1', '1 in 3.3', '–')
    """
    if risk <= 0 or not math.isfinite(risk):
        return NONE
    people = 1 / risk
    whole = round(people)
    return f"1 in {whole:,}" if math.isclose(people, whole, rel_tol=1e-9) else f"1 in {people:,.1f}"


def count(amount: int, one: str, many: str | None = None) -> str:
    """
    >>> count(1, "record"), count(5000, "record"), count(2, "person", "people")
    ('1 record', '5,000 records', '2 people')
    """
    return f"{amount:,} {one if amount == 1 else many or one + 's'}"


def moment(when: datetime) -> str:
    """
    >>> from datetime import UTC
    >>> moment(datetime(2026, 3, 1, 9, 5, tzinfo=UTC))
    '1 March 2026, 09:05 UTC'
    """
    return f"{when.day} {when:%B %Y, %H:%M %Z}".rstrip()
