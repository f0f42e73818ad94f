"""A ledger that stands by itself: each call is a transaction of its own.

>>> import tempfile
>>> from shoal.crypto.signatures import public_key
>>> place = f"{tempfile.mkdtemp()}/budget.ledger"
>>> key = Key.new()
>>> with Ledger.create(place, "budget") as ledger:
...     entry = ledger.append("spend", {"dataset": "census", "epsilon": "0.5"})
...     entry = ledger.append("spend", {"dataset": "census", "epsilon": "0.25"})
...     kept_elsewhere = ledger.checkpoint(key)
>>> with Ledger.open(place, "budget") as ledger:
...     print([entry.payload["epsilon"] for entry in ledger.entries(start=2)])
...     print(ledger.verify(signers=[public_key(key)], anchors=[kept_elsewhere]).signed_through)
['0.25']
2
"""

from __future__ import annotations

import datetime
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar, Self

from sqlalchemy import Connection, MetaData

from shoal.crypto import Key
from shoal.errors import SourceError
from shoal.ledger.chain import LedgerChain, LedgerFacts
from shoal.ledger.checkpoint import Checkpoint
from shoal.ledger.database import TransactionalDatabase
from shoal.ledger.entry import LedgerEntry, LedgerHead
from shoal.ledger.payload_keys import PayloadKeys
from shoal.ledger.tables import ledger_tables


class LedgerDatabase(TransactionalDatabase):
    kind: ClassVar[str] = "ledger"


class Ledger(AbstractContextManager["Ledger"]):
    """``Ledger.create`` begins one; ``Ledger.open`` never does, so that a lost ledger doesn't pass for an empty one."""

    def __init__(self, database: LedgerDatabase, name: str, keys: PayloadKeys | None) -> None:
        self.name = name
        self._database = database
        self._keys = keys
        self._metadata = MetaData()
        self._tables = ledger_tables(self._metadata, name)

    @classmethod
    def create(cls, place: str | Path, name: str, *, keys: PayloadKeys | None = None) -> Self:
        """An empty ledger, in a new file or beside what else is in a database."""
        made = cls(LedgerDatabase(str(place)), name, keys)
        with made._database.making(made._metadata, made._tables.entry, new_file=False):
            return made

    @classmethod
    def open(cls, place: str | Path, name: str, *, keys: PayloadKeys | None = None) -> Self:
        opened = cls(LedgerDatabase(str(place)), name, keys)
        with opened._database.reading() as connection:
            if not connection.dialect.has_table(connection, opened._tables.entry.name):
                raise SourceError(f"{opened._database.label}: there is no ledger '{name}'")
        return opened

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._database.close()

    @contextmanager
    def transaction(self) -> Iterator[LedgerChain]:
        """Several steps, whole or not at all. On SQLite nobody else writes meanwhile."""
        with self._database.transaction() as connection:
            yield self._chain(connection)

    def append(self, kind: str, payload: Mapping[str, Any], *, at: datetime.datetime | None = None) -> LedgerEntry:
        """It is on disk when this returns."""
        with self.transaction() as chain:
            return chain.append(kind, payload, at=at)

    def entries(self, start: int = 1) -> Iterator[LedgerEntry]:
        """In order from a number on, as they are at this moment; a LedgerBrokenError where the chain breaks."""
        with self._database.reading() as connection:
            yield from self._chain(connection).entries(start)

    def verify(
        self, *, signers: Collection[bytes] = (), anchors: Iterable[LedgerHead | Checkpoint] = ()
    ) -> LedgerFacts:
        """See ``LedgerChain.verify``: facts, or an error with the first number that doesn't hold."""
        with self._database.reading() as connection:
            self._database.require_sound(connection, self._metadata)
            return self._chain(connection).verify(signers=signers, anchors=anchors)

    def checkpoint(self, key: Key) -> Checkpoint:
        """Signed with the caller's key, which is not kept. Keep what is returned elsewhere too."""
        with self.transaction() as chain:
            return chain.checkpoint(key)

    def _chain(self, connection: Connection) -> LedgerChain:
        return LedgerChain(connection, self._tables, self.name, self._keys)
