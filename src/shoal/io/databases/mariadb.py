"""MariaDB and MySQL through PyMySQL: rows are fetched with a server-side cursor and inserted many at a time.

Here a CREATE or RENAME ends a transaction by itself. So a new table is filled under a name of its own, in one
transaction, and then takes its place in a single RENAME, which is atomic: readers see the old table or the new one,
whole. A run that is killed leaves its table behind; the next one finds that nobody holds its lock and removes it.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import polars as pl
from pymysql.constants import FIELD_TYPE
from sqlalchemy import Connection, func, literal, select
from sqlalchemy.schema import DropTable

from shoal.io.databases.column_types import DIGITS, table_of
from shoal.io.databases.relations import Relation
from shoal.io.databases.row_database import ColumnDecoder, RowDatabase, Swap

if TYPE_CHECKING:
    from sqlalchemy import URL, FromClause

_CODES: Final = {
    1044: "the user has no right to this database",
    1045: "the database refuses the user or the password",
    1049: "there is no such database",
    1054: "the query names a column that is not there",
    1060: "two columns have the same name",
    1062: "a row is there already (unique key)",
    1064: "the query has a syntax error",
    1114: "the database has no room left",
    1142: "the user has no right to do that",
    1146: "the query names a table that is not there",
    1698: "the database refuses the user or the password",
    1792: "the query would change data; only reading is allowed",
    2003: "nothing answers at that host and port",
    2013: "the connection was lost",
}
_INTEGERS: Final = (FIELD_TYPE.TINY, FIELD_TYPE.SHORT, FIELD_TYPE.LONG, FIELD_TYPE.INT24, FIELD_TYPE.LONGLONG)


def _hours(span: datetime.timedelta) -> str:
    """A TIME as MariaDB shows it; it may be negative or longer than a day.

    >>> _hours(datetime.timedelta(hours=-100, minutes=-30))
    '-100:30:00'
    """
    microseconds = abs(span) // datetime.timedelta(microseconds=1)
    seconds, rest = divmod(microseconds, 1_000_000)
    sign, fraction = "-" if span < datetime.timedelta() else "", f".{rest:06}" if rest else ""
    return f"{sign}{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}{fraction}"


_TRUTH: Final = ColumnDecoder(pl.Boolean(), bool)
_READINGS: Final[dict[int, ColumnDecoder]] = {
    **dict.fromkeys((*_INTEGERS, FIELD_TYPE.YEAR), ColumnDecoder(pl.Int64())),
    **dict.fromkeys((FIELD_TYPE.FLOAT, FIELD_TYPE.DOUBLE), ColumnDecoder(pl.Float64())),
    **dict.fromkeys((FIELD_TYPE.DATE, FIELD_TYPE.NEWDATE), ColumnDecoder(pl.Date())),
    **dict.fromkeys((FIELD_TYPE.DATETIME, FIELD_TYPE.TIMESTAMP), ColumnDecoder(pl.Datetime("us"))),
    FIELD_TYPE.TIME: ColumnDecoder(pl.String(), _hours),
    FIELD_TYPE.BIT: ColumnDecoder(pl.Int64(), lambda bits: int.from_bytes(bits, "big")),
}
_ASIDE: Final = re.compile(r"(_shoal_\d+)(_\d+)?(_old)?")


class MariaDB(RowDatabase):
    kind = "mysql"
    read_only = ("SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY",)
    writable = ("SET SESSION sql_mode = 'TRADITIONAL'",)

    def explain(self, error: BaseException) -> str:
        code = error.args[0] if error.args else 0
        return _CODES.get(code, f"the database answers with an error (number {code})")

    def locator(self, *, write: bool) -> URL:
        return self.url.set(drivername="mysql+pymysql")

    def plan(self, connection: Connection, relation: Relation) -> dict[str, ColumnDecoder]:
        described = self.described(connection, relation)
        clause = relation.clause(column[0] for column in described)
        doubtful = [c[0] for c in described if c[1] == FIELD_TYPE.TINY and c[3] == 1]
        truths = _truths(connection, clause, doubtful)
        return {c[0]: _TRUTH if c[0] in truths else _reading(c[1], c[5]) for c in described}

    def declared(self, described: Sequence[Any]) -> pl.DataType:
        return pl.Time() if described[1] == FIELD_TYPE.TIME else _reading(described[1], described[5]).dtype

    def aside(self, connection: Connection, db_schema: str | None, number: int) -> str:
        name = f"_shoal_{connection.execute(select(func.connection_id())).scalar_one()}"
        connection.execute(select(func.get_lock(name, 0)))
        for table in self.tables(connection, db_schema):
            found = _ASIDE.fullmatch(table)
            if found and connection.execute(select(func.is_free_lock(found[1]))).scalar_one():
                connection.execute(DropTable(table_of(table, db_schema, pl.Schema())))
        return f"{name}_{number}"

    def swap(self, connection: Connection, swaps: Sequence[Swap]) -> None:
        connection.commit()
        names = connection.dialect.identifier_preparer
        renames, replaced = [], []
        for one in swaps:
            new, now = names.format_table(one.place), names.format_table(one.final)
            if one.present:
                old = table_of(f"{one.place.name}_old", one.place.schema, pl.Schema())
                renames.append(f"{now} TO {names.format_table(old)}")
                replaced.append(old)
            renames.append(f"{new} TO {now}")
        if renames:
            connection.exec_driver_sql(f"RENAME TABLE {', '.join(renames)}")
        for old in replaced:
            connection.execute(DropTable(old))


DATABASE = MariaDB


def _reading(code: int, scale: int) -> ColumnDecoder:
    if code in (FIELD_TYPE.DECIMAL, FIELD_TYPE.NEWDECIMAL):
        return ColumnDecoder(pl.Decimal(DIGITS, scale))
    return _READINGS.get(code, ColumnDecoder(pl.String()))


def _truths(connection: Connection, clause: FromClause, names: list[str]) -> set[str]:
    """Which columns of the type TINYINT(1), as BOOLEAN is called here, hold truth values only."""
    if not names:
        return set()
    other = [func.max(clause.c[name].not_in([literal(0), literal(1)])).label(name) for name in names]
    row = connection.execute(select(*other).select_from(clause)).one()
    return {name for name, found in zip(names, row, strict=True) if not found}
