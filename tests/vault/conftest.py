"""Vaults to work with: on SQLite and on a real PostgreSQL server, with ways in that cost little; a clock to turn."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.servers import postgres, postgres_url
from tests.support.server_tables import on_both, without_tables

from shoal.crypto.passphrase import Effort
from shoal.pseudonyms.formats.base32 import Base32
from shoal.vault import Passphrase, Right, Vault
from shoal.vault.tables import metadata

__all__ = ["postgres", "postgres_url"]

QUICK = Effort(iterations=1, lanes=1, memory_kib=8)
ANITA = Passphrase("anita", "anita's long passphrase", QUICK)
RAVI = Passphrase("ravi", "ravi's long passphrase", QUICK)
MEI = Passphrase("mei", "mei's long passphrase", QUICK)
FORM = Base32()
REASON = "follow-up of a positive test"


@dataclass
class Room:
    """Where a vault is, and what this machine remembers of it."""

    place: str
    state: Path

    def create(self) -> Vault:
        return Vault.create(self.place, ANITA, state=self.state)

    def open(self, way: Passphrase = ANITA) -> Vault:
        return Vault.open(self.place, way, state=self.state)


@dataclass
class Clock:
    at: datetime.datetime = field(default_factory=lambda: datetime.datetime(2026, 3, 1, 9, tzinfo=datetime.UTC))

    def __call__(self) -> datetime.datetime:
        return self.at

    def turn(self, **by: float) -> None:
        self.at += datetime.timedelta(**by)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr("shoal.vault.vault.now", clock)
    return clock


@pytest.fixture
def file_room(tmp_path: Path) -> Room:
    return Room(str(tmp_path / "people.vault"), tmp_path / "state")


@pytest.fixture
def server_room(tmp_path: Path, postgres_url: str) -> Iterator[Room]:
    with without_tables(postgres_url, metadata):
        yield Room(postgres_url, tmp_path / "state")


room = on_both("file_room", "server_room")


@pytest.fixture
def vault(room: Room) -> Vault:
    """With a domain for which one approval is needed, and two people beside the owner."""
    vault = room.create()
    vault.add_domain("patients", approvals=1)
    vault.admit(RAVI, [Right.APPROVE])
    vault.admit(MEI, [Right.USE, Right.REVEAL])
    return vault


@pytest.fixture
def revealed(room: Room) -> Callable[[Vault, str], str]:
    """Who is behind a pseudonym, asked by Anita and approved by Ravi."""

    def reveal(vault: Vault, pseudonym: str) -> str:
        asked = vault.ask("patients", [pseudonym], REASON)
        room.open(RAVI).approve(asked.id)
        return vault.reveal(asked.id)[0].value

    return reveal
