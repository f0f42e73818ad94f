"""Eight processes pseudonymise overlapping sets of people at once: one pseudonym per person, and none is lost."""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import polars as pl
import pytest
from sqlalchemy import create_engine, make_url
from tests.vault.conftest import FORM, Room
from tests.vault.racing import PEOPLE

from shoal.errors import ShoalError, TargetError
from shoal.vault.entry_rows import every

pytestmark = pytest.mark.requirement("T-05", "V-01")

PROCESSES = 8
ROUNDS = 8


def raced(room: Room, root: Path, *, rotating: bool) -> tuple[list[dict[str, str]], list[int]]:
    """What each of the eight was given, and how often the keys were rotated meanwhile."""
    command = [sys.executable, "-m", "tests.vault.racing", room.place, str(room.state)]
    numbers = map(str, (PROCESSES, ROUNDS, int(rotating)))
    done = subprocess.run([*command, *numbers], check=True, capture_output=True, text=True, cwd=root, timeout=300)
    given, rotations = json.loads(done.stdout)
    assert all(isinstance(one, dict) for one in given), given
    return given, rotations


@pytest.mark.parametrize("rotating", [False, True], ids=["alone", "while keys are rotated"])
def test_eight_processes_at_once(room: Room, root: Path, rotating: bool) -> None:
    vault = room.create()
    vault.add_domain("people")
    given, rotations = raced(room, root, rotating=rotating)
    assert all(given)
    whole: dict[str, str] = {}
    for one in given:
        for person, code in one.items():
            assert whole.setdefault(person, code) == code
    assert len(set(whole.values())) == len(whole) > 0.9 * PEOPLE
    assert vault.verify().entries == len(whole)
    assert vault.issue("people", pl.Series(list(whole)), FORM).to_list() == list(whole.values())
    assert [times > 0 for times in rotations] == ([True] if rotating else [])


def test_of_eight_that_make_a_vault_one_does(room: Room) -> None:
    def make(_: int) -> str:
        try:
            return room.create().name
        except ShoalError as error:
            assert type(error) is TargetError
            return ""

    with ThreadPoolExecutor(PROCESSES) as threads:
        made = list(threads.map(make, range(PROCESSES)))
    assert len([name for name in made if name]) == 1
    assert room.open().name in made


@pytest.mark.server
def test_rows_come_from_the_server_in_parts(server_room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    """A look at all entries holds some at a time, not all of them."""
    vault = server_room.create()
    vault.add_domain("people")
    vault.issue("people", pl.Series([f"p{number}" for number in range(1000)]), FORM)
    monkeypatch.setattr("shoal.vault.entry_rows._FETCHED", 100)
    with vault._store.reading() as connection:
        parts = every(connection, 1)
        assert len(next(parts)) == 100
        cursors = connection.exec_driver_sql("SELECT count(*) FROM pg_cursors WHERE NOT is_holdable").scalar()
        assert cursors is not None
        assert cursors >= 1
        assert sum(map(len, parts)) == 900


@pytest.mark.server
def test_names_are_sorted_alike_whatever_the_server_does(server_room: Room) -> None:
    """A server that sorts text in another way, as after an update of its system, doesn't break the vault's check."""
    vault = server_room.create()
    for name in ("b", "a-1", "a_1", "a1"):
        vault.add_domain(name)
    engine = create_engine(make_url(server_room.place).set(drivername="postgresql+psycopg"))
    with engine.begin() as connection:
        for collation in ("en_US.utf8", "und-x-icu", "C"):
            known = "SELECT count(*) FROM pg_collation WHERE collname = %s"
            if connection.exec_driver_sql(known, (collation,)).scalar():
                change = f'ALTER TABLE shoal_domain ALTER COLUMN name TYPE varchar COLLATE "{collation}"'
                connection.exec_driver_sql(change)
    engine.dispose()
    assert vault.verify().domains == 4
