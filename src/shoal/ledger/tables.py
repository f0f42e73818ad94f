"""The two tables of a ledger: the same on SQLite and PostgreSQL, in the metadata of whoever keeps the ledger."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from sqlalchemy import BigInteger, Column, Integer, LargeBinary, MetaData, PrimaryKeyConstraint, String, Table

from shoal.errors import InputError

_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,30}")


@dataclass(frozen=True)
class LedgerTables:
    entry: Table
    checkpoint: Table


def ledger_tables(metadata: MetaData, name: str) -> LedgerTables:
    """``shoal_ledger_NAME`` and ``shoal_ledger_NAME_checkpoint``."""
    if not _NAME.fullmatch(name):
        raise InputError("a ledger's name begins with a small letter and has small letters, digits and _, at most 31")
    entry = Table(
        f"shoal_ledger_{name}",
        metadata,
        Column("number", BigInteger, primary_key=True, autoincrement=False),
        Column("at", String, nullable=False),
        Column("kind", String, nullable=False),
        Column("payload", LargeBinary, nullable=False),
        Column("epoch", Integer, nullable=False),
        Column("hash", LargeBinary, nullable=False),
    )
    checkpoint = Table(
        f"shoal_ledger_{name}_checkpoint",
        metadata,
        Column("number", BigInteger, nullable=False),
        Column("hash", LargeBinary, nullable=False),
        Column("at", String, nullable=False),
        Column("signer", LargeBinary, nullable=False),
        Column("signature", LargeBinary, nullable=False),
        PrimaryKeyConstraint("number", "signer"),
    )
    return LedgerTables(entry, checkpoint)
