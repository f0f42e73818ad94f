"""What SQLite and MariaDB share: both are spoken to through SQLAlchemy, row by row, in batches.

Values are put in columns one column at a time, so that an error can name the column and nothing else.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final

import polars as pl
from polars.exceptions import PolarsError
from sqlalchemy import Connection, create_engine, insert, inspect
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.pool import NullPool

from shoal.errors import SourceError
from shoal.io.databases.base import BATCH_ROWS, Database, NewTable
from shoal.io.databases.column_types import converted, storable, table_of
from shoal.io.databases.relations import Relation
from shoal.io.formats.detection import check_names
from shoal.io.options import IfExists

if TYPE_CHECKING:
    from sqlalchemy import URL, Table

_INSERT_ROWS: Final = 1_000


@dataclass(frozen=True)
class ColumnDecoder:
    """A column's type, and how the driver's values become values of it where they are not yet."""

    dtype: pl.DataType
    convert: Callable[[Any], object] | None = None

    def of(self, values: Sequence[object]) -> list[object]:
        convert = self.convert
        return list(values) if convert is None else [None if value is None else convert(value) for value in values]


@dataclass(frozen=True)
class Swap:
    """A filled table, and the table that it is to be; whether there is one of that name."""

    place: Table
    final: Table
    present: bool


class RowDatabase(Database):
    held: Connection | None = None
    """A session in which everything is read, so that all of it is as it was at one moment."""
    read_only: ClassVar[tuple[str, ...]]
    """Statements that make the session's transactions read-only snapshots."""
    writable: ClassVar[tuple[str, ...]] = ()
    """Statements that begin a transaction for writing."""

    @abstractmethod
    def explain(self, error: BaseException) -> str:
        """The driver's error in our words."""

    @abstractmethod
    def locator(self, *, write: bool) -> URL:
        """The address for SQLAlchemy."""

    @abstractmethod
    def plan(self, connection: Connection, relation: Relation) -> dict[str, ColumnDecoder]:
        """How each column is read, in order."""

    @abstractmethod
    def swap(self, connection: Connection, swaps: Sequence[Swap]) -> None:
        """Give the filled tables their final names, all at once, and commit; the old ones of those names go."""

    @contextmanager
    def plainly(self) -> Iterator[None]:
        try:
            yield
        except SQLAlchemyError as error:
            cause = error.orig if isinstance(error, DBAPIError) and error.orig else error
            raise self.failure(f"{self.label}: {self.explain(cause)}") from None
        except UnicodeDecodeError:  # the driver, over a name or its own message
            raise self.failure(f"{self.label}: holds names or text that are not in UTF-8") from None

    @contextmanager
    def session(self, *, write: bool) -> Iterator[Connection]:
        """A connection of its own, rolled back unless committed."""
        if self.held is not None and not write:
            with self.plainly():
                yield self.held
            return
        with self.plainly(), create_engine(self.locator(write=write), poolclass=NullPool).connect() as connection:
            for statement in self.writable if write else self.read_only:
                connection.exec_driver_sql(statement)
            yield connection

    def tables(self, connection: Connection, db_schema: str | None) -> tuple[str, ...]:
        found = inspect(connection)
        return (*found.get_table_names(schema=db_schema), *found.get_view_names(schema=db_schema))

    def names(self, db_schema: str | None = None) -> tuple[str, ...]:
        with self.session(write=False) as connection:
            return self.tables(connection, db_schema)

    def check(self, relation: Relation) -> None:
        with self.session(write=False) as connection:
            if relation.table is not None:
                self.refuse_unknown(relation.table, self.tables(connection, relation.db_schema))
            self.described(connection, relation)

    def described(self, connection: Connection, relation: Relation) -> list[Sequence[Any]]:
        """What the driver tells of the columns (PEP 249), found without reading a row."""
        result = connection.execute(relation.nothing())
        description: list[Sequence[Any]] = list(result.cursor.description) if result.cursor else []
        result.close()
        check_names([column[0] for column in description], self.label)
        return description

    def key(self, connection: Connection, relation: Relation) -> list[str]:
        if relation.table is None:
            return []
        return inspect(connection).get_pk_constraint(relation.table, schema=relation.db_schema)["constrained_columns"]

    def foreign_keys(self, relation: Relation, parent: Relation) -> list[tuple[str, str]]:
        with self.session(write=False) as connection:
            found = inspect(connection)
            if relation.table not in found.get_table_names(schema=relation.db_schema):
                return []
            return [
                pair
                for key in found.get_foreign_keys(relation.table, schema=relation.db_schema)
                if (key["referred_table"], key["referred_schema"]) == (parent.table, parent.db_schema)
                for pair in zip(key["constrained_columns"], key["referred_columns"], strict=True)
            ]

    def columns(self, relation: Relation) -> dict[str, pl.DataType]:
        with self.session(write=False) as connection:
            if relation.table is not None:
                self.refuse_unknown(relation.table, self.tables(connection, relation.db_schema))
            return {one[0]: self.declared(one) for one in self.described(connection, relation)}

    def declared(self, described: Sequence[Any]) -> pl.DataType:
        """Of a column as the driver tells of it."""
        return pl.String()

    def read(self, relation: Relation) -> Iterator[pl.DataFrame]:
        with self.session(write=False) as connection:
            plan = self.plan(connection, relation)
            yield pl.DataFrame(schema={name: reading.dtype for name, reading in plan.items()})
            statement = relation.whole(list(plan), self.key(connection, relation))
            streaming = connection.execution_options(stream_results=True, max_row_buffer=BATCH_ROWS)
            for rows in streaming.execute(statement).partitions(BATCH_ROWS):
                yield self._frame(rows, plan)

    def _frame(self, rows: Sequence[Sequence[object]], plan: dict[str, ColumnDecoder]) -> pl.DataFrame:
        columns = []
        for (name, reading), values in zip(plan.items(), zip(*rows, strict=True), strict=True):
            try:
                columns.append(pl.Series(name, reading.of(values), dtype=reading.dtype, strict=True))
            except (PolarsError, TypeError, OverflowError, ValueError):
                raise SourceError(f"{self.label}: column '{name}' holds values that are not {reading.dtype}") from None
        return pl.DataFrame(columns)

    def check_write(self, table: str, db_schema: str | None, if_exists: IfExists) -> None:
        with self.session(write=True) as connection:
            self.refuse_occupied(table, self.tables(connection, db_schema), if_exists)

    def write(self, tables: Sequence[NewTable]) -> None:
        """Rows to be appended come last, since in some databases making a table ends a transaction."""
        stored = [storable(one.frame.collect_schema(), self.kind, self.label) for one in tables]
        swaps: list[Swap] = []
        with self.session(write=True) as connection:
            try:
                appended = []
                for number, (one, schema) in enumerate(zip(tables, stored, strict=True)):
                    final = table_of(one.name, one.db_schema, schema)
                    present = one.name in self.tables(connection, one.db_schema)
                    self.refuse_occupied(one.name, (one.name,) if present else (), one.if_exists)
                    if present and one.if_exists == "append":
                        appended.append((final, one.frame, schema))
                        continue
                    aside = table_of(self.aside(connection, one.db_schema, number), one.db_schema, schema)
                    swaps.append(Swap(aside, final, present))
                    aside.drop(connection, checkfirst=True)
                    aside.create(connection)
                    _fill(connection, aside, one.frame, schema)
                for final, frame, schema in appended:
                    _fill(connection, final, frame, schema)
                self.swap(connection, swaps)
            except BaseException:
                with suppress(SQLAlchemyError):
                    connection.rollback()
                    for swap in swaps:
                        swap.place.drop(connection, checkfirst=True)
                    connection.commit()
                raise

    def aside(self, connection: Connection, db_schema: str | None, number: int) -> str:
        """A name for the table in the making that no other run uses."""
        return f"_shoal_new_{number}"


def _fill(connection: Connection, table: Table, frame: pl.LazyFrame, stored: pl.Schema) -> None:
    for batch in converted(frame, stored).collect_batches(chunk_size=BATCH_ROWS, engine="streaming"):
        for part in batch.iter_slices(_INSERT_ROWS):
            connection.execute(insert(table), part.to_dicts())
