"""Whoever watches the process that is judged: starts it, gives it commands, sees it fall, hang or grow.

A minute is judged by the processor time of the command and of what it has started. The clock alone proves nothing on a
busy machine: a command that has been waiting for its turn is no fault. It counts where nothing of it even wants to run,
which is a hang.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.support.processes import family, stat_fields

MOST_SECONDS: Final = 60.0
_SAMPLES: Final = 30
_BETWEEN: Final = 0.1
_NEEDED: Final = 0.1
"""Seconds of processor time in all of the samples, below which a process that waits is taken to hang."""
_TICK: Final = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Ran:
    code: int
    clock: float
    processor: float
    total: float
    """Processor time since the process began."""
    peak_mb: int
    stdout: str
    stderr: str


class FellError(Exception):
    """The process is gone, or had to be ended: what it died of."""


class Watched:
    def __init__(self, folder: Path, most_seconds: float = MOST_SECONDS) -> None:
        self._folder = folder
        self._most_seconds = most_seconds
        self._process: subprocess.Popen[str] | None = None
        self._words = [sys.executable, "-m", "tests.hostile.worker"]
        self._total = 0.0

    def run(self, command: Sequence[str]) -> Ran:
        process = self._process or self._started()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(json.dumps(list(command)) + "\n")
            process.stdin.flush()
            self._wait(process)
            line = process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            code = process.wait()
            self.end()
            raise FellError(f"the process ended with {code}")
        ran = Ran(**json.loads(line))
        self._total = ran.total
        return ran

    def end(self) -> None:
        if self._process is not None:
            self._process.kill()
            with suppress(BrokenPipeError):
                self._process.communicate()
            self._process = None

    def _started(self) -> subprocess.Popen[str]:
        where = {
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
            "PATH": "/usr/bin:/bin",
            "HOME": str(self._folder),
            "SHOAL_CACHE": f"{self._folder}.cache",
        }
        kept = {name: os.environ[name] for name in ("SHOAL_READER_SECONDS", "SHOAL_DEBUG") if name in os.environ}
        self._process = subprocess.Popen(
            self._words,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=self._folder,
            env={**where, **kept},
        )
        self._total = 0.0
        return self._process

    def _wait(self, process: subprocess.Popen[str]) -> None:
        """Until it answers or is gone."""
        begun = time.monotonic()
        assert process.stdout is not None
        while not select.select([process.stdout], [], [], 1.0)[0]:
            if time.monotonic() - begun < self._most_seconds:
                continue
            if sum(map(seconds_of, family(process.pid))) - self._total > self._most_seconds:
                self._give_up(f"more than {self._most_seconds:.0f} s of processor time")
            if hangs(process.pid):
                self._give_up(f"hangs: nothing of it wants to run after {self._most_seconds:.0f} s")

    def _give_up(self, said: str) -> None:
        self.end()
        raise FellError(said)


def seconds_of(pid: int) -> float:
    """Processor time of a process and of those of its children that have ended."""
    return sum(map(int, stat_fields(pid)[11:15])) / _TICK


def hangs(pid: int) -> bool:
    """Whether nothing of it runs, waits for a processor or for a disk, for some seconds on end."""
    before = sum(map(seconds_of, family(pid)))
    for _ in range(_SAMPLES):
        if any(state in "RD" for state in _states(pid)):
            return False
        time.sleep(_BETWEEN)
    return sum(map(seconds_of, family(pid))) - before < _NEEDED


def _states(pid: int) -> Iterator[str]:
    for each in family(pid):
        for thread in Path(f"/proc/{each}/task").glob("*/stat"):
            try:
                yield thread.read_text().rpartition(")")[2].split()[0]
            except OSError:
                continue
