"""SQLite: a file. It is opened read-only for reading, and never created by mistake.

SQLite stores a kind with every value, whatever the column was declared as. So the kinds that really occur are counted
first: whole numbers, or numbers, or text; a column with several kinds is read as text. What is declared as BOOLEAN,
DATE or DATETIME is read as such where every value fits.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import thread_time
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

import polars as pl
from sqlalchemy import Boolean, Connection, Date, DateTime, Integer, Numeric, func, inspect, literal, select
from sqlalchemy.schema import DropTable
from sqlalchemy.types import TypeEngine

from shoal.io.databases.relations import Relation
from shoal.io.databases.row_database import ColumnDecoder, RowDatabase, Swap
from shoal.io.options import IfExists
from shoal.sandbox import TABLES
from shoal.sandbox.limits import SECONDS_VARIABLE

if TYPE_CHECKING:
    from sqlalchemy import URL, ColumnElement, FromClause

_LIMIT_LENGTH: Final = 0
"""The number by which SQLite knows the limit of a value's length."""
_LONGEST_VALUE: Final = 1 << 26
_STEPS: Final = 1_000_000
_SIGNS: Final = {
    "no such table": "the query names a table that is not there",
    "no such column": "the query names a column that is not there",
    "syntax error": "the query has a syntax error",
    "incomplete input": "the query has a syntax error",
    "not a database": "is not a SQLite database, or is encrypted",
    "unable to open": "there is no such database file, or no right to open it",
    "locked": "another program is writing to the database",
    "readonly": "the query would change data, or there is no right to write",
    "read-only": "the query would change data, or there is no right to write",
    "interrupted": f"takes too long to be read for its size; if you trust it, {SECONDS_VARIABLE} allows more",
    "too big": f"holds a value of more than {_LONGEST_VALUE >> 20} MB",
    "malformed": "is a damaged SQLite database",
    "decode to utf-8": "holds text that is not in UTF-8",
    "disk is full": "there is no room left on the disk",
    "unique constraint": "a row is there already (unique key)",
    "no column named": "the table does not have all of the columns",
}


class SQLite(RowDatabase):
    kind = "sqlite"
    read_only = ("PRAGMA query_only = ON", "PRAGMA trusted_schema = OFF", "PRAGMA cell_size_check = ON", "BEGIN")
    writable = ("BEGIN IMMEDIATE",)

    def explain(self, error: BaseException) -> str:
        text = str(error).lower()
        return next((said for sign, said in _SIGNS.items() if sign in text), "the database answers with an error")

    @contextmanager
    def session(self, *, write: bool) -> Iterator[Connection]:
        """A view in a file from others may never end, or make values of any size: reading has limits."""
        with super().session(write=write) as connection:
            driver = connection.connection.driver_connection
            if not write and driver is not None:
                allowed = thread_time() + TABLES.scaled(self._path().stat().st_size).seconds
                driver.setlimit(_LIMIT_LENGTH, _LONGEST_VALUE)
                driver.set_progress_handler(lambda: int(thread_time() > allowed), _STEPS)
            yield connection

    def locator(self, *, write: bool) -> URL:
        path = self._path()
        if not write and not path.is_file():
            raise self.failure(f"{self.label}: there is no such database file")
        return self.url.set(
            drivername="sqlite+pysqlite",
            database=f"file:{quote(str(path))}",
            query={**self.url.query, "mode": "rwc" if write else "ro", "uri": "true"},
        )

    def check_write(self, table: str, db_schema: str | None, if_exists: IfExists) -> None:
        if self._path().exists():
            super().check_write(table, db_schema, if_exists)
        elif not self._path().parent.is_dir():
            raise self.failure(f"{self.label}: there is no folder for the database file")

    def _path(self) -> Path:
        if not self.url.database:
            raise self.failure(f"{self.label}: a database file is needed, as in sqlite:///FILE")
        return Path(self.url.database)

    def plan(self, connection: Connection, relation: Relation) -> dict[str, ColumnDecoder]:
        names = [column[0] for column in self.described(connection, relation)]
        clause = relation.clause(names)
        kinds = _kinds(connection, clause, names)
        binary = [name for name in names if "blob" in kinds[name]]
        if binary:
            raise self.failure(f"{self.label}: column(s) {', '.join(binary)} hold binary data")
        declared = _declared(connection, relation)
        wished = {name: _special(kinds[name], declared.get(name)) for name in names}
        fitting = _fitting(connection, clause, {name: reading for name, reading in wished.items() if reading})
        return {name: fitting.get(name) or _plain(kinds[name]) for name in names}

    def described(self, connection: Connection, relation: Relation) -> list[Sequence[Any]]:
        """SQLite renames the second ``a`` of a query to ``a:1``; that is refused as what it is."""
        description = super().described(connection, relation)
        names = {column[0] for column in description}
        doubled = [name for name in names if relation.query and name.rpartition(":")[0] in names]
        if doubled:
            raise self.failure(f"{self.label}: {len(doubled)} column(s) have a name that another has")
        return description

    def swap(self, connection: Connection, swaps: Sequence[Swap]) -> None:
        names = connection.dialect.identifier_preparer
        for one in swaps:
            if one.present:
                connection.execute(DropTable(one.final))
            new, name = names.format_table(one.place), names.quote(one.final.name)
            connection.exec_driver_sql(f"ALTER TABLE {new} RENAME TO {name}")
        connection.commit()


