"""PostgreSQL through ADBC: rows arrive and leave by COPY, as Arrow batches, without a Python object per cell.

Types without a counterpart (intervals, UUIDs, JSON, network addresses, arrays, enumerations …) are read as the text
that PostgreSQL shows for them. A new table is filled under another name and renamed in the same transaction; rows to be
appended go through a temporary table first, so that PostgreSQL converts them to the types of the columns.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from typing import TYPE_CHECKING, Final

import adbc_driver_postgresql.dbapi as adbc
import polars as pl
import pyarrow as pa
from sqlalchemy import func, select
from sqlalchemy.dialects.postgresql.base import PGDialect
from sqlalchemy.schema import CreateTable, DropTable

from shoal.io.databases.base import BATCH_ROWS, Database, NewTable
from shoal.io.databases.column_types import DIGITS, converted, storable, table_of
from shoal.io.databases.relations import Relation
from shoal.io.formats.detection import check_names
from shoal.io.options import IfExists

if TYPE_CHECKING:
    from sqlalchemy import Table
    from sqlalchemy.sql.elements import CompilerElement

_CONNECT_SECONDS: Final = "10"
_TEXTS: Final = ("text", "varchar", "bpchar", "name")
_NUMBERS: Final = ("bool", "int2", "int4", "int8", "float4", "float8")
_NATIVE: Final = frozenset((*_TEXTS, *_NUMBERS, "date", "timestamp", "timestamptz"))
_READING: Final = (
    "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY",
    "SET LOCAL datestyle TO 'ISO'",
    "SET LOCAL timezone TO 'UTC'",
)
"""Texts of dates and moments are the same whatever the database is set to."""
_DIALECT: Final = PGDialect(paramstyle="named")  # type: ignore[no-untyped-call]
_CALENDAR: Final = (datetime.date(1, 1, 1), datetime.date(9999, 12, 31), datetime.date(1970, 1, 2))
"""The first and the last day that Polars and Python can show, and one day after the epoch: the length of a day."""
_STATES: Final = {
    "25006": "the query would change data; only reading is allowed",
    "28000": "the database refuses this user",
    "28P01": "the database refuses the user or the password",
    "3D000": "there is no such database",
    "42501": "the user has no right to do that",
    "42601": "the query has a syntax error",
    "42703": "the query names a column that is not there",
    "42P01": "the query names a table that is not there",
    "53100": "the database has no room left on its disk",
    "57014": "the database ended the query",
    "2BP01": "other things in the database, such as views, depend on the table",
    "23502": "a value is missing where there has to be one",
    "23503": "a row refers to one that is not there",
    "23505": "a row is there already (unique key)",
    "23514": "a row breaks a rule of the table",
    "22001": "a text is too long for its column",
    "42P07": "a table of that name is there already",
}
_SIGNS: Final = {
    "password authentication failed": _STATES["28P01"],
    "no password supplied": _STATES["28P01"],
    "no pg_hba.conf entry": _STATES["28000"],
    "could not translate host name": "there is no such host",
    "connection refused": "nothing answers at that host and port",
    "timeout expired": "nothing answers at that host and port",
    "does not exist": _STATES["3D000"],
    "read-only transaction": _STATES["25006"],
    "invalid input syntax": "a value can't be read as what the query asks for",
}
"""What libpq says where there is no SQLSTATE: when no connection comes about, and among the rows."""


_DECLARED: Final[dict[str, pl.DataType]] = {
    **dict.fromkeys(("int2", "int4", "int8"), pl.Int64()),
    **dict.fromkeys(("float4", "float8", "numeric"), pl.Float64()),
    **dict.fromkeys(("timestamp", "timestamptz"), pl.Datetime("us")),
    **dict.fromkeys(("time", "timetz"), pl.Time()),
    "interval": pl.Duration(),
    "date": pl.Date(),
    "bool": pl.Boolean(),
    "bytea": pl.Binary(),
}
"""What other types hold is told by each value."""


class PostgreSQL(Database):
    kind = "postgresql"
    held: adbc.Connection | None = None
    """A session in which everything is read, so that all of it is as it was at one moment."""

    @contextmanager
    def plainly(self) -> Iterator[None]:
        try:
            yield
        except adbc.Error as error:
            raise self.failure(f"{self.label}: {_explained(error)}") from None

    def connect(self) -> adbc.Connection:
        url = self.url.set(drivername="postgresql")
        if "connect_timeout" not in url.query:
            url = url.update_query_dict({"connect_timeout": _CONNECT_SECONDS})
        return adbc.connect(url.render_as_string(hide_password=False))

    @contextmanager
    def holding(self, snapshot: str) -> Iterator[None]:
        """Everything is read as another session saw it that has exported its snapshot; row rules hide nothing unseen,
        they stop the reading.
        """
        joining = (f"SET TRANSACTION SNAPSHOT '{snapshot}'", "SET LOCAL row_security TO off")
        with self.plainly(), closing(self.connect()) as connection:
            with connection.cursor() as cursor:
                for statement in (_READING[0], *joining, *_READING[1:]):
                    cursor.execute(statement)
            self.held = connection
            try:
                yield
            finally:
                self.held = None
                with suppress(adbc.Error):
                    connection.rollback()

    @contextmanager
    def _cursor(self) -> Iterator[adbc.Cursor]:
        """A cursor in a transaction, which ends without a trace unless it is committed."""
        if self.held is not None:
            with self.plainly(), closing(self.held.cursor()) as cursor:
                yield cursor
            return
        with self.plainly():
            connection = self.connect()
            with closing(connection):
                cursor = connection.cursor()
                try:
                    yield cursor
                finally:
                    # An open result would keep the connection from being closed; a lost one must not hide the cause.
                    with suppress(adbc.Error):
                        cursor.close()
                        connection.rollback()

    def names(self, db_schema: str | None = None) -> tuple[str, ...]:
        with self._cursor() as cursor:
            return _tables(cursor, db_schema)

    def check(self, relation: Relation) -> None:
        with self._cursor() as cursor:
            self.refuse_unknown(relation.table, _tables(cursor, relation.db_schema))
            self._fields(cursor, relation)

    def columns(self, relation: Relation) -> dict[str, pl.DataType]:
        with self._cursor() as cursor:
            self.refuse_unknown(relation.table, _tables(cursor, relation.db_schema))
            return {name: _DECLARED.get(kind, pl.String()) for name, kind in self._kinds(cursor, relation).items()}

    def read(self, relation: Relation) -> Iterator[pl.DataFrame]:
        with self._cursor() as cursor:
            for statement in _READING if self.held is None else ():
                cursor.execute(statement)
            fields = self._fields(cursor, relation)
            scales = _scales(cursor, relation, fields)
            key, texts = _key(cursor, relation), [name for name, kind in fields.items() if kind not in _NATIVE]
            names = list(fields)
            cursor.execute(_sql(relation.cast_to_text(names, texts, key) if texts else relation.whole(names, key)))
            reader = cursor.fetch_record_batch()
            yield self._typed(reader.schema.empty_table(), scales)
            for batch in self._arriving(reader):
                yield self._typed(batch, scales)

    def schema(self, relation: Relation) -> pl.Schema:
        """The columns as ``read`` gives them, without reading a row."""
        with self._cursor() as cursor:
            fields = self._fields(cursor, relation)
            scales = _scales(cursor, relation, fields)
            nothing = cursor.adbc_execute_schema(_sql(relation.nothing())).empty_table()
            return self._typed(nothing, scales).schema

    def foreign_keys(self, relation: Relation, parent: Relation) -> list[tuple[str, str]]:
        with self._cursor() as cursor:
            pairs = _rows(cursor, _FOREIGN_KEYS, _full_name(relation), _full_name(parent))
            return [(str(column), str(other)) for column, other in pairs]

    def _arriving(self, reader: pa.RecordBatchReader) -> Iterator[pa.RecordBatch]:
        """Batches; an error that comes with one of them is Arrow's and has lost its SQLSTATE."""
        try:
            yield from reader
        except (pa.ArrowException, OSError) as error:
            raise self.failure(f"{self.label}: {_sign_in(error) or 'the database ended the query'}") from None

    def _fields(self, cursor: adbc.Cursor, relation: Relation) -> dict[str, str]:
        """Names of the columns and PostgreSQL's names of their types, without running anything."""
        kinds = self._kinds(cursor, relation)
        binary = [name for name, kind in kinds.items() if kind == "bytea"]
        if binary or not kinds:
            said = f"column(s) {', '.join(binary)} hold binary data" if binary else "the query gives no columns"
            raise self.failure(f"{self.label}: {said}")
        return kinds

    def _kinds(self, cursor: adbc.Cursor, relation: Relation) -> dict[str, str]:
        schema = cursor.adbc_execute_schema(_sql(relation.nothing()))
        check_names(schema.names, self.label)
        return {field.name: field.metadata[b"POSTGRESQL:type"].decode() for field in schema}

    def _typed(self, data: pa.Table | pa.RecordBatch, scales: dict[str, int]) -> pl.DataFrame:
        """A batch with decimals as numbers. What Polars has no value for (NaN, infinity, 4713 BC) is counted."""
        frame = pl.DataFrame(pl.from_arrow(data))
        numbers = [frame[name].cast(pl.Decimal(DIGITS, scale), strict=False) for name, scale in scales.items()]
        for series in numbers:
            self._refuse(series.name, series.null_count() - frame[series.name].null_count(), f"{DIGITS}-digit numbers")
        for series in frame.iter_columns():
            if isinstance(series.dtype, pl.Date | pl.Datetime):
                first, last, day = pl.Series(_CALENDAR, dtype=series.dtype).to_physical()
                inside = series.to_physical().is_between(first, last + day, closed="left")
                self._refuse(series.name, int((~inside).sum()), "dates in the years 1 to 9999")
        return frame.with_columns(numbers)

    def _refuse(self, column: str, count: int, kind: str) -> None:
        if count:
            raise self.failure(f"{self.label}: column '{column}': {count} value(s) are no {kind}")

    def check_write(self, table: str, db_schema: str | None, if_exists: IfExists) -> None:
        with self._cursor() as cursor:
            self.refuse_occupied(table, _tables(cursor, db_schema), if_exists)

    def write(self, tables: Sequence[NewTable]) -> None:
        stored = [storable(one.frame.collect_schema(), self.kind, self.label) for one in tables]
        with self._cursor() as cursor:
            # No two sessions have the same number, so no two runs meet.
            session = _rows(cursor, "SELECT pg_backend_pid()")[0][0]
            for number, (one, schema) in enumerate(zip(tables, stored, strict=True)):
                self._write(cursor, one, schema, f"_shoal_{session}_{number}")
            cursor.connection.commit()

    def _write(self, cursor: adbc.Cursor, one: NewTable, stored: pl.Schema, aside: str) -> None:
        present = one.name in _tables(cursor, one.db_schema)
        self.refuse_occupied(one.name, (one.name,) if present else (), one.if_exists)
        append = present and one.if_exists == "append"
        place = table_of(aside, None if append else one.db_schema, stored, temporary=append)
        cursor.execute(_sql(CreateTable(place)))
        for batch in converted(one.frame, stored).collect_batches(chunk_size=BATCH_ROWS, engine="streaming"):
            data = batch.to_arrow(compat_level=pl.CompatLevel.oldest())
            cursor.adbc_ingest(aside, data, mode="append", db_schema_name=place.schema, temporary=append)
        final = table_of(one.name, one.db_schema, stored)
        if append:
            self._append(cursor, place, final)
        else:
            self._rename(cursor, place, final)

    def _append(self, cursor: adbc.Cursor, place: Table, final: Table) -> None:
        names = _DIALECT.identifier_preparer
        target = names.format_table(final)
        types = {str(name): str(kind) for name, kind in _rows(cursor, _COLUMN_TYPES, target)}
        missing = [column.name for column in final.columns if column.name not in types]
        if missing:
            raise self.failure(f"{self.label}: the table has no column(s) {', '.join(missing)}")
        columns = {names.quote(column.name): types[column.name] for column in final.columns}
        values = ", ".join(f"CAST({name} AS {kind})" for name, kind in columns.items())
        # Every name is quoted and every type is as PostgreSQL itself spells it.
        cursor.execute(f"INSERT INTO {target} ({', '.join(columns)}) SELECT {values} FROM {names.format_table(place)}")  # noqa: S608

    def _rename(self, cursor: adbc.Cursor, place: Table, final: Table) -> None:
        names = _DIALECT.identifier_preparer
        cursor.execute(_sql(DropTable(final, if_exists=True)))
        cursor.execute(f"ALTER TABLE {names.format_table(place)} RENAME TO {names.quote(final.name)}")


