"""Ledgers to work with, on SQLite and on a real PostgreSQL server, and a verifier that shares no code with them."""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, MetaData, create_engine, text
from tests.servers import postgres, postgres_url
from tests.support.server_tables import on_both, without_tables

from shoal.crypto import Key
from shoal.ledger import Ledger, PayloadKeys, ledger_tables

__all__ = ["postgres", "postgres_url"]

NAME = "history"
ENTRY = f"shoal_ledger_{NAME}"
CHECKPOINT = f"{ENTRY}_checkpoint"
SIGNER = Key(bytes(range(32)))


@dataclass
class Place:
    """Where a ledger is, with a way past it."""

    address: str
    engine: Engine = field(repr=False)

    def create(self, keys: PayloadKeys | None = None) -> Ledger:
        return Ledger.create(self.address, NAME, keys=keys)

    def open(self, keys: PayloadKeys | None = None) -> Ledger:
        return Ledger.open(self.address, NAME, keys=keys)

    def sql(self, *statements: str, **values: object) -> None:
        with self.engine.begin() as connection:
            for statement in statements:
                connection.execute(text(statement), values if ":" in statement else {})

    def rows(self, table: str = ENTRY) -> list[Any]:
        with self.engine.connect() as connection:
            return list(connection.execute(text(f"SELECT * FROM {table} ORDER BY number")).all())  # noqa: S608


def plainly_verified(place: Place) -> list[Any]:
    """All rows, when the chain holds by the formula in the docs: written anew here, with hashlib alone."""

    def part(content: bytes) -> bytes:
        return struct.pack(">Q", len(content)) + content

    before = hashlib.sha256(part(b"shoal ledger 1") + part(NAME.encode())).digest()
    rows = place.rows()
    for expected, row in enumerate(rows, 1):
        assert row.number == expected
        chained = hashlib.sha256(part(b"shoal ledger entry 1"))
        for content in (str(row.number), row.at, row.kind):
            chained.update(part(content.encode()))
        chained.update(part(bytes(row.payload)) + part(str(row.epoch).encode()) + part(before))
        before = chained.digest()
        assert bytes(row.hash) == before
        assert row.epoch or isinstance(json.loads(row.payload), dict)
    return rows


@pytest.fixture
def file_place(tmp_path: Path) -> Iterator[Place]:
    engine = create_engine(f"sqlite:///{tmp_path / 'a.ledger'}")
    yield Place(str(tmp_path / "a.ledger"), engine)
    engine.dispose()


@pytest.fixture
def server_place(postgres_url: str) -> Iterator[Place]:
    metadata = MetaData()
    ledger_tables(metadata, NAME)
    with without_tables(postgres_url, metadata) as engine:
        yield Place(postgres_url, engine)


place = on_both("file_place", "server_place")


@pytest.fixture
def written(place: Place) -> Ledger:
    """Six entries."""
    ledger = place.create()
    for number in range(1, 7):
        ledger.append("spend", {"epsilon": f"0.{number}", "for": ["census", number]})
    return ledger
