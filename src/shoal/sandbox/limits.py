"""What a child process may use while it reads one file, and how it is held to that.

Memory is limited by RLIMIT_DATA, which counts what is private and writable. RLIMIT_AS would count the address space
that allocators and memory maps reserve and never touch, several times what they use.
"""

from __future__ import annotations

import os
import resource
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Final

MEMORY_VARIABLE: Final = "SHOAL_READER_MEMORY_MB"
SECONDS_VARIABLE: Final = "SHOAL_READER_SECONDS"
_MB: Final = 1 << 20


@dataclass(frozen=True)
class Limits:
    memory_mb: int = 1536
    """Private memory of the child; also the most that it may hand back."""
    seconds: int = 25
    """Processor time for a file of no size; the clock may run twice as long."""
    seconds_per_mb: float = 1.0
    """More of it for each megabyte of the file."""

    def scaled(self, size: int) -> Limits:
        """For a file of so many bytes; what the environment allows goes first."""
        seconds = _whole(SECONDS_VARIABLE) or self.seconds + int(size / _MB * self.seconds_per_mb)
        return replace(self, memory_mb=_whole(MEMORY_VARIABLE) or self.memory_mb, seconds=seconds)

    @property
    def memory(self) -> int:
        return self.memory_mb * _MB

    @property
    def patience(self) -> float:
        """Seconds on the clock without a word from the child, after which it is taken to hang."""
        return 2 * self.seconds + 5

    def to_dict(self) -> dict[str, float]:
        return asdict(self)

    @classmethod
    def of_dict(cls, told: Mapping[str, float]) -> Limits:
        return cls(int(told["memory_mb"]), int(told["seconds"]), told["seconds_per_mb"])


TABLES: Final = Limits()
DOCUMENTS: Final = Limits(seconds_per_mb=60.0)
"""Pages are painted and every text is looked at, so a megabyte may take a minute."""


def hold(limits: Limits) -> None:
    """Hold this process to the limits, from now on."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _limit(resource.RLIMIT_DATA, limits.memory)
    used = resource.getrusage(resource.RUSAGE_SELF)
    spent = int(used.ru_utime + used.ru_stime) + 1
    _limit(resource.RLIMIT_CPU, spent + limits.seconds)


def _limit(what: int, most: int) -> None:
    """A hard limit that this process was started under stays: only a superuser could lift it."""
    _, hard = resource.getrlimit(what)
    resource.setrlimit(what, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def private_memory() -> int:
    """Bytes that count against the limit of memory now."""
    with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123 - pathlib would double the child's start
        return int(file.read().split()[5]) * resource.getpagesize()


def _whole(variable: str) -> int | None:
    said = os.environ.get(variable, "")
    return int(said) if said.isdecimal() and int(said) > 0 else None