DATABASE = PostgreSQL

_TABLES: Final = """
SELECT relation.relname::text FROM pg_catalog.pg_class AS relation
JOIN pg_catalog.pg_namespace AS place ON place.oid = relation.relnamespace
WHERE relation.relkind IN ('r', 'v', 'm', 'p', 'f')
AND place.nspname = ANY(CASE WHEN $1 = '' THEN pg_catalog.current_schemas(false) ELSE ARRAY[$1]::name[] END)
"""
_KEY: Final = """
SELECT part.attname::text FROM pg_catalog.pg_index AS key
JOIN pg_catalog.pg_attribute AS part ON part.attrelid = key.indrelid AND part.attnum = ANY(key.indkey)
WHERE key.indisprimary AND key.indrelid = pg_catalog.to_regclass($1)
ORDER BY pg_catalog.array_position(key.indkey::int2[], part.attnum)
"""
_FOREIGN_KEYS: Final = """
SELECT own.attname::text, other.attname::text FROM pg_catalog.pg_constraint AS key
CROSS JOIN LATERAL unnest(key.conkey, key.confkey) AS pair(own, other)
JOIN pg_catalog.pg_attribute AS own ON own.attrelid = key.conrelid AND own.attnum = pair.own
JOIN pg_catalog.pg_attribute AS other ON other.attrelid = key.confrelid AND other.attnum = pair.other
WHERE key.contype = 'f' AND key.conrelid = pg_catalog.to_regclass($1) AND key.confrelid = pg_catalog.to_regclass($2)
ORDER BY key.conname, own.attnum
"""
_COLUMN_TYPES: Final = """
SELECT attname::text, pg_catalog.format_type(atttypid, atttypmod) FROM pg_catalog.pg_attribute
WHERE attrelid = pg_catalog.to_regclass($1) AND attnum > 0 AND NOT attisdropped
"""


