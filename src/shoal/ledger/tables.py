"""The two tables of a ledger: the same on SQLite and PostgreSQL, in the metadata of whoever keeps the ledger."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import BigInteger, Column, Integer, LargeBinary, MetaData, PrimaryKeyConstraint, String, Table
from sqlalchemy.types import TypeEngine

from shoal.errors import InputError

_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,30}")


@dataclass(frozen=True)
class LedgerTables:
    entry: Table
    checkpoint: Table


def required(**kinds: type[TypeEngine[Any]]) -> tuple[Column[Any], ...]:
    """Columns that are never empty, by name."""
    return tuple(Column(name, kind, nullable=False) for name, kind in kinds.items())


def ledger_tables(metadata: MetaData, name: str) -> LedgerTables:
    """``shoal_ledger_NAME`` and ``shoal_ledger_NAME_checkpoint``."""
    if not _NAME.fullmatch(name):
        raise InputError("a ledger's name begins with a small letter and has small letters, digits and _, at most 31")
    entry = Table(
        f"shoal_ledger_{name}",
        metadata,
        Column("number", BigInteger, primary_key=True, autoincrement=False),
        *required(at=String, kind=String, payload=LargeBinary, epoch=Integer, hash=LargeBinary),
    )
    checkpoint = Table(
        f"shoal_ledger_{name}_checkpoint",
        metadata,
        *required(number=BigInteger, hash=LargeBinary, at=String, signer=LargeBinary, signature=LargeBinary),
        PrimaryKeyConstraint("number", "signer"),
    )
    return LedgerTables(entry, checkpoint)
