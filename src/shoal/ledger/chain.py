"""The ledger inside a transaction: an entry is written together with what it records, or not at all.

Entries are numbered without a gap from 1 on. Whoever appends waits for the others: on SQLite for the write lock, which
a transaction should take at its beginning (``BEGIN IMMEDIATE``), on PostgreSQL for an advisory lock that ends with the
transaction. Where a caller's transaction sees an older moment, the number is taken already and the append fails: the
chain never forks.
"""

from __future__ import annotations

import datetime
import hashlib
import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

from sqlalchemy import Connection, Table, func, insert, select, type_coerce
from sqlalchemy.types import NullType

from shoal.crypto import Key
from shoal.crypto.signatures import public_key
from shoal.errors import AccessError, InputError, IntegrityError
from shoal.ledger.checkpoint import Checkpoint
from shoal.ledger.entry import LedgerBrokenError, LedgerEntry, LedgerHead, StoredEntry, canonical_json, genesis
from shoal.ledger.payload_keys import PayloadKeys
from shoal.ledger.tables import LedgerTables
from shoal.randomness import now

_PAGE: Final = 1000
"""Entries that are read at once."""


@dataclass(frozen=True)
class LedgerFacts:
    """What a verification has shown; it raises where it can't."""

    entries: int
    head: LedgerHead
    checkpoints: int
    signed_through: int
    """The last entry that one of the given signers vouches for; 0 where none was given."""


