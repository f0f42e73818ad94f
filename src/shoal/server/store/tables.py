"""The tables. Times are seconds since 1970 in UTC; identifiers are 32 hexadecimal digits, drawn at random."""

from __future__ import annotations

from typing import Any

from sqlalchemy import JSON, Boolean, Column, Float, Index, Integer, MetaData, String, Table, Text

METADATA = MetaData()


def _id(name: str = "id") -> Column[Any]:
    return Column(name, String(64), primary_key=True)


def _owned() -> Column[Any]:
    return Column("owner", String(32), nullable=False, index=True)


def _moment(name: str, *, optional: bool = False) -> Column[Any]:
    return Column(name, Float, nullable=optional)


SCHEMA = Table("studio_schema", METADATA, Column("version", Integer, nullable=False))

ACCOUNTS = Table(
    "accounts",
    METADATA,
    _id(),
    Column("name", String(64), nullable=False, unique=True),
    Column("password", Text, nullable=False),
    Column("roles", JSON, nullable=False),
    Column("totp_secret", String(64)),
    Column("totp_step", Integer, nullable=False, default=0),
    Column("failures", Integer, nullable=False, default=0),
    _moment("locked_until", optional=True),
    Column("disabled", Boolean, nullable=False, default=False),
    _moment("created"),
)

SESSIONS = Table(
    "sessions",
    METADATA,
    _id("digest"),
    Column("account", String(32), nullable=False, index=True),
    Column("csrf", String(64), nullable=False),
    _moment("created"),
    _moment("seen"),
)

SIGN_INS = Table("sign_ins", METADATA, _id("account"), _moment("last"))
"""Sessions end and are forgotten; who looks through the accounts asks who has not been here for months."""

TOKENS = Table(
    "api_tokens",
    METADATA,
    _id(),
    Column("account", String(32), nullable=False, index=True),
    Column("name", String(100), nullable=False),
    Column("digest", String(64), nullable=False, unique=True),
    Column("scopes", JSON, nullable=False),
    _moment("created"),
    _moment("expires"),
)

ATTEMPTS = Table(
    "attempts",
    METADATA,
    _id("origin"),
    _moment("since"),
    Column("failures", Integer, nullable=False),
)

SOURCES = Table(
    "sources",
    METADATA,
    _id(),
    _owned(),
    Column("name", String(200), nullable=False),
    Column("size", Integer, nullable=False),
    Column("sha256", String(64), nullable=False),
    Column("choices", JSON, nullable=False),
    Column("inspection", String(32), nullable=False),
    _moment("created"),
)

POLICIES = Table(
    "policies",
    METADATA,
    _id(),
    _owned(),
    Column("source", String(32), nullable=False),
    Column("name", String(200), nullable=False),
    Column("text", Text, nullable=False),
    _moment("created"),
)

JOBS = Table(
    "jobs",
    METADATA,
    _id(),
    _owned(),
    Column("kind", String(20), nullable=False),
    Column("source", String(32), nullable=False),
    Column("request", JSON, nullable=False),
    Column("state", String(12), nullable=False, index=True),
    Column("attempt", Integer, nullable=False, default=0),
    Column("crashes", Integer, nullable=False, default=0),
    Column("worker", String(64)),
    Column("cancel", Boolean, nullable=False, default=False),
    Column("error", JSON),
    Column("result", JSON),
    _moment("lease_until", optional=True),
    _moment("created"),
    _moment("started", optional=True),
    _moment("finished", optional=True),
)

EVENTS = Table(
    "job_events",
    METADATA,
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("job", String(32), nullable=False),
    _moment("at"),
    Column("kind", String(20), nullable=False),
    Column("body", JSON, nullable=False),
    Index("job_events_by_job", "job", "number"),
)

RELEASES = Table(
    "releases",
    METADATA,
    _id(),
    _owned(),
    Column("source", String(32), nullable=False),
    Column("policy", String(32), nullable=False),
    _moment("created"),
)

TEXTS = Table(
    "texts",
    METADATA,
    _id(),
    _owned(),
    Column("name", String(200), nullable=False),
    Column("size", Integer, nullable=False),
    Column("choices", JSON, nullable=False),
    Column("job", String(32), nullable=False),
    _moment("created"),
)

IDENTITIES = Table(
    "linked_identities",
    METADATA,
    _id(),
    Column("account", String(32), nullable=False, unique=True),
    _moment("created"),
)

SIGN_IN_FLOWS = Table(
    "sign_in_flows",
    METADATA,
    _id("digest"),
    Column("state", String(64), nullable=False),
    Column("nonce", String(64), nullable=False),
    Column("verifier", String(128), nullable=False),
    Column("account", String(32)),
    _moment("created"),
)

DATASETS = Table(
    "datasets",
    METADATA,
    _id(),
    _owned(),
    Column("source", String(32), nullable=False),
    Column("name", String(100), nullable=False),
    Column("description", Text, nullable=False),
    Column("analysts", JSON, nullable=False),
    _moment("created"),
)

DESKS = Table(
    "caller_desks",
    METADATA,
    _id(),
    _owned(),
    Column("source", String(32), nullable=False),
    Column("name", String(100), nullable=False),
    Column("person", Text, nullable=False),
    Column("columns", JSON, nullable=False),
    Column("at_least", Integer, nullable=False),
    Column("answered_by", JSON, nullable=False),
    Column("per_hour", Integer, nullable=False),
    Column("job", String(32), nullable=False),
    _moment("created"),
)

CALLER_QUESTIONS = Table(
    "caller_questions",
    METADATA,
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("desk", String(32), nullable=False),
    Column("account", String(64), nullable=False),
    _moment("at"),
    Column("person", String(64), nullable=False),
    Column("columns", JSON, nullable=False),
    Column("matched", Boolean, nullable=False),
    Index("caller_questions_by_desk", "desk", "at"),
)

ANSWERS = Table(
    "idempotent_answers",
    METADATA,
    Column("owner", String(32), primary_key=True),
    Column("key", String(100), primary_key=True),
    Column("fingerprint", String(64), nullable=False),
    Column("body", JSON, nullable=False),
    _moment("created"),
)
