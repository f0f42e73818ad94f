"""Backup and restore: the whole vault, sealed as it is, to or from a SQLite file. No key leaves it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Table, insert, select, update

from shoal.errors import IntegrityError
from shoal.vault.rollback_guard import VaultState
from shoal.vault.tables import domain, head, metadata

_AT_ONCE = 50_000


def copy_all(source: Connection, target: Connection, tables: Sequence[Table] = tuple(metadata.sorted_tables)) -> int:
    """Every row of every table; how many."""
    copied = 0
    for table in tables:
        result = source.execute(select(table), execution_options={"yield_per": _AT_ONCE})
        for part in result.partitions(_AT_ONCE):
            rows: list[Mapping[str, Any]] = [dict(row._mapping) for row in part]
            target.execute(insert(table), rows)
            copied += len(rows)
    return copied


def seen_in(connection: Connection) -> VaultState:
    """What the machine should remember of this state of the vault."""
    generation = connection.execute(select(head.c.generation)).scalar_one()
    issued = connection.execute(select(domain.c.id, domain.c.next)).all()
    return VaultState(generation, {row.id: row.next for row in issued})


def step_over(connection: Connection, seen: VaultState | None, skip: int) -> None:
    """After a restore: serials that may have been used since the backup are not used again."""
    here = seen_in(connection)
    past = here if seen is None else here.merged(seen)
    for number in here.next:
        connection.execute(update(domain).where(domain.c.id == number).values(next=past.next[number] + skip))
    connection.execute(update(head).values(generation=past.generation))


def refuse_older(connection: Connection, seen: VaultState | None) -> None:
    """An older copy in the place of the vault would issue pseudonyms twice."""
    here = seen_in(connection)
    if seen is not None and here.generation < seen.generation:
        raise IntegrityError(
            f"this is an older copy of the vault (generation {here.generation}, {seen.generation} was seen here)",
            advice="`shoal vault restore` takes a backup in safely",
        )


def refuse_backup(connection: Connection) -> None:
    """Whoever worked in a backup would issue the same pseudonyms as those who go on in the vault."""
    if connection.execute(select(head.c.backup)).scalar_one():
        raise IntegrityError(
            "this is a backup of a vault, not the vault", advice="`shoal vault restore` makes a vault of it"
        )
