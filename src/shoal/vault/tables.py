"""The vault's tables: the same on SQLite and PostgreSQL.

``entry`` may have millions of rows: each is sealed by itself, and the domain's row holds their number and a keyed
fingerprint of all of them. The other tables are small; one check over all of them stands in ``head``.
"""

from __future__ import annotations

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

from shoal.ledger import ledger_tables

FORMAT = 2
"""Format 1 kept the audit trail in a table of its own (``vault/format_1.py``)."""
metadata = MetaData()

head = Table(
    "shoal_head",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("format", Integer, nullable=False),
    Column("vault", String, nullable=False),
    Column("generation", BigInteger, nullable=False),
    Column("backup", Integer, nullable=False),
    Column("check", LargeBinary, nullable=False),
)

person = Table(
    "shoal_person",
    metadata,
    Column("name", String, primary_key=True),
    Column("way", String, nullable=False),
    Column("details", String, nullable=False),
    Column("box", LargeBinary, nullable=False),
    Column("rights", String, nullable=False),
)

domain = Table(
    "shoal_domain",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", String, nullable=False, unique=True),
    Column("kind", String),
    Column("form", String),
    Column("approvals", Integer, nullable=False),
    Column("validity_days", Integer),
    Column("next", BigInteger, nullable=False),
    Column("entries", BigInteger, nullable=False),
    Column("retired", BigInteger, nullable=False),
    Column("fingerprint", LargeBinary, nullable=False),
    Column("epoch", Integer, nullable=False),
    Column("made", String, nullable=False),
    Column("shredded", String),
)

domain_key = Table(
    "shoal_domain_key",
    metadata,
    Column("domain", Integer, ForeignKey("shoal_domain.id"), nullable=False),
    Column("version", Integer, nullable=False),
    Column("wrapped", LargeBinary, nullable=False),
    PrimaryKeyConstraint("domain", "version"),
)

entry = Table(
    "shoal_entry",
    metadata,
    Column("domain", Integer, nullable=False),
    Column("place", LargeBinary, nullable=False),
    Column("generation", BigInteger, nullable=False),
    Column("serial", BigInteger, nullable=False),
    Column("version", Integer, nullable=False),
    Column("until", BigInteger, nullable=False),
    Column("state", Integer, nullable=False),
    Column("also", LargeBinary, nullable=False),
    Column("sealed", LargeBinary, nullable=False),
    PrimaryKeyConstraint("domain", "place", "generation"),
    UniqueConstraint("domain", "serial"),
    sqlite_with_rowid=False,
)

request = Table(
    "shoal_request",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("domain", Integer, nullable=False),
    Column("person", String, nullable=False),
    Column("asked", BigInteger, nullable=False),
    Column("until", BigInteger, nullable=False),
    Column("sealed", LargeBinary, nullable=False),
)

approval = Table(
    "shoal_approval",
    metadata,
    Column("request", Integer, ForeignKey("shoal_request.id"), nullable=False),
    Column("person", String, nullable=False),
    Column("until", BigInteger, nullable=False),
    PrimaryKeyConstraint("request", "person"),
)

audit_key = Table(
    "shoal_audit_key",
    metadata,
    Column("epoch", Integer, primary_key=True, autoincrement=False),
    Column("wrapped", LargeBinary, nullable=False),
)

audit = ledger_tables(metadata, "audit")

SMALL = (person, domain, domain_key, request, approval, audit_key, audit.checkpoint)
"""What the check in ``head`` is over, beside the number and hash of the last audit entry."""
