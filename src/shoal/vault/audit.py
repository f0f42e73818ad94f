"""The audit trail: what was done, by whom, when. Each entry is sealed, and bound to all before it by a chain of checks.

An entry that was altered, left out or put in breaks the chain; the last check stands in the vault's head, so that the
end can't be cut off either.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, insert, select, update

from shoal.crypto import Key
from shoal.crypto.aead import seal, unseal
from shoal.crypto.mac import mac, same
from shoal.errors import IntegrityError
from shoal.vault.session import Session, unchecked
from shoal.vault.tables import audit


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
    last = session.connection.execute(
        select(audit.c.number, audit.c.check).order_by(audit.c.number.desc()).limit(1)
    ).first()
    number = last.number + 1 if last else 1
    entry = AuditEntry(
        number, session.moment.isoformat(timespec="seconds"), session.person.name, action, domain, details
    )
    told = json.dumps(entry.to_dict(), sort_keys=True, ensure_ascii=False).encode()
    sealed = seal(session.master.derive("audit"), told, str(number).encode())
    check = _check(session.master, last.check if last else b"", number, sealed)
    session.connection.execute(insert(audit).values(number=number, sealed=sealed, check=check))
    return entry


def entries(connection: Connection, master: Key) -> Iterator[AuditEntry]:
    """From the first to the last; an IntegrityError where the chain is broken."""
    before = b""
    with unchecked():
        rows = connection.execute(select(audit).order_by(audit.c.number)).all()
    for number, row in enumerate(rows, 1):
        if row.number != number or not _holds(master, before, row):
            raise IntegrityError(f"the audit trail is broken at entry {number}")
        before = row.check
        yield AuditEntry(**json.loads(unseal(master.derive("audit"), row.sealed, str(number).encode())))


def rewrite(connection: Connection, old: Key, new: Key) -> None:
    """The same trail under a new master key."""
    before = b""
    for entry in list(entries(connection, old)):
        told = json.dumps(entry.to_dict(), sort_keys=True, ensure_ascii=False).encode()
        sealed = seal(new.derive("audit"), told, str(entry.number).encode())
        before = _check(new, before, entry.number, sealed)
        changed = update(audit).where(audit.c.number == entry.number).values(sealed=sealed, check=before)
        connection.execute(changed)


def _holds(master: Key, before: bytes, row: Any) -> bool:
    if not (isinstance(row.sealed, bytes) and isinstance(row.check, bytes)):
        return False
    return same(row.check, _check(master, before, row.number, row.sealed))


def _check(master: Key, before: bytes, number: int, sealed: bytes) -> bytes:
    return mac(master.derive("audit chain"), [before, str(number).encode(), sealed])
