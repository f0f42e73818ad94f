"""CPU seconds, and a fixed piece of work to compare them with on machines that differ from hour to hour.

``time.process_time`` counts every thread of the process, those that only spin too: a library that wakes threads for
nothing pays for it here.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import TypeVar

import numpy as np

ROUNDS = 5
SORT_SECONDS = 0.85
"""What the sort took on the machine and in the hour in which the goals were set and ARX was measured."""

T = TypeVar("T")


def cpu_seconds(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


def median_when_warm(work: Callable[[], T]) -> tuple[T, float]:
    """What the work gives, and the median of its CPU seconds after a first run."""
    given = work()
    return given, statistics.median(cpu_seconds(work) for _ in range(ROUNDS))


def make_sort() -> Callable[[], float]:
    """The yardstick: a stable sort of ten million random numbers. Gives its CPU seconds."""
    limits = np.iinfo(np.int64)
    numbers = np.random.default_rng(1).integers(limits.min, limits.max, 10_000_000, dtype=np.int64)
    return lambda: cpu_seconds(lambda: np.sort(numbers, kind="stable"))
