"""Databases: a table or a query read once in one snapshot, a table written in one transaction.

What is promised: both passes see the same rows in the same order, because the first ``scan`` copies them into a spool
(see ``spool``). A table with a primary key is read in its order, so that a run with a seed can be repeated; a query is
read in the order that it states itself. Reading happens in a read-only transaction.

No error shows what the database says: such texts quote values and addresses. Known causes are put in our words, others
keep their number only.
"""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, ClassVar, Final, Self

import polars as pl

from shoal.errors import InputError, SourceError, TargetError, install_advice
from shoal.io.databases.spool import Spool
from shoal.io.options import Address, DatabaseOptions, DatabaseTargetOptions, IfExists, parse_source
from shoal.schema.registry import did_you_mean

if TYPE_CHECKING:
    from sqlalchemy import URL

    from shoal.io.databases.relations import Relation

BATCH_ROWS: Final = 50_000
_KINDS: Final = {"sqlite": "SQLite", "postgresql": "PostgreSQL", "mysql": "MariaDB"}
_MODULES: Final = {
    "sqlite": "shoal.io.databases.sqlite",
    "postgresql": "shoal.io.databases.postgresql",
    "mysql": "shoal.io.databases.mariadb",
}


@dataclass(frozen=True)
class NewTable:
    """A table to be written."""

    frame: pl.LazyFrame
    name: str
    db_schema: str | None
    if_exists: IfExists


class Database(ABC):
    """One kind of database. Its errors are of the class ``failure`` and say nothing that the database said."""

    kind: ClassVar[str]

    def __init__(self, url: URL, label: str, failure: type[InputError]) -> None:
        self.url = url
        self.label = label
        self.failure = failure

    @abstractmethod
    def plainly(self) -> AbstractContextManager[None]:
        """Errors of the driver inside become errors of ours."""

    @abstractmethod
    def check(self, relation: Relation) -> None:
        """That the database can be reached and the relation be read, without reading it."""

    @abstractmethod
    def columns(self, relation: Relation) -> dict[str, pl.DataType]:
        """Each column by its name, as what the database declares it; text where values have kinds of their own."""

    @abstractmethod
    def read(self, relation: Relation) -> Iterator[pl.DataFrame]:
        """All rows, in batches, in one read-only snapshot. The first frame may be empty and tells the columns."""

    @abstractmethod
    def names(self, db_schema: str | None = None) -> tuple[str, ...]:
        """The tables and views that can be read."""

    @abstractmethod
    def foreign_keys(self, relation: Relation, parent: Relation) -> list[tuple[str, str]]:
        """Which columns of the one table refer to which of the other, by the constraints that the database holds."""

    @abstractmethod
    def check_write(self, table: str, db_schema: str | None, if_exists: IfExists) -> None:
        """That the table is not there, or may be replaced or appended to."""

    @abstractmethod
    def write(self, tables: Sequence[NewTable]) -> None:
        """All rows of all tables, or none."""

    def labelled(self, label: str) -> Self:
        """The same database under another label."""
        return type(self)(self.url, label, self.failure)

    def refuse_unknown(self, table: str | None, known: tuple[str, ...]) -> None:
        if table is not None and table not in known:
            raise self.failure(f"{self.label}: there is no table '{table}'{did_you_mean(table, known)}")

    def refuse_occupied(self, table: str, known: tuple[str, ...], if_exists: IfExists) -> None:
        if table in known and if_exists == "fail":
            raise self.failure(f"{self.label}: the table exists already", advice="if_exists: replace, or append")


