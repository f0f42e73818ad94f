"""SIGKILL at any moment: the vault opens, holds all or nothing of the step, and no pseudonym goes to two people."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.vault.conftest import FORM, REASON, Room
from tests.vault.killing import ANSWERS, BATCH, NEW, names

from shoal.vault import Vault

pytestmark = pytest.mark.requirement("V-01", "T-05")

KILLS = 20
INSIDE = 8
"""So many of them have to fall within the step, or nothing was shown."""

Run = Callable[[str, int, float], tuple[list[str], float]]


@pytest.fixture
def run(room: Room, root: Path) -> Iterator[Run]:
    command = [sys.executable, "-m", "tests.vault.killing", room.place, str(room.state)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=root)
    assert process.stdin and process.stdout

    def step(name: str, number: int, seconds: float) -> tuple[list[str], float]:
        assert process.stdin and process.stdout
        process.stdin.write(f"{name} {number} {seconds}\n")
        process.stdin.flush()
        told, taken = json.loads(process.stdout.readline())
        assert "failed" not in told
        return told, taken

    with process:
        yield step
        process.stdin.close()


def on(*rooms: str) -> pytest.MarkDecorator:
    marks = {"server_room": [pytest.mark.server, pytest.mark.slow]}
    return pytest.mark.parametrize(
        "room", [pytest.param(one, marks=marks.get(one, [])) for one in rooms], indirect=True
    )


def moments(run: Run, name: str, first: int = 0) -> Iterator[tuple[int, list[str]]]:
    """The step runs through once, which takes so long; then it is killed at moments within that time."""
    chance = random.Random(20889)
    told, quickest = run(name, first, 60)
    assert told[-1] == "end"
    inside = 0
    for number in range(first + 1, first + 1 + KILLS):
        told, taken = run(name, number, chance.uniform(0, quickest))
        if told and told[-1] == "end":
            quickest = min(quickest, taken)
        else:
            inside += 1
        yield number, told
    assert inside >= INSIDE


@on("file_room", "server_room")
def test_during_a_bulk_insert(room: Room, run: Run) -> None:
    room.create().add_domain("people")
    owners: dict[str, str] = {}
    entries = NEW
    for number, told in moments(run, "insert"):
        vault = room.open()
        held = vault.verify().entries
        assert held in ({entries + NEW} if "end" in told else {entries, entries + NEW})
        some = vault.lookup("people", names(number)[:50].to_list())
        assert {code is None for code in some} == {held == entries}
        for people in (names(number), names(number - 1)[:100]):
            for code, person in zip(vault.issue("people", people, FORM), people, strict=True):
                assert owners.setdefault(code, person) == person
        entries += NEW
    assert room.open().verify().entries == entries
    assert len(owners) == len(set(owners.values()))


@on("file_room")
def test_during_a_rotation(room: Room, run: Run) -> None:
    vault = room.create()
    vault.add_domain("people")
    first = vault.issue("people", names(0), FORM).to_list()
    unfinished = 0
    for _, _told in moments(run, "rotate"):
        vault = room.open()
        assert vault.verify().entries == NEW
        assert vault.issue("people", names(0), FORM).to_list() == first
        counts = versions(vault)
        assert sum(counts) == NEW
        assert all(count % BATCH == 0 for count in counts)
        unfinished += len(counts) > 1
        vault.rotate("people")
        assert len(versions(vault)) == 1
    assert unfinished >= INSIDE / 2
    assert vault.issue("people", names(0), FORM).to_list() == first
    assert vault.verify().entries == NEW


def versions(vault: Vault) -> list[int]:
    """How many entries there are under each key."""
    with vault._store.reading() as connection:
        return list(connection.exec_driver_sql("SELECT count(*) FROM shoal_entry GROUP BY version").scalars())


@on("file_room")
def test_during_a_shred(room: Room, run: Run) -> None:
    vault = room.create()
    people = names(0)[:100]
    issued: dict[int, list[str | None]] = {}
    wrapped: dict[int, list[bytes]] = {}
    for number in range(KILLS + 1):
        vault.add_domain(f"domain{number}")
        issued[number] = vault.issue(f"domain{number}", people, FORM).to_list()
    with vault._store.reading() as connection:
        for domain, key in connection.exec_driver_sql("SELECT domain, wrapped FROM shoal_domain_key"):
            wrapped.setdefault(domain - 1, []).append(key)
    left = set()
    for number, told in moments(run, "shred"):
        vault = room.open()
        vault.verify()
        (domain,) = [one for one in vault.domains() if one.name == f"domain{number}"]
        if domain.shredded is None:
            assert "end" not in told
            left.add(number)
            assert vault.issue(domain.name, people, FORM).to_list() == issued[number]
        proof = vault.shred(domain.name, REASON)
        assert proof.entries == len(people)
        assert not vault._store.holds(wrapped[number])
    assert left
    assert len(left) < KILLS
    assert vault.verify().entries == 0


@on("file_room")
def test_during_a_reveal(room: Room, run: Run) -> None:
    vault = room.create()
    vault.add_domain("people")
    vault.issue("people", names(0), FORM)
    expected = names(0)[:ANSWERS].to_list()
    for number, told in moments(run, "reveal"):
        vault = room.open()
        vault.verify()
        answers = told[:-1] if told and told[-1] == "end" else told
        assert answers == expected[: len(answers)]
        reasons = [entry.details["reason"] for entry in vault.audit() if entry.action == "reveal"]
        assert len(answers) <= reasons.count(f"{REASON} {number}") <= len(answers) + 1
