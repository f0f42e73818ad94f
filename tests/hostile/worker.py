"""The process that is judged: one ``shoal …`` after the other through the command line's own entry point.

Modules, the tree of commands and the compiled patterns are kept between commands, since their making costs a hundred
times what a small file does; nothing else is. A command is a line of JSON; what it did is another.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import time
from functools import cached_property
from pathlib import Path
from typing import Any, Final

MOST_BYTES: Final = 2 << 30
RECOGNISERS: Final = "recognisers"
"""No command reads files of recognisers; plug-ins name them. This stands for one, behind the same entry point."""
_PEAK: Final = "VmHWM:"
KEPT: Final = 4_000_000
"""Bytes of what a command prints."""


class Shoal:
    """``shoal.cli.main`` with what it builds anew for each command built once."""

    def __init__(self) -> None:
        import typer.main

        from shoal.cli import app
        from shoal.text.matching import patterns

        self._app: Any = app
        self._commands: Any = typer.main.get_command(app.app)
        for name in ("_judges", "_scanner", "_surroundings"):
            _share(patterns.PatternFinder, name)

    def __call__(self, command: list[str]) -> int:
        sys.argv = ["shoal", *command]
        self._app.app = self._recognisers if command[0] == RECOGNISERS else self._commands
        try:
            self._app.main()
        except SystemExit as ended:
            return int(ended.code or 0)
        return 0

    @staticmethod
    def _recognisers(**_: object) -> int:
        from shoal.discover.recognisers import with_files

        with_files(Path(sys.argv[2]))
        return 0


def _share(owner: Any, name: str) -> None:
    """What is compiled from the same recognisers is compiled once."""
    compiled: dict[tuple[object, ...], tuple[object, object]] = {}
    make = vars(owner)[name].func

    def shared(self: Any) -> object:
        key = (id(self.recognisers), self.engine, self.least)
        if key not in compiled:
            compiled[key] = self.recognisers, make(self)
        return compiled[key][1]

    known = cached_property(shared)
    known.__set_name__(owner, name)
    setattr(owner, name, known)


def readers() -> list[int]:
    """The children that read untrusted files for this process, and live."""
    from shoal.sandbox import parent_process

    return [child._process.pid for child in parent_process._idle.children if child.is_usable]


def processor_seconds() -> float:
    """Of this process and of all that it has started."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    tick = os.sysconf("SC_CLK_TCK")
    living = 0.0
    for pid in readers():
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        living += (int(fields[11]) + int(fields[12])) / tick
    return time.process_time() + ended.ru_utime + ended.ru_stime + living


def peak_mb() -> int:
    """The largest that this process or one that it has started has been since it was forgotten."""
    found = [resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss]
    for pid in (os.getpid(), *readers()):
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
        found += [int(line.split()[1]) for line in lines if line.startswith(_PEAK)]
    return max(found) >> 10


def forget_peak() -> None:
    for pid in (os.getpid(), *readers()):
        Path(f"/proc/{pid}/clear_refs").write_text("5")


def main() -> None:
    orders, results = os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "w")
    out, said = os.memfd_create("out"), os.memfd_create("said")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(out, 1)
    os.dup2(said, 2)
    resource.setrlimit(resource.RLIMIT_DATA, (MOST_BYTES, MOST_BYTES))
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    shoal = Shoal()
    for order in orders:
        for file in (out, said):
            os.ftruncate(file, 0)
            os.lseek(file, 0, os.SEEK_SET)
        forget_peak()
        before, begun = processor_seconds(), time.perf_counter()
        code = shoal(json.loads(order))
        clock, used = time.perf_counter() - begun, processor_seconds()
        told = {"code": code, "clock": clock, "processor": used - before, "total": used, "peak_mb": peak_mb()}
        for name, file in (("stdout", out), ("stderr", said)):
            told[name] = os.pread(file, KEPT, 0).decode(errors="replace")  # type: ignore[assignment]
        results.write(json.dumps(told) + "\n")
        results.flush()


if __name__ == "__main__":
    main()
