"""MariaDB. What a session may set (SQL mode, flags of regular expressions, clock, precision) changes nothing."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import Final

from shoal.live.sql.words import Sql, SqlWords

_LETTERS: Final = "_utf8mb4"
_EXACT: Final = "COLLATE utf8mb4_nopad_bin"
_PARTS: Final = {"%G": "%x", "%V": "%v"}
_LETTER_MOVES: Final = tuple(zip("VUTSRQPONMLKJI", "ZYXWVTSRQPNMKJ", strict=True))
"""From the digits of CONV to the letters of the pseudonyms, the last first, so that none is moved twice."""


class MariaDBWords(SqlWords):
    def name(self, *parts: str) -> Sql:
        return ".".join("`" + part.replace("`", "``") + "`" for part in parts)

    def text(self, value: str) -> Sql:
        return (
            f"{_LETTERS} X'{value.encode().hex()}' {_EXACT}" if not _plain(value) else f"{_LETTERS} '{value}' {_EXACT}"
        )

    def day(self, value: datetime.date) -> Sql:
        return f"DATE '{value.isoformat()}'"

    def moment(self, value: datetime.date) -> Sql:
        return f"CAST('{value.isoformat()} 00:00:00' AS DATETIME(6))"

    def is_day(self, x: Sql) -> Sql:
        """A server in a lenient mode holds days and months of nought."""
        return f"({x} >= DATE '0001-01-01' AND MONTH({x}) > 0 AND DAYOFMONTH({x}) > 0)"

    def finite(self, x: Sql, value: Sql) -> Sql:
        return value

    def as_text(self, x: Sql) -> Sql:
        return f"CONVERT({x} USING utf8mb4) {_EXACT}"

    def as_float(self, x: Sql) -> Sql:
        return f"CAST({x} AS DOUBLE)"

    def as_whole(self, x: Sql) -> Sql:
        return f"CAST({x} AS SIGNED)"

    def units(self, x: Sql, digits: int, *, cut: bool) -> Sql:
        exact = f"CAST({x} AS DECIMAL(38, 15))" if cut else f"CAST({x} AS DECIMAL(38, {digits}))"
        return f"CAST({'FLOOR' if cut else 'ROUND'}({exact} * {10**digits}) AS SIGNED)"

    def decimal(self, x: Sql, unit_digits: int, shown: int) -> Sql:
        if not unit_digits:
            return self.as_text(f"CAST({x} AS CHAR)")
        unit = f"{10**-unit_digits:.{unit_digits}f}"
        return self.as_text(f"CAST(CAST(({x}) * {unit} AS DECIMAL(38, {shown})) AS CHAR)")

    def joined(self, parts: Sequence[Sql]) -> Sql:
        return f"CONCAT({', '.join(parts)})"

    def length(self, x: Sql) -> Sql:
        return f"CHAR_LENGTH({x})"

    def head(self, x: Sql, count: Sql | int) -> Sql:
        if isinstance(count, int) and count < 0:
            return f"LEFT({x}, GREATEST(CHAR_LENGTH({x}) - {-count}, 0))"
        return f"LEFT({x}, {count})"

    def tail(self, x: Sql, count: Sql | int) -> Sql:
        if isinstance(count, int) and count < 0:
            return f"RIGHT({x}, GREATEST(CHAR_LENGTH({x}) - {-count}, 0))"
        return f"RIGHT({x}, {count})"

    def middle(self, x: Sql, first: int, last: int) -> Sql:
        return f"SUBSTRING({x}, {first + 1}, GREATEST(CHAR_LENGTH({x}) - {first + last}, 0))"

    def repeated(self, char: str, count: Sql | int) -> Sql:
        return self.text(char * count) if isinstance(count, int) else f"REPEAT({self.text(char)}, {count})"

    def holds(self, x: Sql, part: str) -> Sql:
        return f"INSTR({x}, {self.text(part)}) > 0"

    def looks_like(self, x: Sql, pattern: str) -> Sql:
        whole = _own_flags(rf"\A(?:{pattern})\z")
        return f"({x} REGEXP {self.text(whole)})"

    def replaced(self, x: Sql, pattern: str, by: str) -> Sql:
        return f"REGEXP_REPLACE({x}, {self.text(_own_flags(pattern))}, {self.text(by.replace(chr(92), chr(92) * 2))})"

    def without_leading(self, x: Sql, char: str) -> Sql:
        return f"TRIM(LEADING {self.text(char)} FROM {x})"

    def before_sign(self, x: Sql, sign: str, count: int) -> Sql:
        return f"SUBSTRING_INDEX({x}, {self.text(sign)}, {count})"

    def after_sign(self, x: Sql, sign: str) -> Sql:
        return f"SUBSTRING_INDEX({x}, {self.text(sign)}, -1)"

    def year(self, x: Sql) -> Sql:
        return f"YEAR({x})"

    def date_parts(self, x: Sql, pattern: str) -> Sql:
        for part, written in _PARTS.items():
            pattern = pattern.replace(part, written)
        first, quarter, last = pattern.partition("%Q")
        written = self.as_text(f"DATE_FORMAT({x}, {self.text(first)})")
        return self.joined([written, f"QUARTER({x})", self.text(last)]) if quarter else written

    def before(self, day: datetime.date) -> Sql:
        """``SYSDATE`` is the clock; ``NOW`` is whatever a session has set its time stamp to."""
        moment = datetime.datetime.combine(day, datetime.time(), datetime.UTC)
        return f"UNIX_TIMESTAMP(SYSDATE()) < {int(moment.timestamp())}"

    def keyed(self, x: Sql, pads: tuple[Sql, Sql]) -> Sql:
        inner, outer = pads
        first = f"UNHEX(SHA2(CONCAT({inner}, CAST({x} AS BINARY)), 256))"
        return f"LEFT(SHA2(CONCAT({outer}, {first}), 256), 32)"

    def base32(self, x: Sql) -> Sql:
        """CONV works on 64 bits: eight and two times sixty of them, as 2, 12 and 12 letters."""
        parts = ((1, 2, 2), (3, 15, 12), (18, 15, 12))
        letters = (f"LPAD(CONV(SUBSTRING({x}, {start}, {size}), 16, 32), {width}, '0')" for start, size, width in parts)
        written = self.as_text(self.joined(list(letters)))
        for digit, letter in _LETTER_MOVES:
            written = f"REPLACE({written}, '{digit}', '{letter}')"
        return written


def _plain(value: str) -> bool:
    return value.isascii() and value.isprintable() and not set(value) & {"'", "\\", '"'}


def _own_flags(pattern: str) -> str:
    """Whatever ``default_regex_flags`` says."""
    return "(?-imsx)" + "".join(
        f"\\x{{{part[:4]}}}{part[4:]}" if place else part for place, part in enumerate(pattern.split("\\u"))
    )
