"""CPU seconds, and a fixed piece of work to compare them with on machines that differ from hour to hour.

``time.process_time`` counts every thread of the process, those that only spin too: a library that wakes threads for
nothing pays for it here.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np

ROUNDS = 5
SORT_SECONDS = 0.85
"""What the sort took on the machine and in the hour in which the goals were set and ARX was measured."""

T = TypeVar("T")


def cpu_seconds(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


class FinishedProcess(NamedTuple):
    output: str
    seconds: float
    cpu_seconds: float
    """Of the process and its children, on all cores: what other work on the machine changes least."""
    peak_bytes: int
    """The most memory that it held at once."""


def run_process(command: Sequence[str], folder: Path) -> FinishedProcess:
    """A whole command. As an installed package, it finds its modules compiled."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPYCACHEPREFIX"] = str(folder / "bytecode")
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as told:
        started = time.perf_counter()
        process = subprocess.Popen(command, stdout=output, stderr=told, env=environment)
        _, status, used = os.wait4(process.pid, 0)
        elapsed = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            told.seek(0)
            raise subprocess.CalledProcessError(process.returncode, command, stderr=told.read())
        output.seek(0)
        peak = used.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
        return FinishedProcess(output.read(), elapsed, used.ru_utime + used.ru_stime, peak)


def median_when_warm(work: Callable[[], T]) -> tuple[T, float]:
    """What the work gives, and the median of its CPU seconds after a first run."""
    given = work()
    return given, statistics.median(cpu_seconds(work) for _ in range(ROUNDS))


def make_sort() -> Callable[[], float]:
    """The yardstick: a stable sort of ten million random numbers. Gives its CPU seconds."""
    limits = np.iinfo(np.int64)
    numbers = np.random.default_rng(1).integers(limits.min, limits.max, 10_000_000, dtype=np.int64)
    return lambda: cpu_seconds(lambda: np.sort(numbers, kind="stable"))
