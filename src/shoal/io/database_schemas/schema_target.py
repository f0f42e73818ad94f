"""Where a schema is copied to: an empty schema of a database, or a file of SQL.

A table is there whole or not at all, and the target itself knows which tables are: each row of the progress table is
committed with the rows that it speaks of. So a copy that was killed goes on where it was.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Final

import polars as pl
from sqlalchemy import Connection, create_engine, inspect
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.pool import NullPool

from shoal.errors import InputError, TargetError
from shoal.io.database_schemas.catalogue import PROGRESS_TABLE, TableFacts
from shoal.io.database_schemas.row_text import copy_text
from shoal.io.database_schemas.schema_source import postgres_locator, said_by
from shoal.io.database_schemas.statements import SchemaStatements
from shoal.io.databases.base import Database, connected
from shoal.io.databases.column_types import converted, storable
from shoal.io.databases.row_database import RowDatabase
from shoal.io.options import Address

_ROWS: Final = 1_000
_MOMENT: Final = "%Y-%m-%d %H:%M:%S%.6f"
MARIADB_MODE: Final = "TRADITIONAL,NO_AUTO_VALUE_ON_ZERO"
ALL_DONE: Final = ""
"""Stands for the whole copy in the progress table."""


@dataclass(frozen=True)
class CopiedTable:
    """A table that is complete in the target."""

    rows: int
    types: Mapping[str, str]
    """Of its columns, as the target declares them."""

    def to_json(self) -> str:
        return json.dumps({"rows": self.rows, "types": dict(self.types)}, sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> CopiedTable:
        told = json.loads(text)
        return cls(int(told["rows"]), dict(told["types"]))


class SchemaTarget(ABC):
    kind: str
    label: str

    @property
    def statements(self) -> SchemaStatements:
        return SchemaStatements(self.kind)

    @abstractmethod
    def refuse_occupied(self) -> None:
        """Raises where anything is there already."""

    @abstractmethod
    def begin(self, copy: str) -> None:
        """For a copy of this name; the target is empty."""

    @abstractmethod
    def done(self, copy: str) -> dict[str, CopiedTable] | None:
        """What is complete of the copy of this name; None where nothing of it is there."""

    @abstractmethod
    def fill(self, copy: str, table: TableFacts, frame: pl.LazyFrame) -> int:
        """Create a table and put the rows in. After an error nothing of it counts."""

    @abstractmethod
    def finish(self, copy: str, tables: Sequence[TableFacts], views: Mapping[str, str]) -> dict[str, str]:
        """Keys, references, indexes, numbering, comments and views; the views that can't be made, and why."""

    @abstractmethod
    def close(self, copy: str) -> None:
        """The copy is done: only it is left."""

    @abstractmethod
    def remove(self, copy: str, tables: Sequence[str]) -> None:
        """What there is of an unfinished copy."""


