"""How a dialect says the few things that all techniques are made of.

Nothing here may depend on what a reader can set for a session: time zones, styles of dates, SQL modes, flags of regular
expressions, the precision of a division. So there is no division, dates are written part by part, every pattern says
its own flags and every comparison its collation.
"""

from __future__ import annotations

import datetime
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from decimal import Decimal

Sql = str
"""A piece of SQL that stands for one value."""


class SqlWords(ABC):
    """One dialect. ``x`` is always a piece of SQL; text and numbers of the policy come in as Python values."""

    null: Sql = "NULL"

    @abstractmethod
    def name(self, *parts: str) -> Sql:
        """A quoted name."""

    @abstractmethod
    def text(self, value: str) -> Sql:
        """A text of the policy."""

    @abstractmethod
    def day(self, value: datetime.date) -> Sql: ...

    @abstractmethod
    def moment(self, value: datetime.date) -> Sql:
        """The first moment of a day, in microseconds and without a time zone."""

    @abstractmethod
    def is_day(self, x: Sql) -> Sql:
        """Whether a date is one that a run can read: of the years 1 to 9999."""

    @abstractmethod
    def finite(self, x: Sql, value: Sql) -> Sql:
        """The value where x is a finite number; missing elsewhere."""

    @abstractmethod
    def as_text(self, x: Sql) -> Sql:
        """Text or a whole number as text that is compared letter by letter."""

    @abstractmethod
    def as_float(self, x: Sql) -> Sql: ...

    @abstractmethod
    def as_whole(self, x: Sql) -> Sql:
        """64 bits, signed."""

    @abstractmethod
    def units(self, x: Sql, digits: int, *, cut: bool) -> Sql:
        """A number, known to be of sensible size, in whole units of its last digit: rounded, or ``cut`` downwards."""

    @abstractmethod
    def decimal(self, x: Sql, unit_digits: int, shown: int) -> Sql:
        """Whole units as a decimal in text, with so many digits shown."""

    @abstractmethod
    def joined(self, parts: Sequence[Sql]) -> Sql:
        """Texts one behind the other; missing if one of them is."""

    @abstractmethod
    def length(self, x: Sql) -> Sql: ...

    @abstractmethod
    def head(self, x: Sql, count: Sql | int) -> Sql: ...

    @abstractmethod
    def tail(self, x: Sql, count: Sql | int) -> Sql: ...

    @abstractmethod
    def middle(self, x: Sql, first: int, last: int) -> Sql:
        """Without so many letters in front and behind; empty if nothing is left."""

    @abstractmethod
    def repeated(self, char: str, count: Sql | int) -> Sql: ...

    @abstractmethod
    def holds(self, x: Sql, part: str) -> Sql: ...

    @abstractmethod
    def looks_like(self, x: Sql, pattern: str) -> Sql:
        r"""Whether the whole text is of the pattern: classes, groups, quantifiers; letters beyond ASCII as \uXXXX."""

    @abstractmethod
    def replaced(self, x: Sql, pattern: str, by: str) -> Sql:
        """Each place that looks like the pattern (one letter) replaced."""

    @abstractmethod
    def without_leading(self, x: Sql, char: str) -> Sql: ...

    @abstractmethod
    def before_sign(self, x: Sql, sign: str, count: int) -> Sql:
        """What stands before the first (or second) such sign, which is there."""

    @abstractmethod
    def after_sign(self, x: Sql, sign: str) -> Sql:
        """What stands behind the only such sign."""

    @abstractmethod
    def year(self, x: Sql) -> Sql: ...

    @abstractmethod
    def date_parts(self, x: Sql, pattern: str) -> Sql:
        """A date as text; of the pattern only %Y %m %d %Q (quarter), %G %V (ISO week) are known."""

    @abstractmethod
    def before(self, day: datetime.date) -> Sql:
        """That the statement began before this day did, in UTC."""

    @abstractmethod
    def keyed(self, x: Sql, pads: tuple[Sql, Sql]) -> Sql:
        """HMAC-SHA-256 of a text, its first sixteen bytes in hexadecimal digits."""

    @abstractmethod
    def base32(self, x: Sql) -> Sql:
        """Sixteen bytes, in hexadecimal digits, as 26 letters."""

    def in_utc(self, x: Sql) -> Sql:
        """A moment that is shown in the session's time zone, as it is in UTC."""
        return f"({x} AT TIME ZONE 'UTC')"

    def number(self, value: int | float | Decimal) -> Sql:
        return f"({value:f})" if isinstance(value, Decimal) else f"({Decimal(str(value)):f})"

    def same(self, x: Sql, values: Iterable[str]) -> Sql:
        """Whether a text is one of these, letter by letter."""
        return f"{self.as_text(x)} IN ({', '.join(map(self.text, values))})"

    def case(self, branches: Iterable[tuple[Sql, Sql]], otherwise: Sql) -> Sql:
        whens = " ".join(f"WHEN {condition} THEN {value}" for condition, value in branches)
        return f"CASE {whens} ELSE {otherwise} END" if whens else otherwise

    def within(self, x: Sql, low: Sql, high: Sql, value: Sql) -> Sql:
        """The value where x lies between; missing elsewhere, as what can't be read is nobody's to see."""
        return self.case([(f"({x} >= {low} AND {x} <= {high})", value)], self.null)

    def floored(self, x: Sql, width: int, origin: int = 0) -> Sql:
        """The multiple of the width, counted from the origin, at or below a whole number."""
        from_origin = f"({x} - {origin})" if origin else x
        return f"({x} - {self.rest(from_origin, width)})"

    def rest(self, x: Sql, width: int) -> Sql:
        return f"MOD(MOD({x}, {width}) + {width}, {width})"
