"""Four processes act in a registry until done or killed, as ``python -m tests.govern.acting PLACE ROUNDS KILLS``.

They are forked from one that has everything imported. After each act that is on disk, a line says what was done. With
kills, all four are killed soon after the first of them has acted, and four others follow, as often as was asked for.
"""

from __future__ import annotations

import os
import signal
import sys
import time

from shoal.errors import InputError
from shoal.govern.registry import GovernanceRegistry

WRITERS = 4


def act(place: str, process: str, rounds: int) -> None:
    with GovernanceRegistry.open(place) as registry:
        for turn in range(rounds):
            registry.perform("source", "add", f"s-{process}-{turn}", {"title": "x", "owner": "y"}, by="manager")
            os.write(1, f"s-{process}-{turn}\n".encode())
            try:
                registry.perform("request", "reject", f"R-{turn}", {"reason": "no"}, by="chief-investigator")
            except InputError:
                continue
            os.write(1, f"rejected R-{turn}\n".encode())


def started(place: str, name: str, rounds: int) -> list[int]:
    children = []
    for process in range(WRITERS):
        child = os.fork()
        if child == 0:
            act(place, f"{name}-{process}", rounds)
            os._exit(0)
        children.append(child)
    return children


def killed(place: str, turn: int, rounds: int) -> None:
    told, telling = os.pipe()
    own = os.dup(1)
    os.dup2(telling, 1)
    children = started(place, str(turn), rounds)
    os.dup2(own, 1)
    os.close(telling)
    os.close(own)
    lines = os.read(told, 1 << 16)
    time.sleep(0.013 * (turn % 23))
    for child in children:
        os.kill(child, signal.SIGKILL)
    for child in children:
        os.waitpid(child, 0)
    while more := os.read(told, 1 << 16):
        lines += more
    os.close(told)
    sys.stdout.buffer.write(lines)
    sys.stdout.flush()


def main() -> None:
    place, rounds, kills = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    for turn in range(kills):
        killed(place, turn, rounds)
    if not kills:
        children = started(place, "0", rounds)
        sys.exit(max(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children))


if __name__ == "__main__":
    main()