class DatabaseSchemaTarget(SchemaTarget):
    """An empty schema."""

    def __init__(self, address: Address, db_schema: str | None = None) -> None:
        self.database: Database = connected(address, address.place, TargetError)
        self.label, self.kind, self.db_schema = address.place, self.database.kind, db_schema
        if db_schema is not None and self.kind != "postgresql":
            raise InputError(f"{self.label}: only PostgreSQL has schemas; name the database in its address")

    @contextmanager
    def _session(self) -> Iterator[Connection]:
        """Rolled back unless committed. Errors say nothing that the database said."""
        if isinstance(self.database, RowDatabase):
            with self.database.session(write=True) as connection:
                if self.kind == "mysql":  # else a row numbered 0 would get another number
                    run(connection, f"SET SESSION sql_mode = '{MARIADB_MODE}'")
                yield connection
            return
        try:
            with create_engine(postgres_locator(self.database), poolclass=NullPool).connect() as connection:
                if self.db_schema:
                    place = connection.dialect.identifier_preparer.quote(self.db_schema)
                    connection.exec_driver_sql(f"SET search_path TO {place}")
                    connection.commit()
                with _driver_errors(connection, self.label):
                    yield connection
        except SQLAlchemyError as error:
            cause = error.orig if isinstance(error, DBAPIError) else None
            raise TargetError(f"{self.label}: {said_by(cause)}") from None

    def refuse_occupied(self) -> None:
        with self._session() as connection:
            there = _present(connection)
        if there:
            some = ", ".join(sorted(there)[:3]) + (" …" if len(there) > 3 else "")
            raise TargetError(f"{self.label}: is not empty: {len(there)} table(s) or view(s) are there ({some})")

    def begin(self, copy: str) -> None:
        with self._session() as connection:
            if self.db_schema and self.db_schema not in inspect(connection).get_schema_names():
                raise TargetError(f"{self.label}: there is no schema '{self.db_schema}'")
            key, text = ("VARCHAR(64)", "VARCHAR(190)") if self.kind != "sqlite" else ("TEXT", "TEXT")
            names = f"copy_name {key} NOT NULL, table_name {text} NOT NULL, told TEXT NOT NULL"
            run(connection, f"CREATE TABLE {PROGRESS_TABLE} ({names})")
            connection.commit()

    def done(self, copy: str) -> dict[str, CopiedTable] | None:
        with self._session() as connection:
            if PROGRESS_TABLE not in _present(connection):
                return None
            where = f"copy_name = {self.statements.literal(copy)}"
            rows = connection.exec_driver_sql(f"SELECT table_name, told FROM {PROGRESS_TABLE} WHERE {where}").all()  # noqa: S608
            return {str(name): CopiedTable.from_json(told) for name, told in rows}

    def fill(self, copy: str, table: TableFacts, frame: pl.LazyFrame) -> int:
        stored = storable(frame.collect_schema(), self.kind, f"{self.label}#{table.name}")
        with self._session() as connection:
            if self.kind == "mysql":  # where creating a table ends a transaction
                run(connection, f"DROP TABLE IF EXISTS {self.statements.name(table.name)}")
            run(connection, self.statements.create(table))
            rows = 0
            batches = converted(frame, stored).collect_batches(maintain_order=True, engine="streaming")
            for number in self._insert(connection, table, batches):
                rows += number
            self._note(
                connection, copy, table.name, CopiedTable(rows, {one.name: one.declared for one in table.columns})
            )
            connection.commit()
        return rows

    def _insert(self, connection: Connection, table: TableFacts, batches: Iterator[pl.DataFrame]) -> Iterator[int]:
        if self.kind == "postgresql":
            yield from self._copy_in(connection, table, batches)
        else:
            yield from self._insert_rows(connection, table, batches)

    def _copy_in(self, connection: Connection, table: TableFacts, batches: Iterator[pl.DataFrame]) -> Iterator[int]:
        names = self.statements
        columns = names.names([one.name for one in table.columns])
        driver: Any = connection.connection.driver_connection
        with (
            driver.cursor() as cursor,
            cursor.copy(f"COPY {names.name(table.name)} ({columns}) FROM STDIN WITH (FREEZE)") as copy,
        ):
            for batch in batches:
                copy.write(copy_text(batch, f"{self.label}#{table.name}"))
                yield batch.height

    def _insert_rows(self, connection: Connection, table: TableFacts, batches: Iterator[pl.DataFrame]) -> Iterator[int]:
        names, sign = self.statements, "?" if self.kind == "sqlite" else "%s"
        columns = names.names([one.name for one in table.columns])
        if sign == "%s":
            columns = columns.replace("%", "%%")
        signs = ", ".join(sign for _ in table.columns)
        statement = f"INSERT INTO {names.name(table.name)} ({columns}) VALUES ({signs})"  # noqa: S608  # quoted names
        for batch in batches:
            for part in _plain(batch, self.kind).iter_slices(_ROWS):
                connection.exec_driver_sql(statement, part.rows())
            yield batch.height

    def _note(self, connection: Connection, copy: str, table: str, told: CopiedTable) -> None:
        values = ", ".join(map(self.statements.literal, (copy, table, told.to_json())))
        run(connection, f"INSERT INTO {PROGRESS_TABLE} (copy_name, table_name, told) VALUES ({values})")  # noqa: S608

    def finish(self, copy: str, tables: Sequence[TableFacts], views: Mapping[str, str]) -> dict[str, str]:
        with self._session() as connection:
            for table in tables:
                self._add_keys(connection, table)
            for table in tables:
                self._add_references(connection, table)
            for table in tables:
                for statement in (*self.statements.numbering(table), *self.statements.comments(table)):
                    run(connection, statement)
            if self.kind == "sqlite" and connection.exec_driver_sql("PRAGMA foreign_key_check").first():
                raise TargetError(f"{self.label}: a row refers to one that is not there")
            failed = self._add_views(connection, views)
            self._note(connection, copy, ALL_DONE, CopiedTable(0, {}))
            connection.commit()
        return failed

    def _add_keys(self, connection: Connection, table: TableFacts) -> None:
        there = {one["name"] for one in inspect(connection).get_indexes(table.name)} if self.kind == "mysql" else set()
        left = [one for one in table.indexes if one.name not in there]
        for statement in self.statements.keys(_with_indexes(table, left)):
            run(connection, statement)

    def _add_references(self, connection: Connection, table: TableFacts) -> None:
        """MariaDB commits each by itself, so some may be there from before."""
        there = inspect(connection).get_foreign_keys(table.name) if self.kind == "mysql" else []
        known = {(tuple(one["constrained_columns"]), one["referred_table"]) for one in there}
        for key, statement in self.statements.references(table):
            if (key.columns, key.parent) not in known:
                run(connection, statement)

    def _add_views(self, connection: Connection, views: Mapping[str, str]) -> dict[str, str]:
        """One view may read another, so those that fail are tried again while others succeed."""
        waiting, failed, progress = dict(views), dict[str, str](), True
        while waiting and progress:
            progress = False
            for name, query in list(waiting.items()):
                try:
                    with connection.begin_nested():
                        if self.kind == "mysql":
                            run(connection, f"DROP VIEW IF EXISTS {self.statements.name(name)}")
                        run(connection, f"CREATE VIEW {self.statements.name(name)} AS {query}")
                except SQLAlchemyError:
                    failed[name] = "it needs what is not copied"
                else:
                    progress = True
                    failed.pop(name, None)
                    del waiting[name]
        return failed

    def close(self, copy: str) -> None:
        with self._session() as connection:
            run(connection, f"DROP TABLE IF EXISTS {PROGRESS_TABLE}")
            connection.commit()

    def remove(self, copy: str, tables: Sequence[str]) -> None:
        if self.done(copy) is None:
            return
        with self._session() as connection:
            there = _present(connection)
            if self.kind == "mysql":
                run(connection, "SET FOREIGN_KEY_CHECKS = 0")
            for name in tables:
                if name in there:
                    cascade = " CASCADE" if self.kind == "postgresql" else ""
                    run(connection, f"DROP TABLE {self.statements.name(name)}{cascade}")
            run(connection, f"DROP TABLE {PROGRESS_TABLE}")
            connection.commit()


