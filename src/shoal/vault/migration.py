"""Vaults of an older format, brought to the present one by the first who opens them with the right to write.

It takes the master key, so it can't be done for somebody: the old checks are compared first, then everything is
converted and sealed anew in one transaction. Whoever is killed in between leaves the vault as it was.
"""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Connection, update

from shoal.crypto import Key
from shoal.errors import SourceError
from shoal.randomness import now
from shoal.vault import audit, backup_copy, format_1
from shoal.vault.admission import opened_box, person_named
from shoal.vault.credentials import Credential
from shoal.vault.database import VaultDatabase
from shoal.vault.rollback_guard import Anchor
from shoal.vault.session import Session, head_row, refuse_altered, seal_head
from shoal.vault.tables import FORMAT, audit_key, head, metadata
from shoal.vault.tables import audit as audit_tables


def upgrade(store: VaultDatabase, way: Credential, state: Path | None) -> None:
    """In its place; nothing where the vault is of the present format, or of one that nobody knows."""
    with store.reading() as connection:
        if not is_outdated(connection):
            return
        # Whoever is not admitted is told so, and not that the vault is old.
        opened_box(connection, way)
    try:
        with store.writing() as connection:
            if is_outdated(connection):
                _upgrade(connection, store.place, way, state)
    except SourceError as error:
        raise SourceError(
            f"the vault is of format {format_1.FORMAT} and has to be brought to format {FORMAT} first, "
            f"which failed: {error.message}",
            advice="open it once as somebody who may write where it is kept",
        ) from None


def _upgrade(connection: Connection, place: str, way: Credential, state: Path | None) -> None:
    box = opened_box(connection, way)
    format_1.refuse_altered(connection, box.held.master)
    backup_copy.refuse_backup(connection)
    row = head_row(connection)
    anchor = Anchor.of(row.vault, state)
    anchor.refuse_other(place)
    backup_copy.refuse_older(connection, anchor.seen())
    new = [audit_key, audit_tables.entry, audit_tables.checkpoint]
    metadata.create_all(connection, tables=new, checkfirst=False)
    acting = person_named(connection, way.name)
    session = Session(connection, box.held, row.vault, row.generation, acting, now())
    convert(connection, session)
    format_1.audit.drop(connection)
    seal_head(session)


def convert(source: Connection, session: Session) -> None:
    """The audit trail of a vault of format 1 as a ledger where the session writes, with an entry that says so."""
    session.connection.execute(update(head).values(format=FORMAT))
    audit.begin_epoch(session.connection, session.master)
    for entry in format_1.audit_entries(source, session.master):
        audit.append(session, entry)
    audit.record(session, "migrate", format=FORMAT)


def copy_here(source: Connection, session: Session) -> None:
    """Everything in a backup of either format, into the new tables where the session writes."""
    if is_outdated(source):
        backup_copy.copy_all(source, session.connection, format_1.TABLES)
        convert(source, session)
    else:
        backup_copy.copy_all(source, session.connection)


def refuse_altered_backup(connection: Connection, master: Key) -> None:
    """Of either format."""
    check = format_1.refuse_altered if is_outdated(connection) else refuse_altered
    check(connection, master)


def is_outdated(connection: Connection) -> bool:
    return bool(head_row(connection).format == format_1.FORMAT)
