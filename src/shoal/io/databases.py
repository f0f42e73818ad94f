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
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, ClassVar, Final

import polars as pl

from shoal.errors import InputError, SourceError, TargetError
from shoal.io.options import Address, DatabaseOptions, DatabaseTargetOptions, IfExists
from shoal.io.spool import Spool
from shoal.schema.registry import did_you_mean

if TYPE_CHECKING:
    from sqlalchemy import URL

    from shoal.io.relations import Relation

BATCH_ROWS: Final = 50_000
_KINDS: Final = {"sqlite": "SQLite", "postgresql": "PostgreSQL", "mysql": "MariaDB"}
_MODULES: Final = {"sqlite": "shoal.io.sqlite", "postgresql": "shoal.io.postgresql", "mysql": "shoal.io.mariadb"}


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
    def read(self, relation: Relation) -> Iterator[pl.DataFrame]:
        """All rows, in batches, in one read-only snapshot. The first frame may be empty and tells the columns."""

    @abstractmethod
    def check_write(self, table: str, db_schema: str | None, if_exists: IfExists) -> None:
        """That the table is not there, or may be replaced or appended to."""

    @abstractmethod
    def write(self, frame: pl.LazyFrame, table: str, db_schema: str | None, if_exists: IfExists) -> None:
        """All rows or none."""

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


@dataclass(frozen=True)
class DatabaseTarget:
    label: str
    table: str
    db_schema: str | None
    if_exists: IfExists
    database: Database = field(repr=False)

    def write(self, frame: pl.LazyFrame) -> None:
        self.database.write(frame, self.table, self.db_schema, self.if_exists)


def open_database(options: DatabaseOptions, base: Path | None) -> DatabaseSource:
    database = _connected(options, options.label, SourceError, base)
    from shoal.io.relations import Relation

    relation = Relation(options.table, options.db_schema, options.query)
    database.check(relation)
    return DatabaseSource(options.label, database, relation)


def open_database_target(options: DatabaseTargetOptions, base: Path | None) -> DatabaseTarget:
    database = _connected(options, options.label, TargetError, base)
    database.check_write(options.table, options.db_schema, options.if_exists)
    return DatabaseTarget(options.label, options.table, options.db_schema, options.if_exists, database)


def _connected(address: Address, label: str, failure: type[InputError], base: Path | None) -> Database:
    try:
        from sqlalchemy.engine import make_url

        module = importlib.import_module(_MODULES[address.kind])
    except ModuleNotFoundError as error:
        advice = "pip install 'shoal[db]'"
        raise failure(f"{label}: {_KINDS[address.kind]} needs the package {error.name}", advice=advice) from None
    try:
        url = make_url(address.resolved())
    except KeyError as error:
        raise failure(f"{label}: the environment variable {error.args[0]} is not set") from None
    if address.kind == "sqlite" and url.database:
        url = url.set(database=str((base or Path()) / url.database))
    database: Database = module.DATABASE(url, label, failure)
    return database