def run(connection: Connection, statement: str) -> None:
    """As it stands: a percent sign in it is a percent sign."""
    connection.execution_options(no_parameters=True).exec_driver_sql(statement)


@contextmanager
def _driver_errors(connection: Connection, label: str) -> Iterator[None]:
    """Of rows that go in without SQLAlchemy."""
    failure: Any = connection.dialect.loaded_dbapi.Error
    try:
        yield
    except failure as error:
        raise TargetError(f"{label}: {said_by(error)}") from None


def _present(connection: Connection) -> set[str]:
    seen = inspect(connection)
    seen.clear_cache()
    return {*seen.get_table_names(), *seen.get_view_names()}


def _with_indexes(table: TableFacts, indexes: Sequence[Any]) -> TableFacts:
    return replace(table, indexes=tuple(indexes))


def _plain(batch: pl.DataFrame, kind: str) -> pl.DataFrame:
    """SQLite has no dates and no decimals of its own: they are texts."""
    if kind != "sqlite":
        return batch
    return batch.with_columns(
        pl.col(name).dt.to_string("%Y-%m-%d %H:%M:%S%.6f")
        if isinstance(dtype, pl.Datetime)
        else pl.col(name).cast(pl.String)
        for name, dtype in batch.schema.items()
        if dtype.is_temporal() or dtype.is_decimal()
    )
