"""Vaults of format 1, as version 0.1 wrote them, to be read once more before they are brought to the present format.

Their audit trail stood in a table of its own: entries sealed with a key of the master key, each with a check (HMAC)
over the check before, and the last check in the vault's head.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from sqlalchemy import BigInteger, Column, Connection, LargeBinary, MetaData, Table, select

from shoal.crypto import Key
from shoal.crypto.aead import unseal
from shoal.crypto.mac import mac, same
from shoal.errors import IntegrityError
from shoal.vault.audit import AuditEntry
from shoal.vault.session import need_check, read_head, unchecked
from shoal.vault.tables import approval, domain, domain_key, entry, head, person, request

FORMAT: Final = 1
SMALL: Final = (person, domain, domain_key, request, approval)
TABLES: Final = (head, *SMALL, entry)
"""Those that the present format still has, in an order in which they can be filled."""

audit = Table(
    "shoal_audit",
    MetaData(),
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("sealed", LargeBinary, nullable=False),
    Column("check", LargeBinary, nullable=False),
)


def refuse_altered(connection: Connection, master: Key) -> None:
    """The small tables and the end of the audit trail are as they were left by whoever had the master key."""
    row = read_head(connection, FORMAT)
    last = select(audit.c.number, audit.c.check).order_by(audit.c.number.desc()).limit(1)
    need_check(connection, master, row, SMALL, last)


def audit_entries(connection: Connection, master: Key) -> Iterator[AuditEntry]:
    """From the first to the last; an IntegrityError where the chain is broken."""
    before = b""
    with unchecked():
        rows = connection.execute(select(audit).order_by(audit.c.number)).all()
    for number, row in enumerate(rows, 1):
        if row.number != number or not _holds(master, before, row):
            raise IntegrityError(f"the audit trail is broken at entry {number}")
        before = row.check
        yield AuditEntry(**json.loads(unseal(master.derive("audit"), row.sealed, str(number).encode())))


def _holds(master: Key, before: bytes, row: Any) -> bool:
    if not (isinstance(row.sealed, bytes) and isinstance(row.check, bytes)):
        return False
    check = mac(master.derive("audit chain"), [before, str(row.number).encode(), row.sealed])
    return same(row.check, check)
