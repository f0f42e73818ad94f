"""Appends to a ledger until it is stopped or done, as ``python -m tests.ledger.appending ADDRESS PROCESSES ROUNDS``.

That many processes, forked from one that has everything imported, begin together; each writes a line for every entry
after it was committed: the process, its round and the entry's number.
"""

from __future__ import annotations

import os
import sys

from tests.ledger.conftest import NAME

from shoal.ledger import Ledger


def append(address: str, process: int, rounds: int) -> None:
    ledger = Ledger.open(address, NAME)
    for turn in range(rounds):
        entry = ledger.append("turn", {"process": process, "turn": turn})
        os.write(1, f"{process} {turn} {entry.number}\n".encode())


def main() -> None:
    address, processes, rounds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    start, go = os.pipe()
    children = []
    for process in range(processes):
        child = os.fork()
        if child == 0:
            os.read(start, 1)
            append(address, process, rounds)
            os._exit(0)
        children.append(child)
    os.write(go, b"g" * processes)
    codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    sys.exit(max(codes))


if __name__ == "__main__":
    main()
