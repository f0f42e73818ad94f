"""Runs steps of a vault in child processes and kills each at a given moment, as ``python killing.py PLACE STATE``.

A line on stdin, ``STEP NUMBER SECONDS``, is one step; the answer is a line with what the child had told before it was
killed (a last ``"end"`` says that the step was over by then) and after how long that was. Forked from a process that
has everything imported and has not begun to work yet, a child is there at once.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import polars as pl
from tests.vault.conftest import ANITA, REASON

from shoal.pseudonyms.formats.base32 import Base32
from shoal.vault import Vault, key_lifecycle

BATCH = 100
NEW = 800
ANSWERS = 5


def names(number: int) -> pl.Series:
    """So many people; those of one number are none of another's."""
    return pl.Series([f"person {number} {place}" for place in range(NEW)])


def insert(vault: Vault, number: int, tell: Callable[[str], None]) -> None:
    vault.issue("people", names(number), Base32())


def rotate(vault: Vault, number: int, tell: Callable[[str], None]) -> None:
    key_lifecycle.BATCH = BATCH
    vault.rotate("people")


def shred(vault: Vault, number: int, tell: Callable[[str], None]) -> None:
    vault.shred(f"domain{number}", REASON)


def reveal(vault: Vault, number: int, tell: Callable[[str], None]) -> None:
    for pseudonym in vault.lookup("people", names(0)[:ANSWERS].to_list()):
        asked = vault.ask("people", [str(pseudonym)], f"{REASON} {number}")
        tell(vault.reveal(asked.id)[0].value)


STEPS = {step.__name__: step for step in (insert, rotate, shred, reveal)}


def work(writer: int, step: str, number: int) -> None:
    vault = Vault.open(sys.argv[1], ANITA, state=Path(sys.argv[2]))

    def tell(what: str) -> None:
        os.write(writer, f"{what}\n".encode())

    tell("begun")
    STEPS[step](vault, number, tell)
    tell("end")


def killed(step: str, number: int, seconds: float) -> tuple[list[str], float]:
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            work(writer, step, number)
        finally:
            os._exit(0)
    os.close(writer)
    told = os.read(reader, 6)
    begun = time.monotonic()
    deadline = begun + seconds
    while not told.endswith(b"end\n") and (left := deadline - time.monotonic()) > 0:
        if select.select([reader], [], [], left)[0]:
            told += os.read(reader, 65536) or b"failed\nend\n"
    taken = time.monotonic() - begun
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    while more := os.read(reader, 65536):
        told += more
    os.close(reader)
    return told.decode().splitlines()[1:], taken


def main() -> None:
    for line in sys.stdin:
        step, number, seconds = line.split()
        sys.stdout.write(json.dumps(killed(step, int(number), float(seconds))) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
