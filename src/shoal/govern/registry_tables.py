"""What stands beside the ledger of a registry: what each entry says, and what is true of each record now.

The ledger has only hashes of what was said, so that what people wrote can be purged and the chain still holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from sqlalchemy import BigInteger, Column, Connection, Index, Integer, MetaData, String, Table, Text

from shoal.ledger import LedgerTables, ledger_tables
from shoal.ledger.migrations import Migration

NAME: Final = "registry"
MOST_WHAT: Final = 300
MOST_WHO: Final = 64
"""Characters of what is due, and of who it is for; longer ones are cut there, and whole in the record."""


@dataclass(frozen=True)
class RegistryTables:
    ledger: LedgerTables
    version: Table
    """What each entry of the ledger says; without content once it was purged."""
    record: Table
    """Each record as it is now."""
    due: Table
    schema: Table
    """Which version these tables have."""


@cache
def registry_tables() -> tuple[MetaData, RegistryTables]:
    """The same each time, so that statements on them need not be put into words again."""
    metadata = MetaData()
    version = Table(
        "shoal_registry_version",
        metadata,
        Column("entry", BigInteger, primary_key=True, autoincrement=False),
        Column("kind", String(40), nullable=False),
        Column("id", String(64), nullable=False),
        Column("content", Text),
        Column("salt", String(64)),
    )
    Index("shoal_registry_version_of", version.c.kind, version.c.id)
    record = Table(
        "shoal_registry_record",
        metadata,
        Column("kind", String(40), primary_key=True),
        Column("id", String(64), primary_key=True),
        Column("entry", BigInteger, nullable=False),
        Column("project", String(64), nullable=False),
        Column("status", String(40), nullable=False),
    )
    Index("shoal_registry_record_project", record.c.kind, record.c.project)
    due = Table(
        "shoal_registry_due",
        metadata,
        Column("kind", String(40), nullable=False),
        Column("id", String(64), nullable=False),
        Column("day", String(10), nullable=False),
        Column("what", String(MOST_WHAT), nullable=False),
        Column("who", String(MOST_WHO), nullable=False),
    )
    Index("shoal_registry_due_day", due.c.day)
    Index("shoal_registry_due_of", due.c.kind, due.c.id)
    schema = Table("shoal_registry_schema", metadata, Column("version", Integer, nullable=False))
    return metadata, RegistryTables(ledger_tables(metadata, NAME), version, record, due, schema)


def _say_version(_: Connection) -> None:
    """The first step: the table that says the version, which whoever counts the steps makes."""


MIGRATIONS: Final[Sequence[Migration]] = (_say_version,)
"""Append, never change. A kind of record needs none: what it says is JSON, and fields that are new have a default."""
