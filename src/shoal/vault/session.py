"""One transaction with an opened vault: who acts, with which master key, at which moment.

Before anything is read, the check over the small tables is taken again and compared: rights, domains, approvals and
the audit trail are as the vault left them. After anything was written, it is taken anew.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, select, update

from shoal.crypto import Key
from shoal.crypto.mac import mac, same
from shoal.errors import AccessError, IntegrityError
from shoal.vault.credentials import Person, Right, VaultKeys
from shoal.vault.tables import FORMAT, SMALL, audit, head


@dataclass(frozen=True)
class Session:
    connection: Connection
    held: VaultKeys
    vault: str
    generation: int
    person: Person
    moment: datetime.datetime

    @property
    def master(self) -> Key:
        return self.held.master

    @property
    def seconds(self) -> int:
        return int(self.moment.timestamp())

    def need(self, right: Right) -> None:
        if right not in self.person.rights:
            raise AccessError(f"{self.person.name} may not do this: it takes the right to {right}")


@contextmanager
def unchecked() -> Iterator[None]:
    """For reading what may be altered: cells of another type than they should have are an IntegrityError."""
    try:
        yield
    except (TypeError, ValueError, OverflowError):
        raise IntegrityError("the vault is damaged: it holds what it never wrote") from None


def read_head(connection: Connection) -> Any:
    with unchecked():
        row = connection.execute(select(head)).one_or_none()
    if row is None:
        raise IntegrityError("the vault is damaged: it has no head")
    if row.format != FORMAT:
        raise IntegrityError(f"the vault is of format {row.format}; this version of Shoal reads format {FORMAT}")
    return row


def refuse_altered(connection: Connection, master: Key) -> None:
    """The small tables are as they were left by whoever had the master key."""
    row = read_head(connection)
    with unchecked():
        untouched = same(row.check, _check(connection, master, row))
    if not untouched:
        raise IntegrityError("the vault was altered from outside: its people, domains, requests or audit trail")


def seal_head(session: Session, *, backup: bool = False) -> None:
    """The next generation, with its check. The last thing in every transaction that writes."""
    session.connection.execute(update(head).values(generation=session.generation + 1, backup=int(backup)))
    check = _check(session.connection, session.master, read_head(session.connection))
    session.connection.execute(update(head).values(check=check))


def _check(connection: Connection, master: Key, row: Any) -> bytes:
    return mac(master.derive("head"), _parts(connection, row))


def _parts(connection: Connection, row: Any) -> Iterator[bytes]:
    yield f"{FORMAT} {row.vault} {row.generation} {row.backup}".encode()
    for table in SMALL:
        yield table.name.encode()
        for cells in sorted(tuple(_cells(row)) for row in connection.execute(select(table))):
            yield from cells
    last = connection.execute(select(audit.c.number, audit.c.check).order_by(audit.c.number.desc()).limit(1)).first()
    yield from _cells(last or ())


def _cells(row: Iterable[object]) -> Iterator[bytes]:
    """Each with its type. Rows are put in order here: databases differ in how they sort text."""
    for cell in row:
        if cell is None:
            yield b"-"
        elif isinstance(cell, bytes | memoryview):
            yield b"b" + bytes(cell)
        else:
            yield (b"i" if isinstance(cell, int) else b"t") + str(cell).encode()
