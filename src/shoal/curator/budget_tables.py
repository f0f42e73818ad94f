"""What stands beside the ledger of a budget: sums that can be worked out of it again, and answers that were given."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache

from sqlalchemy import Column, Integer, MetaData, String, Table, Text

from shoal.ledger import LedgerTables, ledger_tables


@dataclass(frozen=True)
class BudgetTables:
    ledger: LedgerTables
    account: Table
    answer: Table
    terms: Table
    """The last entry that says what may be spent, so that it need not be looked for."""


@cache
def known_budget_tables(name: str) -> tuple[MetaData, BudgetTables]:
    """The same each time, so that statements on them need not be put into words again."""
    metadata = MetaData()
    return metadata, budget_tables(metadata, name)


def tables_name(dataset: str, *, shared: bool) -> str:
    """A file is one dataset's; in a database that several share, each has tables by its name.

    >>> tables_name("hospital", shared=True)
    'budget_8afe3c83decffdf6'
    """
    return f"budget_{hashlib.sha256(dataset.encode()).hexdigest()[:16]}" if shared else "budget"


def budget_metadata(dataset: str) -> MetaData:
    """All tables of a dataset in a database that several share."""
    metadata = MetaData()
    budget_tables(metadata, tables_name(dataset, shared=True))
    return metadata


def budget_tables(metadata: MetaData, name: str) -> BudgetTables:
    return BudgetTables(
        ledger_tables(metadata, name),
        Table(
            f"{name}_account",
            metadata,
            Column("account", String(200), primary_key=True),
            Column("period", String(20), primary_key=True),
            Column("amount", String(60), nullable=False),
            Column("delta", String(60), nullable=False),
        ),
        Table(
            f"{name}_answer",
            metadata,
            Column("question", String(64), primary_key=True),
            Column("number", Integer, nullable=False),
            Column("answer", Text, nullable=False),
        ),
        Table(
            f"{name}_terms",
            metadata,
            Column("number", Integer, primary_key=True, autoincrement=False),
            Column("terms", Text, nullable=False),
        ),
    )