def _tables(cursor: adbc.Cursor, db_schema: str | None) -> tuple[str, ...]:
    return tuple(str(name) for (name,) in _rows(cursor, _TABLES, db_schema or ""))


def _key(cursor: adbc.Cursor, relation: Relation) -> list[str]:
    """The columns of a table's primary key, in its order."""
    if relation.table is None:
        return []
    return [str(part) for (part,) in _rows(cursor, _KEY, _full_name(relation))]


def _full_name(relation: Relation) -> str:
    """The table's name as PostgreSQL reads it."""
    return _DIALECT.identifier_preparer.format_table(table_of(relation.table or "", relation.db_schema, pl.Schema()))


def _scales(cursor: adbc.Cursor, relation: Relation, fields: dict[str, str]) -> dict[str, int]:
    """How many digits after the point each decimal column has at most."""
    numeric = [name for name, kind in fields.items() if kind == "numeric"]
    if not numeric:
        return {}
    clause = relation.clause(fields)
    widest = select(*(func.max(func.scale(clause.c[name])).label(name) for name in numeric)).select_from(clause)
    (row,) = _rows(cursor, _sql(widest))
    return {name: int(str(scale or 0)) for name, scale in zip(numeric, row, strict=True)}


def _rows(cursor: adbc.Cursor, statement: str, *parameters: str) -> list[tuple[object, ...]]:
    cursor.execute(statement, parameters or None)
    return [tuple(row) for row in cursor.fetchall()]


def _sql(element: CompilerElement) -> str:
    return str(element.compile(dialect=_DIALECT, compile_kwargs={"literal_binds": True}))


def in_our_words(state: str | None) -> str | None:
    """What a SQLSTATE means; None where there is none."""
    return None if state is None else _STATES.get(state, f"the database answers with an error (SQLSTATE {state})")


def _explained(error: adbc.Error) -> str:
    if error.sqlstate in _STATES:
        return _STATES[error.sqlstate]
    if error.sqlstate is None:
        return _sign_in(error) or "no connection comes about"
    return f"the database answers with an error (SQLSTATE {error.sqlstate})"


def _sign_in(error: BaseException) -> str | None:
    return next((words for sign, words in _SIGNS.items() if sign in str(error).lower()), None)
