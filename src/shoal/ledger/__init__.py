"""The one append-only history: numbered, hash-chained entries with signed checkpoints, on SQLite or PostgreSQL.

``Ledger`` stands by itself in a file or a database. ``LedgerChain`` does the same work inside somebody else's
transaction, so that an entry and what it records are written together or not at all.
"""

from shoal.ledger.chain import LedgerChain, LedgerFacts
from shoal.ledger.checkpoint import Checkpoint
from shoal.ledger.entry import LedgerBrokenError, LedgerEntry, LedgerHead
from shoal.ledger.ledger import Ledger
from shoal.ledger.payload_keys import PayloadKeys
from shoal.ledger.tables import LedgerTables, ledger_tables

__all__ = [
    "Checkpoint",
    "Ledger",
    "LedgerBrokenError",
    "LedgerChain",
    "LedgerEntry",
    "LedgerFacts",
    "LedgerHead",
    "LedgerTables",
    "PayloadKeys",
    "ledger_tables",
]
