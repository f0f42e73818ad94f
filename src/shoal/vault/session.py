"""One transaction with an opened vault: who acts, with which master key, at which moment.

Before anything is read, the check over the small tables is taken again and compared: rights, domains, approvals and
the audit trail are as the vault left them. After anything was written, it is taken anew.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection, Select, Table, select, update

from shoal.crypto import Key
from shoal.crypto.mac import mac, same
from shoal.errors import AccessError, IntegrityError
from shoal.vault.credentials import Person, Right, VaultKeys
from shoal.vault.tables import FORMAT, SMALL, audit, head

_LAST: Final = select(audit.entry.c.number, audit.entry.c.hash).order_by(audit.entry.c.number.desc()).limit(1)


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


def head_row(connection: Connection) -> Any:
    """The head of a vault of any format."""
    with unchecked():
        row = connection.execute(select(head)).one_or_none()
    if row is None:
        raise IntegrityError("the vault is damaged: it has no head")
    return row


def read_head(connection: Connection, expected: int = FORMAT) -> Any:
    row = head_row(connection)
    if row.format != expected:
        raise IntegrityError(f"the vault is of format {row.format}; this version of Shoal reads format {FORMAT}")
    return row


def refuse_altered(connection: Connection, master: Key) -> None:
    """The small tables are as they were left by whoever had the master key."""
    need_check(connection, master, read_head(connection), SMALL, _LAST)


def need_check(connection: Connection, master: Key, row: Any, small: Iterable[Table], last: Select[Any]) -> None:
    """The check in this head, of whichever format, is over these tables and the end of the audit trail."""
    with unchecked():
        untouched = same(row.check, _check(connection, master, row, small, last))
    if not untouched:
        raise IntegrityError("the vault was altered from outside: its people, domains, requests or audit trail")


def seal_head(session: Session, *, backup: bool = False) -> None:
    """The next generation, with its check. The last thing in every transaction that writes."""
    session.connection.execute(update(head).values(generation=session.generation + 1, backup=int(backup)))
    check = _check(session.connection, session.master, read_head(session.connection), SMALL, _LAST)
    session.connection.execute(update(head).values(check=check))


def _check(connection: Connection, master: Key, row: Any, small: Iterable[Table], last: Select[Any]) -> bytes:
    return mac(master.derive("head"), _parts(connection, row, small, last))


def _parts(connection: Connection, row: Any, small: Iterable[Table], last: Select[Any]) -> Iterator[bytes]:
    yield f"{row.format} {row.vault} {row.generation} {row.backup}".encode()
    for table in small:
        yield table.name.encode()
        for cells in sorted(tuple(_cells(row)) for row in connection.execute(select(table))):
            yield from cells
    yield from _cells(connection.execute(last).first() or ())


def _cells(row: Iterable[object]) -> Iterator[bytes]:
    """Each with its type. Rows are put in order here: databases differ in how they sort text."""
    for cell in row:
        if cell is None:
            yield b"-"
        elif isinstance(cell, bytes | memoryview):
            yield b"b" + bytes(cell)
        else:
            yield (b"i" if isinstance(cell, int) else b"t") + str(cell).encode()
