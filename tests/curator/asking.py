"""Asks a curator from several processes, some of which are killed: ``python -m tests.curator.asking DATASET …``.

Arguments: the description, a file for what was told, how many processes, how many answers in all, how many of the
processes are killed at random moments. Each process begins with everything imported and writes a line for every answer
after it has it: the number of the question. Whoever is refused for want of budget writes ``refused`` and ends.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from pathlib import Path

from shoal.curator.curator import Curator
from shoal.dp import auditing, opendp_measurements
from shoal.errors import BudgetExhausted

EPSILON = "0.1"
PATIENCE_SECONDS = 500


def ask(dataset: str, told: int, name: int) -> None:
    """Another question each time, since the same one is answered from what is kept."""
    curator, turn = Curator(dataset), 0
    while True:
        turn += 1
        try:
            answer = curator.query(f"SELECT COUNT(*) FROM t WHERE age > {name}.{turn:06}", EPSILON)  # noqa: S608
        except BudgetExhausted:
            os.write(told, b"refused\n")
            return
        os.write(told, f"{answer.number}\n".encode())


def start(dataset: str, told: int, name: int) -> int:
    child = os.fork()
    if child == 0:
        try:
            ask(dataset, told, name)
        except Exception as error:  # noqa: BLE001 - whatever it is, the test has to see it
            os.write(told, f"failed {type(error).__name__} {error}\n".encode())
            os._exit(1)
        os._exit(0)
    return child


def main() -> None:
    dataset, told_path, processes, answers, kills = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:6])
    opendp_measurements.opendp()
    assert auditing.SAMPLES
    told = os.open(told_path, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600)
    chance = random.Random(20889)
    children = [start(dataset, told, name) for name in range(processes)]
    names, deadline = processes, time.monotonic() + PATIENCE_SECONDS
    while children and time.monotonic() < deadline:
        lines = Path(told_path).read_text().splitlines()
        if kills <= 0 and len(lines) >= answers:
            break
        time.sleep(chance.uniform(0.001, 0.15 if kills else 0.3))
        for child in list(children):
            if os.waitpid(child, os.WNOHANG)[0]:
                children.remove(child)
        if kills > 0 and children:
            victim = chance.choice(children)
            os.kill(victim, signal.SIGKILL)
            os.waitpid(victim, 0)
            kills -= 1
            children[children.index(victim)] = start(dataset, told, names)
            names += 1
    for child in children:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    sys.exit(0 if kills <= 0 else 1)


if __name__ == "__main__":
    main()
