"""The vault's tables: the same on SQLite and PostgreSQL.

``entry`` may have millions of rows: each is sealed by itself, and the domain's row holds their number and a keyed
fingerprint of all of them. The other tables are small; one check over all of them stands in ``head``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    ForeignKey,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    String,
    Table,
    UniqueConstraint,
)
from sqlalchemy.schema import SchemaItem
from sqlalchemy.types import TypeEngine

from shoal.ledger import ledger_tables
from shoal.ledger.tables import required

FORMAT = 2
"""Format 1 kept the audit trail in a table of its own (``vault/format_1.py``)."""
metadata = MetaData()


def _keyed_by(table: str, **within: type[TypeEngine[Any]]) -> Iterator[SchemaItem]:
    """The columns by which a row is found: what it belongs to in another table, and which of those it is."""
    yield Column(table, Integer, ForeignKey(f"shoal_{table}.id"), nullable=False)
    yield from required(**within)
    yield PrimaryKeyConstraint(table, *within)


head = Table(
    "shoal_head",
    metadata,
    Column("id", Integer, primary_key=True),
    *required(format=Integer, vault=String, generation=BigInteger, backup=Integer, check=LargeBinary),
)

person = Table(
    "shoal_person",
    metadata,
    Column("name", String, primary_key=True),
    *required(way=String, details=String, box=LargeBinary, rights=String),
)

domain = Table(
    "shoal_domain",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", String, nullable=False, unique=True),
    Column("kind", String),
    Column("form", String),
    *required(approvals=Integer),
    Column("validity_days", Integer),
    *required(
        next=BigInteger, entries=BigInteger, retired=BigInteger, fingerprint=LargeBinary, epoch=Integer, made=String
    ),
    Column("shredded", String),
)

domain_key = Table(
    "shoal_domain_key",
    metadata,
    *_keyed_by("domain", version=Integer),
    *required(wrapped=LargeBinary),
)

entry = Table(
    "shoal_entry",
    metadata,
    *required(
        domain=Integer,
        place=LargeBinary,
        generation=BigInteger,
        serial=BigInteger,
        version=Integer,
        until=BigInteger,
        state=Integer,
        also=LargeBinary,
        sealed=LargeBinary,
    ),
    PrimaryKeyConstraint("domain", "place", "generation"),
    UniqueConstraint("domain", "serial"),
    sqlite_with_rowid=False,
)

request = Table(
    "shoal_request",
    metadata,
    Column("id", Integer, primary_key=True),
    *required(domain=Integer, person=String, asked=BigInteger, until=BigInteger, sealed=LargeBinary),
)

approval = Table(
    "shoal_approval",
    metadata,
    *_keyed_by("request", person=String),
    *required(until=BigInteger),
)

audit_key = Table(
    "shoal_audit_key",
    metadata,
    Column("epoch", Integer, primary_key=True, autoincrement=False),
    *required(wrapped=LargeBinary),
)

audit = ledger_tables(metadata, "audit")

SMALL = (person, domain, domain_key, request, approval, audit_key, audit.checkpoint)
"""What the check in ``head`` is over, beside the number and hash of the last audit entry."""
