"""Several writers at once, and writers that are killed: the chain stays one line and loses nothing promised."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

from tests.ledger.conftest import SIGNER, Place, plainly_verified

PROCESSES = 8
ROUNDS = 100
KILLS = 6


def command(place: Place, processes: int, rounds: int) -> list[str]:
    return [sys.executable, "-m", "tests.ledger.appending", place.address, str(processes), str(rounds)]


def test_eight_processes_append_at_once(place: Place, root: Path) -> None:
    ledger = place.create()
    done = subprocess.run(
        command(place, PROCESSES, ROUNDS), check=True, capture_output=True, text=True, cwd=root, timeout=300
    )
    told = [tuple(map(int, line.split())) for line in done.stdout.splitlines()]
    assert sorted(number for *_, number in told) == list(range(1, PROCESSES * ROUNDS + 1))
    entries = [(entry.payload["process"], entry.payload["turn"], entry.number) for entry in ledger.entries()]
    assert sorted(entries) == sorted(told)
    for process in range(PROCESSES):
        assert [turn for one, turn, _ in entries if one == process] == list(range(ROUNDS))
    switches = sum(before[0] != after[0] for before, after in pairwise(entries))
    assert switches > PROCESSES, "they have taken turns"
    assert ledger.verify().entries == len(plainly_verified(place)) == PROCESSES * ROUNDS


def test_killed_while_appending(place: Place, root: Path) -> None:
    ledger = place.create()
    chance, promised = random.Random(20889), 0
    for _ in range(KILLS):
        work = command(place, 1, 10**6)
        with subprocess.Popen(work, stdout=subprocess.PIPE, text=True, cwd=root, process_group=0) as process:
            assert process.stdout
            for _ in range(chance.randrange(1, 20)):
                promised = int(process.stdout.readline().split()[-1])
            time.sleep(chance.uniform(0, 0.02))
            os.killpg(process.pid, signal.SIGKILL)
            promised = max([promised, *(int(line.split()[-1]) for line in process.stdout if line.endswith("\n"))])
        entries = ledger.verify().entries
        assert promised <= entries <= promised + 1
        assert len(plainly_verified(place)) == entries
        assert ledger.checkpoint(SIGNER).number == entries
        assert ledger.append("after the kill", {}).number == entries + 1


def test_a_reader_in_this_process_keeps_its_moment_while_others_write(place: Place, root: Path) -> None:
    """On SQLite a log that others take for their own would vanish under the reader."""
    ledger = place.create()
    for number in range(3):
        ledger.append("x", {"n": number})
    reading = ledger.entries()
    first = next(reading)
    ledger.append("x", {"n": 3})
    subprocess.run(command(place, 2, 5), check=True, capture_output=True, cwd=root, timeout=300)
    if place.engine.dialect.name == "sqlite":
        assert Path(f"{place.address}-wal").exists()
    assert [entry.payload["n"] for entry in (first, *reading)] == [0, 1, 2]
    assert ledger.verify().entries == len(plainly_verified(place)) == 14