DATABASE = SQLite

_TRUTH: Final = ColumnDecoder(pl.Boolean(), bool)
_DATE: Final = ColumnDecoder(pl.Date(), datetime.date.fromisoformat)
_MOMENT: Final = ColumnDecoder(pl.Datetime("us"), datetime.datetime.fromisoformat)


def _declared(connection: Connection, relation: Relation) -> dict[str, TypeEngine[Any]]:
    if relation.table is None:
        return {}
    columns = inspect(connection).get_columns(relation.table, schema=relation.db_schema)
    return {column["name"]: column["type"] for column in columns}


def _kinds(connection: Connection, clause: FromClause, names: list[str]) -> dict[str, frozenset[str]]:
    """Which kinds of values occur in each column, beside missing ones."""
    asked = [func.group_concat(func.typeof(clause.c[name]).distinct()).label(name) for name in names]
    row = connection.execute(select(*asked).select_from(clause)).one()
    return {name: frozenset((found or "").split(",")) - {"null", ""} for name, found in zip(names, row, strict=True)}


def _plain(kinds: frozenset[str]) -> ColumnDecoder:
    if kinds == {"integer"}:
        return ColumnDecoder(pl.Int64())
    if kinds and kinds <= {"integer", "real"}:
        return ColumnDecoder(pl.Float64(), float)
    return ColumnDecoder(pl.String(), str)


def _special(kinds: frozenset[str], declared: TypeEngine[Any] | None) -> ColumnDecoder | None:
    """What the declared type adds to the kinds, if they allow it. A column without any value has nothing else."""
    if isinstance(declared, Boolean) and kinds <= {"integer"}:
        return _TRUTH
    if isinstance(declared, DateTime) and kinds <= {"text"}:
        return _MOMENT
    if isinstance(declared, Date) and kinds <= {"text"}:
        return _DATE
    if isinstance(declared, Integer | Numeric) and not kinds:
        return ColumnDecoder(pl.Int64() if isinstance(declared, Integer) else pl.Float64())
    return None


def _fitting(connection: Connection, clause: FromClause, special: dict[str, ColumnDecoder]) -> dict[str, ColumnDecoder]:
    """Those of the columns whose every value is what was declared."""
    if not special:
        return {}
    wrong = [func.max(_misfit(clause.c[name], reading)).label(name) for name, reading in special.items()]
    row = connection.execute(select(*wrong).select_from(clause)).one()
    return {name: reading for (name, reading), found in zip(special.items(), row, strict=True) if not found}


def _misfit(column: ColumnElement[Any], reading: ColumnDecoder) -> ColumnElement[Any]:
    if reading is _TRUTH:
        return column.not_in([literal(0), literal(1)])
    if reading is _MOMENT:
        return func.substr(column, 1, 19).is_distinct_from(func.datetime(column))
    if reading is _DATE:
        return column.is_distinct_from(func.date(column))
    return literal(0)
