"""The studio's database, and how one of an older version is brought up to date."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

from sqlalchemy import Connection, Select, func, insert, select, update

from shoal.errors import IntegrityError, TargetError
from shoal.ledger.database import TransactionalDatabase
from shoal.randomness import random_bytes
from shoal.server.store.tables import (
    CALLER_QUESTIONS,
    DATASETS,
    DESKS,
    IDENTITIES,
    METADATA,
    SCHEMA,
    SESSIONS,
    SIGN_IN_FLOWS,
    SIGN_INS,
    TEXTS,
)

Migration = Callable[[Connection], None]


def _add_texts(connection: Connection) -> None:
    TEXTS.create(connection, checkfirst=True)


def _add_desks_identities_datasets(connection: Connection) -> None:
    for table in (DATASETS, DESKS, CALLER_QUESTIONS, IDENTITIES, SIGN_IN_FLOWS):
        table.create(connection, checkfirst=True)


def _add_sign_ins(connection: Connection) -> None:
    """With what sessions still tell."""
    SIGN_INS.create(connection, checkfirst=True)
    last = select(SESSIONS.c.account, func.max(SESSIONS.c.created)).group_by(SESSIONS.c.account)
    connection.execute(insert(SIGN_INS).from_select(["account", "last"], last))


MIGRATIONS: Final[Sequence[Migration]] = (_add_texts, _add_desks_identities_datasets, _add_sign_ins)
"""Number *n*, from 0, takes a database of version *n* + 1 to the next. Version 1 is the first that was published."""


_ONE_WRITER: Final = select(SCHEMA.c.version).with_for_update()


class StudioDatabase(TransactionalDatabase):
    kind = "studio"
    how_to_make = "shoal serve makes one"

    @property
    def begun(self) -> bool:
        """Whether there is a studio in it already."""
        if self.path is not None:
            return self.path.exists()
        with self._plainly(), self._engine.connect() as connection:
            return bool(self._engine.dialect.has_table(connection, SCHEMA.name))

    @contextmanager
    def transaction(self, lock: Select[Any] | None = None) -> Iterator[Connection]:
        """One writer at a time on PostgreSQL too: what is counted before it is written is still so then."""
        with super().transaction(_ONE_WRITER if lock is None else lock) as connection:
            yield connection

    def prepare(self, migrations: Sequence[Migration] = MIGRATIONS) -> None:
        """Made if there is none; else migrated, each step whole or not at all."""
        wanted = len(migrations) + 1
        if not self.begun:
            try:
                with self.making(METADATA, SCHEMA, new_file=True) as connection:
                    connection.execute(insert(SCHEMA).values(version=wanted))
            except TargetError:  # another process has made it meanwhile
                if not self.begun:
                    raise
            return
        while (version := self.version) != wanted:
            if version > wanted:
                raise IntegrityError(
                    f"{self.label}: was written by a newer version ({version}; this one knows {wanted})",
                    advice="update shoal, or restore the backup from before",
                )
            with self.transaction() as connection:
                migrations[version - 1](connection)
                connection.execute(update(SCHEMA).values(version=version + 1))

    @property
    def version(self) -> int:
        with self.reading() as connection:
            return int(connection.execute(select(SCHEMA.c.version)).scalar_one())


def new_id() -> str:
    return random_bytes(16).hex()