@dataclass(frozen=True)
class LedgerChain:
    """One ledger within a transaction that the caller began and will commit."""

    connection: Connection
    tables: LedgerTables
    identity: str
    """What the chain belongs to; an equal chain of another identity has other hashes."""
    keys: PayloadKeys | None = None
    """With keys, entries are sealed; without, those that are sealed can be verified but not read."""

    def append(self, kind: str, payload: Mapping[str, Any], *, at: datetime.datetime | None = None) -> LedgerEntry:
        """With the next number. An entry in clear is not added to what was sealed: its keys are asked for instead."""
        return self.append_all([(kind, payload)], at=at)[0]

    def append_all(
        self, told: Iterable[tuple[str, Mapping[str, Any]]], *, at: datetime.datetime | None = None
    ) -> list[LedgerEntry]:
        """Many entries of one moment, each a kind and a payload, with the next numbers in their order."""
        self._lock()
        last, epoch = self._last()
        if epoch and self.keys is None:
            raise AccessError("the ledger is sealed: appending to it takes its keys")
        moment = (at or now()).astimezone(datetime.UTC).isoformat(timespec="seconds")
        rows, entries = [], []
        for kind, payload in told:
            content = canonical_json(payload)
            entry = LedgerEntry(last.number + 1, moment, _worded(kind), json.loads(content))
            row = self._to_store(entry, content)
            last = LedgerHead(entry.number, row.computed_hash(last.hash))
            rows.append({**row._asdict(), "hash": last.hash})
            entries.append(entry)
        if rows:
            self.connection.execute(insert(self.tables.entry), rows)
        return entries

    def _to_store(self, entry: LedgerEntry, content: bytes) -> StoredEntry:
        if self.keys is None:
            return StoredEntry(entry.number, entry.at, entry.kind, content, 0, b"")
        sealed, epoch = self.keys.seal(entry, self.identity)
        return StoredEntry(entry.number, "", "", sealed, epoch, b"")

    def head(self) -> LedgerHead:
        """How far the ledger has come, by its own account."""
        return self._last()[0]

    def entries(self, start: int = 1) -> Iterator[LedgerEntry]:
        """In order from a number on; a LedgerBrokenError where the chain breaks."""
        for stored in self._followed(self._point_before(start)):
            yield self._read(stored)

    def verify(
        self, *, signers: Collection[bytes] = (), anchors: Iterable[LedgerHead | Checkpoint] = ()
    ) -> LedgerFacts:
        """The whole chain, or an error with the first number at which it is not as it was written.

        ``signers`` are public keys: then every checkpoint must be one of theirs, and there must be one. ``anchors`` are
        heads or checkpoints that were kept elsewhere. Only they can show that the end was cut off together with the
        checkpoints that stood there. Payloads stay closed.
        """
        checkpoints = self._checkpoints()
        points = [*checkpoints, *anchors]
        self._check_signed(points, signers)
        last = self._compared(points)
        signed = max((point.number for point in points if _is_signed_by(point, signers)), default=0)
        return LedgerFacts(last.number, last, len(checkpoints), signed)

    def checkpoint(self, key: Key) -> Checkpoint:
        """The caller's signature under the ledger as it is; what came since the last checkpoint is verified first.

        The key signs and is not kept. What is returned should be kept elsewhere too.
        """
        self._lock()
        checkpoints = self._checkpoints()
        last = self._vouched_for(checkpoints)
        for stored in self._followed(last):
            last = stored.head
        if not last.number:
            raise InputError("there is nothing in the ledger that could be signed")
        signer = public_key(key)
        for known in checkpoints:
            if known.head == last and known.signer == signer:
                return known
        made = Checkpoint.sign(key, self.identity, last, now().isoformat(timespec="seconds"))
        self.connection.execute(insert(self.tables.checkpoint).values(asdict(made)))
        return made

    def _last(self) -> tuple[LedgerHead, int]:
        """With the epoch of its key, 0 for none."""
        entry = self.tables.entry
        last = select(*_raw(entry, "number", "epoch", "hash")).order_by(entry.c.number.desc()).limit(1)
        found = self.connection.execute(last).first()
        if found is None:
            return genesis(self.identity), 0
        if type(found.number) is not int or not isinstance(found.hash, bytes):
            raise IntegrityError("the ledger's last entry is damaged")
        return LedgerHead(found.number, found.hash), found.epoch

    def _lock(self) -> None:
        if self.connection.dialect.name == "postgresql":
            name = f"shoal ledger {self.tables.entry.fullname}"
            number = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big", signed=True)
            self.connection.execute(select(func.pg_advisory_xact_lock(number)))

    def _vouched_for(self, checkpoints: Iterable[Checkpoint]) -> LedgerHead:
        """The last entry that has a checkpoint, as it stands in the ledger."""
        last = genesis(self.identity)
        for known in checkpoints:
            known.check(self.identity)
            last = max(last, known.head, key=lambda head: head.number)
        if not last.number:
            return last
        end = self.head().number
        if last.number > end:
            raise LedgerBrokenError(end + 1, "the end was cut off")
        if self._point_before(last.number + 1) != last:
            raise LedgerBrokenError(last.number, "it is not the entry that was vouched for")
        return last

    def _point_before(self, start: int) -> LedgerHead:
        if start < 1:
            raise InputError("entries of a ledger are numbered from 1 on")
        if start == 1:
            return genesis(self.identity)
        entry = self.tables.entry
        found = self.connection.execute(
            select(*_raw(entry, "number", "hash")).where(entry.c.number == start - 1)
        ).one_or_none()
        if found is None:
            if start - 1 > self.head().number:
                raise InputError(f"the ledger has no entry {start - 1}")
            raise LedgerBrokenError(start - 1, "it is missing")
        if type(found.number) is not int or not isinstance(found.hash, bytes):
            raise LedgerBrokenError(start - 1, "it was altered")
        return LedgerHead(found.number, found.hash)

    def _followed(self, last: LedgerHead) -> Iterator[StoredEntry]:
        """Entries after ``last``, each of which fits the one before."""
        for stored in self._stored(last.number):
            number = last.number + 1
            if type(stored.number) is int and stored.number > number:
                raise LedgerBrokenError(number, "it is missing")
            if stored.number != number:
                raise LedgerBrokenError(number, "something else stands before it")
            if not stored.is_well_formed() or stored.hash != stored.computed_hash(last.hash):
                raise LedgerBrokenError(number, "it, or what stood before it, was altered")
            last = stored.head
            yield stored

    def _stored(self, after: int) -> Iterator[StoredEntry]:
        entry = self.tables.entry
        ordered = select(*_raw(entry, *StoredEntry._fields)).order_by(entry.c.number).limit(_PAGE)
        page = ordered.where(entry.c.number > after) if after else ordered
        while rows := self.connection.execute(page).all():
            yield from map(StoredEntry._make, rows)
            page = ordered.where(entry.c.number > rows[-1].number)

    def _compared(self, points: Iterable[LedgerHead | Checkpoint]) -> LedgerHead:
        """The end of the chain, when the chain holds and has every one of the points on it."""
        expected: dict[int, set[bytes]] = {}
        for point in points:
            expected.setdefault(point.number, set()).add(point.hash)
        last = genesis(self.identity)
        if expected.pop(0, {last.hash}) != {last.hash} or any(number < 0 for number in expected):
            raise IntegrityError("an anchor stands for an entry that this ledger never had")
        for stored in self._followed(last):
            last = stored.head
            if expected.pop(last.number, {last.hash}) != {last.hash}:
                raise LedgerBrokenError(last.number, "it is not the entry that was vouched for")
        if expected:
            raise LedgerBrokenError(last.number + 1, "the end was cut off")
        return last

    def _read(self, stored: StoredEntry) -> LedgerEntry:
        if stored.epoch:
            if self.keys is None:
                raise AccessError(f"entry {stored.number} of the ledger is sealed: reading it takes its key")
            return self.keys.unseal(stored, self.identity)
        try:
            return LedgerEntry(stored.number, stored.at, stored.kind, dict(json.loads(stored.payload)))
        except (ValueError, TypeError):
            raise LedgerBrokenError(stored.number, "it holds no entry") from None

    def _checkpoints(self) -> list[Checkpoint]:
        table = self.tables.checkpoint
        rows = self.connection.execute(select(*_raw(table)).order_by(table.c.number)).all()
        found = [Checkpoint(**row._mapping) for row in rows]
        if not all(type(one.number) is int and isinstance(one.hash, bytes) for one in found):
            raise IntegrityError("a checkpoint of the ledger is damaged")
        return found

    def _check_signed(self, points: Iterable[LedgerHead | Checkpoint], signers: Collection[bytes]) -> None:
        signed = [point for point in points if isinstance(point, Checkpoint)]
        for point in signed:
            point.check(self.identity)
            if signers and point.signer not in signers:
                raise IntegrityError(f"the ledger's checkpoint at entry {point.number} is by a key that isn't trusted")
        if signers and not signed:
            raise IntegrityError("the ledger has no checkpoint that is signed")


def _is_signed_by(point: LedgerHead | Checkpoint, signers: Collection[bytes]) -> bool:
    return isinstance(point, Checkpoint) and point.signer in signers


def _raw(table: Table, *names: str) -> list[Any]:
    """Columns as the database gives them: what has been altered may not be of the column's type."""
    chosen = [table.c[name] for name in names] or list(table.c)
    return [type_coerce(column, NullType()).label(column.name) for column in chosen]


def _worded(kind: str) -> str:
    if not kind or not kind.isprintable():
        raise InputError("the kind of a ledger's entry is a short text in one line")
    return kind