@dataclass(frozen=True)
class DatabaseSource:
    label: str
    database: Database = field(repr=False)
    relation: Relation = field(repr=False)
    _spools: list[Spool] = field(default_factory=list, repr=False, compare=False)
    _filling: Lock = field(default_factory=Lock, repr=False, compare=False)

    def scan(self) -> pl.LazyFrame:
        """The first call reads the database."""
        with self._filling:
            if not self._spools:
                spool = Spool(self.database.read(self.relation), self.label)
                if not spool.rows:
                    raise SourceError(f"{self.label}: there are no records")
                self._spools.append(spool)
            return self._spools[0].scan()

    def refers_to(self, other: object) -> list[tuple[str, str]]:
        """Columns of this table and the columns of another one that they refer to; nothing if that is elsewhere."""
        if not isinstance(other, DatabaseSource) or other.database.url != self.database.url:
            return []
        if self.relation.table is None or other.relation.table is None:
            return []
        return self.database.foreign_keys(self.relation, other.relation)


@dataclass(frozen=True)
class DatabaseTarget:
    label: str
    table: str
    db_schema: str | None
    if_exists: IfExists
    database: Database = field(repr=False)

    def write(self, frame: pl.LazyFrame) -> None:
        self.database.write([self.new_table(frame)])

    def new_table(self, frame: pl.LazyFrame) -> NewTable:
        return NewTable(frame, self.table, self.db_schema, self.if_exists)


def write_in_databases(given: Sequence[tuple[DatabaseTarget, pl.LazyFrame]]) -> None:
    """In each database all tables appear together, or none does."""
    together: dict[URL, list[tuple[DatabaseTarget, NewTable]]] = {}
    for target, frame in given:
        together.setdefault(target.database.url, []).append((target, target.new_table(frame)))
    for writings in together.values():
        first = writings[0][0]
        label = first.label if len(writings) == 1 else first.label.rpartition("#")[0]
        first.database.labelled(label).write([table for _, table in writings])


def open_database(options: DatabaseOptions, base: Path | None) -> DatabaseSource:
    database = connected(options, options.label, SourceError, base)
    from shoal.io.databases.relations import Relation

    relation = Relation(options.table, options.db_schema, options.query)
    database.check(relation)
    return DatabaseSource(options.label, database, relation)


def declared_columns(options: DatabaseOptions, base: Path | None) -> dict[str, pl.DataType]:
    """Each column of a table or query by its name, as it is declared: no row is read."""
    from shoal.io.databases.relations import Relation

    database = connected(options, options.label, SourceError, base)
    return database.columns(Relation(options.table, options.db_schema, options.query))


def address_of(url: str) -> Address:
    """The address of a whole database, checked."""
    try:
        options = parse_source({"url": url, "table": "any"})
    except ValueError as error:
        raise InputError(str(error).removeprefix("url: ")) from None
    return Address.model_validate({"url": options.url} if isinstance(options, DatabaseOptions) else {"url": url})


def tables_in(address: Address, *, db_schema: str | None = None, base: Path | None = None) -> tuple[str, ...]:
    """The names of the tables and views of a whole database."""
    return connected(address, address.place, SourceError, base).names(db_schema)


def open_database_target(options: DatabaseTargetOptions, base: Path | None) -> DatabaseTarget:
    database = connected(options, options.label, TargetError, base)
    database.check_write(options.table, options.db_schema, options.if_exists)
    return DatabaseTarget(options.label, options.table, options.db_schema, options.if_exists, database)


def connected(address: Address, label: str, failure: type[InputError], base: Path | None = None) -> Database:
    """A database that has not been spoken to yet."""
    try:
        from sqlalchemy.engine import make_url

        module = importlib.import_module(_MODULES[address.kind])
    except ModuleNotFoundError as error:
        said = f"{label}: {_KINDS[address.kind]} needs the package {error.name}"
        raise failure(said, advice=install_advice("db")) from None
    try:
        url = make_url(address.resolved())
    except KeyError as error:
        raise failure(f"{label}: the environment variable {error.args[0]} is not set") from None
    if address.kind == "sqlite" and url.database:
        url = url.set(database=str((base or Path()) / url.database))
    database: Database = module.DATABASE(url, label, failure)
    return database
