"""What a tired operator runs into: no rights, no disk, no server. One clear line each, and nothing is half done."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import polars as pl
import pytest
from tests.vault.conftest import ANITA, FORM, Room

from shoal.errors import AccessError, IntegrityError, ShoalError, SourceError, TargetError
from shoal.ledger.db_errors import database_error
from shoal.vault import Vault
from shoal.vault.padding import BLOCK, padded, unpadded


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("database disk image is malformed", IntegrityError),
        ("file is not a database", IntegrityError),
        ("UNIQUE constraint failed: shoal_entry.domain", IntegrityError),
        ('relation "shoal_head" does not exist', IntegrityError),
        ("database or disk is full", TargetError),
        ("[Errno 28] No space left on device", TargetError),
        ("attempt to write a readonly database", SourceError),
        ("unable to open database file", SourceError),
        ("permission denied for table shoal_head", SourceError),
        ("database is locked", SourceError),
        ('connection failed: FATAL: database "x" does not exist', SourceError),
        ('connection failed: FATAL: password authentication failed for user "x"', AccessError),
        ("something that nobody has seen before", SourceError),
    ],
)
def test_a_database_says_what_is_wrong(said: str, kind: type[ShoalError]) -> None:
    error = database_error("people.vault", said.lower(), "vault")
    assert type(error) is kind
    assert str(error).startswith("people.vault: ")
    assert said not in str(error)


def test_no_server(tmp_path: Path) -> None:
    for place in ("postgresql://nobody@127.0.0.1:1/none", "postgresql://nobody@nowhere.invalid/none"):
        with pytest.raises(SourceError, match="can't be reached"):
            Vault.open(place, ANITA, state=tmp_path)


@pytest.mark.server
def test_a_wrong_password_is_not_shown(server_room: Room, tmp_path: Path) -> None:
    wrong = server_room.place.replace("pa%2Fss", "wrong%2Fss")
    assert wrong != server_room.place
    with pytest.raises(AccessError, match="doesn't let this user in") as told:
        Vault.open(wrong, ANITA, state=tmp_path)
    assert "wrong" not in str(told.value)


@pytest.mark.parametrize("place", ["mysql://u@h/d", "nonsense://", "sqlite://", "postgresql://h:port/x"])
def test_places_that_are_none(place: str, tmp_path: Path) -> None:
    with pytest.raises(ShoalError):
        Vault.create(place, ANITA, state=tmp_path)


def test_a_foreign_database_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "customers.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE customer (name)")
    connection.commit()
    connection.close()
    before = path.read_bytes()
    with pytest.raises(IntegrityError, match="not a vault"):
        Vault.open(path, ANITA, state=tmp_path / "state")
    assert path.read_bytes() == before
    assert sorted(one.name for one in tmp_path.iterdir()) == ["customers.db"]


def test_the_memory_of_this_machine_fails_in_the_middle(file_room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was committed stays, and the next call finds it."""
    vault = file_room.create()
    vault.add_domain("patients")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("shoal.vault.rollback_guard._replace", full)
    with pytest.raises(TargetError, match="can't be kept"):
        vault.issue("patients", pl.Series(["Asha"]), FORM)
    monkeypatch.undo()
    assert vault.issue("patients", pl.Series(["Asha"]), FORM).null_count() == 0
    assert vault.verify().entries == 1


@pytest.mark.requirement("V-01")
@pytest.mark.parametrize("content", [b"", b"\x80", b"\x00" * 40, bytes(range(31)), bytes(32), b"\x80" * 64])
def test_padding_comes_off_again(content: bytes) -> None:
    (one,) = padded([content])
    assert len(one) % BLOCK == 0
    assert len(one) > len(content)
    assert unpadded([one]) == [content]
