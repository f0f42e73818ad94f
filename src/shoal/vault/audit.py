"""The audit trail: what was done, by whom, when. It is a ledger in the vault's database, with sealed entries.

An entry that was altered, left out or put in breaks the ledger's chain; the last hash stands in the vault's head, so
that the end can't be cut off either. Entries are sealed with audit keys, which the master key wraps. A new master key
begins a new epoch with a key of its own: who was dismissed can't read what comes later, and no entry is rewritten.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, insert, select, update

from shoal.crypto import Key
from shoal.crypto.aead import seal, unseal
from shoal.errors import AccessError, IntegrityError
from shoal.ledger import LedgerBrokenError, LedgerChain, PayloadKeys
from shoal.vault.session import Session, unchecked
from shoal.vault.tables import audit, audit_key


@dataclass(frozen=True)
class AuditEntry:
    number: int
    at: str
    person: str
    action: str
    domain: str | None = None
    details: dict[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        return {
            "number": self.number,
            "at": self.at,
            "person": self.person,
            "action": self.action,
            "domain": self.domain,
            "details": self.details,
        }


def record(session: Session, action: str, domain: str | None = None, **details: Any) -> AuditEntry:
    """Never a value that was pseudonymised: pseudonyms, counts and reasons only."""
    entry = AuditEntry(0, session.moment.isoformat(timespec="seconds"), session.person.name, action, domain, details)
    return append(session, entry)


def append(session: Session, entry: AuditEntry) -> AuditEntry:
    """An entry as it is, with the next number: also one that comes from elsewhere and is older."""
    payload = {"person": entry.person, "domain": entry.domain, "details": entry.details}
    with _in_the_trail():
        written = _chain(session).append(entry.action, payload, at=datetime.datetime.fromisoformat(entry.at))
    return AuditEntry(written.number, written.at, action=written.kind, **written.payload)


def entries(session: Session) -> Iterator[AuditEntry]:
    """From the first to the last; an IntegrityError where the chain is broken."""
    with _in_the_trail():
        for entry in _chain(session).entries():
            yield AuditEntry(entry.number, entry.at, action=entry.kind, **entry.payload)


def begin_epoch(connection: Connection, master: Key) -> None:
    """A new key for what is recorded from now on."""
    epochs = connection.execute(select(audit_key.c.epoch)).scalars()
    epoch = max(epochs, default=0) + 1
    wrapped = seal(master.derive("wrap"), Key.new().material, _bound(epoch))
    connection.execute(insert(audit_key).values(epoch=epoch, wrapped=wrapped))


def rewrap(session: Session, master: Key) -> None:
    """The keys under a new master key, and one more for what comes. The trail is followed, and stays as it is."""
    with _in_the_trail():
        _chain(session).verify()
    for epoch, key in _keys(session).by_epoch.items():
        wrapped = seal(master.derive("wrap"), key.material, _bound(epoch))
        session.connection.execute(update(audit_key).where(audit_key.c.epoch == epoch).values(wrapped=wrapped))
    begin_epoch(session.connection, master)


def _chain(session: Session) -> LedgerChain:
    return LedgerChain(session.connection, audit, session.vault, _keys(session))


def _keys(session: Session) -> PayloadKeys:
    with unchecked():
        rows = session.connection.execute(select(audit_key)).all()
    wrap = session.master.derive("wrap")
    keys = {row.epoch: Key(unseal(wrap, row.wrapped, _bound(row.epoch))) for row in rows}
    if not keys:
        raise IntegrityError("the vault lacks the keys of its audit trail")
    return PayloadKeys(keys)


def _bound(epoch: int) -> bytes:
    return f"audit key {epoch}".encode()


@contextmanager
def _in_the_trail() -> Iterator[None]:
    try:
        yield
    except LedgerBrokenError as error:
        raise IntegrityError(f"the audit trail is broken at entry {error.number}") from None
    except AccessError:
        raise IntegrityError("entries of the audit trail are sealed with a key that the vault doesn't have") from None
