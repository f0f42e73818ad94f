"""PostgreSQL. Functions bear their schema, so that nobody's search path leads to others of their name."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import Final

from shoal.live.sql.words import Sql, SqlWords
from shoal.pseudonyms.base32_alphabet import ALPHABET

_PARTS: Final = {"%Y": "YYYY", "%m": "MM", "%d": "DD", "%Q": "Q", "%G": "IYYY", "%V": "IW"}


class PostgreSQLWords(SqlWords):
    def name(self, *parts: str) -> Sql:
        return ".".join('"' + part.replace('"', '""') + '"' for part in parts)

    def text(self, value: str) -> Sql:
        quoted = value.replace("'", "''")
        return f"E'{quoted.replace(chr(92), chr(92) * 2)}'" if "\\" in value else f"'{quoted}'"

    def day(self, value: datetime.date) -> Sql:
        return f"DATE '{value.isoformat()}'"

    def moment(self, value: datetime.date) -> Sql:
        return f"TIMESTAMP '{value.isoformat()} 00:00:00'"

    def is_day(self, x: Sql) -> Sql:
        return f"({x} >= DATE '0001-01-01' AND {x} < DATE '10000-01-01')"

    def finite(self, x: Sql, value: Sql) -> Sql:
        return self.within(f"({x})::float8", "(-1.7976931348623157e308)", "1.7976931348623157e308", value)

    def as_text(self, x: Sql) -> Sql:
        return f'({x})::text COLLATE "C"'

    def as_float(self, x: Sql) -> Sql:
        return f"({x})::float8"

    def as_whole(self, x: Sql) -> Sql:
        return f"({x})::int8"

    def units(self, x: Sql, digits: int, *, cut: bool) -> Sql:
        scaled = f"({x})::numeric * {10**digits}" if digits else f"({x})::numeric"
        return f"pg_catalog.{'floor' if cut else 'round'}({scaled})::int8"

    def decimal(self, x: Sql, unit_digits: int, shown: int) -> Sql:
        if not unit_digits:
            return f"({x})::text"
        return f"pg_catalog.round(({x}) * {10**-unit_digits:.{unit_digits}f}, {shown})::text"

    def joined(self, parts: Sequence[Sql]) -> Sql:
        return f"({' || '.join(parts)})"

    def length(self, x: Sql) -> Sql:
        return f"pg_catalog.char_length({x})"

    def head(self, x: Sql, count: Sql | int) -> Sql:
        return f"pg_catalog.left({x}, {count})"

    def tail(self, x: Sql, count: Sql | int) -> Sql:
        return f"pg_catalog.right({x}, {count})"

    def middle(self, x: Sql, first: int, last: int) -> Sql:
        behind = f"pg_catalog.substr({x}, {first + 1})" if first else x
        return f"pg_catalog.left({behind}, {-last})" if last else behind

    def repeated(self, char: str, count: Sql | int) -> Sql:
        return self.text(char * count) if isinstance(count, int) else f"pg_catalog.repeat({self.text(char)}, {count})"

    def holds(self, x: Sql, part: str) -> Sql:
        return f"pg_catalog.strpos({x}, {self.text(part)}) > 0"

    def looks_like(self, x: Sql, pattern: str) -> Sql:
        return f'({x}) COLLATE "C" ~ {self.text(f"^(?:{pattern})$")}'

    def replaced(self, x: Sql, pattern: str, by: str) -> Sql:
        symbol = by.replace("\\", "\\\\")
        return f"pg_catalog.regexp_replace(({x}) COLLATE \"C\", {self.text(pattern)}, {self.text(symbol)}, 'g')"

    def without_leading(self, x: Sql, char: str) -> Sql:
        return f"pg_catalog.ltrim({x}, {self.text(char)})"

    def before_sign(self, x: Sql, sign: str, count: int) -> Sql:
        parts = (f"pg_catalog.split_part({x}, {self.text(sign)}, {place + 1})" for place in range(count))
        return f" || {self.text(sign)} || ".join(parts)

    def after_sign(self, x: Sql, sign: str) -> Sql:
        return f"pg_catalog.split_part({x}, {self.text(sign)}, 2)"

    def year(self, x: Sql) -> Sql:
        return f"pg_catalog.date_part('year', ({x})::timestamp)::int"

    def date_parts(self, x: Sql, pattern: str) -> Sql:
        for part, written in _PARTS.items():
            pattern = pattern.replace(part, f'"{written}"')
        quoted = '"' + pattern + '"'
        return f"pg_catalog.to_char(({x})::timestamp, {self.text(quoted.replace(chr(34) * 2, ''))})"

    def before(self, day: datetime.date) -> Sql:
        return f"pg_catalog.statement_timestamp() < TIMESTAMPTZ '{day.isoformat()} 00:00:00+00'"

    def keyed(self, x: Sql, pads: tuple[Sql, Sql]) -> Sql:
        inner, outer = pads
        first = f"pg_catalog.sha256({inner} || pg_catalog.convert_to({x}, 'UTF8'))"
        return f"pg_catalog.left(pg_catalog.encode(pg_catalog.sha256({outer} || {first}), 'hex'), 32)"

    def base32(self, x: Sql) -> Sql:
        """OFFSET keeps the digest from being computed once for each letter."""
        letters = (
            f"pg_catalog.substr('{ALPHABET}', pg_catalog.substring(d.bits, {5 * place + 1}, 5)::int + 1, 1)"
            for place in range(26)
        )
        bits = f"(SELECT B'00' || ('x' || {x})::bit(128) AS bits OFFSET 0) AS d"
        return f"(SELECT {' || '.join(letters)} FROM {bits})"  # noqa: S608  # its own words and a column's name
