"""Several processes that work on a vault at once: ``python -m tests.vault.racing PLACE STATE PROCESSES ROUNDS ROTATE``.

All are forked from one that has everything imported and begin together; the last line is JSON: for each, who was given
which pseudonym. With ROTATE one more rotates the domain's keys until the others have ended, and tells how often.
"""

from __future__ import annotations

import json
import os
import random
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
from tests.vault.conftest import ANITA

from shoal.pseudonyms.formats.base32 import Base32
from shoal.vault import Vault, key_lifecycle

PEOPLE = 1500
AT_ONCE = 300


def issue(vault: Vault, seed: int, rounds: int) -> dict[str, str]:
    """Sets that overlap with those of the others."""
    chance, given = random.Random(seed), dict[str, str]()
    for _ in range(rounds):
        people = [f"person {number}" for number in chance.sample(range(PEOPLE), AT_ONCE)]
        for person, code in zip(people, vault.issue("people", pl.Series(people), Base32()), strict=True):
            if given.setdefault(person, code) != code:
                raise AssertionError("a person has two pseudonyms")
    return given


def rotate(vault: Vault, until: Path) -> int:
    key_lifecycle.BATCH = 100
    times = 0
    while not until.exists():
        vault.rotate("people")
        times += 1
    return times


def forked(work: Callable[[], Any], start: int) -> int:
    """Where the outcome of ``work`` will be read, which begins when ``start`` is closed."""
    reader, writer = os.pipe()
    if os.fork() == 0:
        try:
            os.read(start, 1)
            outcome = work()
        except BaseException:  # noqa: BLE001 - told to the parent
            outcome = traceback.format_exc()
        with os.fdopen(writer, "w") as file:
            json.dump(outcome, file)
        os._exit(0)
    os.close(writer)
    return reader


def outcome(reader: int) -> Any:
    with os.fdopen(reader) as file:
        return json.loads(file.read())


def main() -> None:
    place, state = sys.argv[1], Path(sys.argv[2])
    processes, rounds, rotating = map(int, sys.argv[3:])
    stop = state / "stop"

    def opened() -> Vault:
        return Vault.open(place, ANITA, state=state)

    start, go = os.pipe()
    os.set_inheritable(go, False)
    racers = [forked(lambda seed=seed: issue(opened(), seed, rounds), start) for seed in range(processes)]  # type: ignore[misc]
    rotator = [forked(lambda: rotate(opened(), stop), start) for _ in range(rotating)]
    os.write(go, b"g" * (processes + rotating))
    given = [outcome(reader) for reader in racers]
    stop.touch()
    sys.stdout.write(json.dumps([given, [outcome(reader) for reader in rotator]]) + "\n")


if __name__ == "__main__":
    main()
