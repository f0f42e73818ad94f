"""A schema that is read table by table, all of it as it was at one moment, in batches.

What is not to be changed is read as the text that the database itself writes, and so arrives as it was, whatever its
type. The session in which the moment is held lasts as long as the reading.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

import polars as pl
import sqlalchemy as sa
from sqlalchemy import Connection, create_engine
from sqlalchemy.pool import NullPool

from shoal.errors import SourceError
from shoal.io.database_schemas.catalogue import Catalogue, TableColumn, TableFacts, is_plain_type, read_catalogue
from shoal.io.database_schemas.statements import dialect_of
from shoal.io.databases.base import Database, connected
from shoal.io.databases.relations import Relation, quoted
from shoal.io.databases.row_database import RowDatabase
from shoal.io.options import Address

_HOLDING: Final = {"mysql": ("START TRANSACTION WITH CONSISTENT SNAPSHOT",)}


@dataclass(frozen=True)
class SchemaSource:
    """``read`` may be called as often as wanted; every time the same rows come in the same order."""

    label: str
    kind: str
    catalogue: Catalogue
    database: Database = field(repr=False)

    def read(
        self, table: TableFacts, columns: Sequence[str], unchanged: Collection[str] = (), keys: Sequence[str] = ()
    ) -> Iterator[pl.DataFrame]:
        """The first frame may be empty and tells the columns. ``unchanged`` ones are read as text where that is exact;
        ``keys`` come once more as text, under the names of ``key_names``.
        """
        relation = self._relation(table, columns, unchanged, keys)
        for batch in self._database(table).read(relation):
            yield _finished(batch, table, columns, keys)

    def schema(self, table: TableFacts, unchanged: Collection[str] = ()) -> pl.Schema:
        """All columns, as they are read."""
        columns, database = [one.name for one in table.columns], self._database(table)
        relation = self._relation(table, columns, unchanged, ())
        if isinstance(database, RowDatabase):
            first = next(iter(database.read(relation)))
        else:
            first = pl.DataFrame(schema=database.schema(relation))  # type: ignore[attr-defined]
        return _finished(first, table, columns, ()).schema

    def is_empty(self, table: TableFacts) -> bool:
        clause = self._clause(table)
        one = sa.select(clause.c[table.columns[0].name].is_(None).label("one")).limit(1)
        return not any(batch.height for batch in self._database(table).read(Relation(query=self._compiled(one))))

    def _database(self, table: TableFacts) -> Database:
        database = self.database.labelled(f"{self.label}#{table.name}")
        database.held = self.database.held  # type: ignore[attr-defined]
        return database

    def _relation(
        self, table: TableFacts, columns: Sequence[str], unchanged: Collection[str], keys: Sequence[str]
    ) -> Relation:
        wanted = [table.by_name[name] for name in columns]
        texts = {one.name for one in wanted if not is_plain_type(one) or one.name in unchanged}
        return Relation(query=self._query(table, wanted, texts, keys))

    def _query(
        self, table: TableFacts, wanted: Sequence[TableColumn], texts: Collection[str], keys: Sequence[str]
    ) -> str:
        clause, order = self._clause(table), table.primary_key.columns if table.primary_key else ()
        parts = [
            self._part(clause.c[one.name], one, as_text=one.name in texts).label(quoted(one.name)) for one in wanted
        ]
        for name, column in zip(key_names(keys), keys, strict=True):
            parts.append(self._part(clause.c[column], table.by_name[column], as_text=True).label(quoted(name)))
        return self._compiled(sa.select(*parts).order_by(*(clause.c[name] for name in order)))

    def _clause(self, table: TableFacts) -> sa.TableClause:
        place = quoted(self.catalogue.db_schema) if self.catalogue.db_schema else None
        return sa.table(quoted(table.name), *(sa.column(quoted(one.name)) for one in table.columns), schema=place)

    def _compiled(self, query: sa.Select[*tuple[Any, ...]]) -> str:
        return str(query.compile(dialect=dialect_of(self.kind), compile_kwargs={"literal_binds": True}))

    def _part(self, column: sa.ColumnElement[object], facts: TableColumn, *, as_text: bool) -> sa.ColumnElement[object]:
        if facts.is_binary:
            code = sa.func.encode(column, "hex") if self.kind == "postgresql" else sa.func.hex(column)
            return sa.case((column.is_(None), sa.null()), else_=code)
        return sa.cast(column, sa.Text) if as_text and self.kind == "postgresql" else column


def key_names(keys: Sequence[str]) -> list[str]:
    return [f"shoal_key_{number}" for number in range(len(keys))]


def _finished(batch: pl.DataFrame, table: TableFacts, columns: Sequence[str], keys: Sequence[str]) -> pl.DataFrame:
    """Binary values came as hexadecimal digits; keys are texts."""
    binary = [name for name in columns if table.by_name[name].is_binary]
    decoded = [pl.col(name).cast(pl.String).str.decode("hex") for name in binary]
    return batch.with_columns(*decoded, *(pl.col(name).cast(pl.String) for name in key_names(keys)))


@contextmanager
def open_schema(address: Address, db_schema: str | None = None) -> Iterator[SchemaSource]:
    """What it is made of is read at once."""
    database = connected(address, address.place, SourceError)
    opened = _row_session(database) if isinstance(database, RowDatabase) else _exported_snapshot(database, db_schema)
    with opened as (connection, kind):
        with _plainly(database):
            catalogue = read_catalogue(connection, None if kind == "postgresql" else db_schema)
        if kind == "postgresql" and db_schema:
            catalogue = Catalogue(kind, catalogue.tables, catalogue.views, catalogue.further, db_schema)
        if not catalogue.tables:
            raise SourceError(f"{address.place}: there are no tables")
        yield SchemaSource(address.place, kind, catalogue, database)


@contextmanager
def _row_session(database: RowDatabase) -> Iterator[tuple[Connection, str]]:
    with database.session(write=False) as connection:
        for statement in _HOLDING.get(database.kind, ()):
            connection.exec_driver_sql(statement)
        database.held = connection
        try:
            yield connection, database.kind
        finally:
            database.held = None


@contextmanager
def _exported_snapshot(database: Database, db_schema: str | None) -> Iterator[tuple[Connection, str]]:
    """Another session of PostgreSQL can join a moment that one holds."""
    engine = create_engine(postgres_locator(database), poolclass=NullPool)
    with _plainly(database), engine.connect() as connection:
        connection.exec_driver_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        if db_schema:
            place = connection.dialect.identifier_preparer.quote(db_schema)
            connection.exec_driver_sql(f"SET LOCAL search_path TO {place}")
        moment = connection.exec_driver_sql("SELECT pg_export_snapshot()").scalar_one()
        with database.holding(str(moment)):  # type: ignore[attr-defined]
            yield connection, "postgresql"


def postgres_locator(database: Database) -> sa.URL:
    url = database.url.set(drivername="postgresql+psycopg")
    return url if "connect_timeout" in url.query else url.update_query_dict({"connect_timeout": "10"})


@contextmanager
def _plainly(database: Database) -> Iterator[None]:
    """What SQLAlchemy says of PostgreSQL, without what the database said."""
    from sqlalchemy.exc import DBAPIError, SQLAlchemyError

    if isinstance(database, RowDatabase):
        with database.plainly():
            yield
        return
    try:
        yield
    except SQLAlchemyError as error:
        raise database.failure(
            f"{database.label}: {said_by(error.orig if isinstance(error, DBAPIError) else None)}"
        ) from None


def said_by(error: BaseException | None) -> str:
    from shoal.io.databases.postgresql import in_our_words

    return in_our_words(getattr(error, "sqlstate", None)) or "no connection comes about, or it was lost"
