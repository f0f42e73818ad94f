"""Registries of earlier versions are read as they are and brought up to date by who writes; newer ones are refused."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import Connection, create_engine, inspect, text
from tests.govern.conftest import staffed

from shoal.crypto import Key
from shoal.crypto.signatures import public_key
from shoal.errors import IntegrityError, ShoalError
from shoal.govern import registry as registry_module
from shoal.govern.registry import GovernanceRegistry
from shoal.govern.registry_tables import MIGRATIONS, registry_tables
from shoal.ledger.migrations import schema_version

pytestmark = pytest.mark.requirement("G-04", "G-09")
SCHEMA = registry_tables()[1].schema
NEWEST = len(MIGRATIONS) + 1


def run(place: str, statement: str) -> None:
    engine = create_engine(address(place))
    with engine.begin() as connection:
        connection.execute(text(statement))
    engine.dispose()


def address(place: str) -> str:
    return place.replace("postgresql:", "postgresql+psycopg:") if "://" in place else f"sqlite:///{place}"


def version(place: str) -> int:
    engine = create_engine(address(place))
    with engine.connect() as connection:
        found = schema_version(connection, SCHEMA)
    engine.dispose()
    return found


@pytest.fixture
def first(place: str) -> str:
    """As version 1 left it, without a word on the version; on SQLite and on PostgreSQL."""
    with staffed(place):
        pass
    assert version(place) == NEWEST
    run(place, "DROP TABLE shoal_registry_schema")
    return place


def test_who_only_reads_changes_nothing_and_who_writes_brings_it_up_to_date(first: str) -> None:
    with GovernanceRegistry.open(first) as registry:
        before = registry.verify().entries
        assert registry.states("person")
    assert version(first) == 1
    with GovernanceRegistry.open(first) as registry:
        registry.perform("project", "open", "hospital", {"use_case": "retention"}, by="chief-investigator")
        assert registry.verify().entries == before + 1
    assert version(first) == NEWEST


def test_a_newer_one_is_refused_and_left_as_it_is(first: str) -> None:
    run(first, "CREATE TABLE shoal_registry_schema (version INTEGER NOT NULL)")
    run(first, "INSERT INTO shoal_registry_schema VALUES (99)")
    with pytest.raises(IntegrityError, match="newer version"):
        GovernanceRegistry.open(first)
    run(first, "INSERT INTO shoal_registry_schema VALUES (1)")
    with pytest.raises(IntegrityError, match="does not say which version"):
        GovernanceRegistry.open(first)


def test_a_step_that_fails_leaves_nothing(first: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def adds(connection: Connection) -> None:
        connection.execute(text("CREATE TABLE shoal_registry_more (x INTEGER)"))

    def fails(connection: Connection) -> None:
        connection.execute(text("SELECT * FROM shoal_registry_nothing"))

    def note() -> None:
        with GovernanceRegistry.open(first) as registry:
            registry.perform("project", "open", "hospital", {"use_case": "retention"}, by="chief-investigator")

    monkeypatch.setattr(registry_module, "MIGRATIONS", (*MIGRATIONS, adds, fails))
    with pytest.raises(ShoalError):
        note()
    engine = create_engine(address(first))
    assert not inspect(engine).has_table("shoal_registry_more")
    engine.dispose()
    assert version(first) == 1
    monkeypatch.setattr(registry_module, "MIGRATIONS", (*MIGRATIONS, adds))
    note()
    assert version(first) == NEWEST + 1


@pytest.fixture
def published(root: Path, tmp_path: Path) -> Iterator[str]:
    """A registry that was written before tables said their version, kept as statements."""
    place = tmp_path / "registry.db"
    kept = root / "tests" / "compatibility" / "version_0_1" / "registry.sql"
    with closing(sqlite3.connect(place)) as connection:
        connection.executescript(kept.read_text(encoding="utf-8"))
    yield str(place)


def test_a_registry_of_the_first_version_is_verified_and_goes_on(published: str) -> None:
    signer = public_key(Key(bytes(range(32))))
    with GovernanceRegistry.open(published) as registry:
        assert registry.verify(signers=[signer]).ledger.signed_through > 0
        assert registry.state("request", "R-1").status == "delivered"
        assert {kind: len(registry.states(kind)) for kind in ("person", "release", "incident")} == {
            "person": 12, "release": 1, "incident": 1,
        }  # fmt: skip
        told = registry.perform("request", "inspect", "R-1", {"found": "as agreed"}, by="auditor")
        assert told.status == "delivered"
        registry.verify(signers=[signer])
    assert version(published) == NEWEST
