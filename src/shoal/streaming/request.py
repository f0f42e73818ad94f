"""What a stream is asked for: how long a record may wait, what its time is, when it is too late."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from shoal.errors import InputError
from shoal.policy import Policy
from shoal.pseudonyms import Secrets

RECORDS: Final = 20_000
"""How many newer records one waits for where nothing is said."""
MOST_RECORDS: Final = 5_000_000
LARGEST_BATCH: Final = 10_000
_UNITS: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}
_SPAN: Final = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")


@dataclass(frozen=True)
class StreamDelay:
    """How long a record waits at most, for a class of its own kind: whichever comes first.

    A number of records always bounds it, since what waits is held in memory.

    >>> StreamDelay.parse("5000,30s")
    StreamDelay(records=5000, seconds=30.0)
    >>> StreamDelay.parse("2m")
    StreamDelay(records=20000, seconds=120.0)
    """

    records: int = RECORDS
    seconds: float | None = None

    @classmethod
    def parse(cls, text: str) -> StreamDelay:
        records, seconds = RECORDS, None
        for part in (part.strip() for part in text.split(",")):
            if part.isdecimal() and 1 <= int(part) <= MOST_RECORDS:
                records = int(part)
            else:
                seconds = parse_span(part, "delay")
        return cls(records, seconds)

    @property
    def batch(self) -> int:
        """How many records are looked at together, so that none waits for more than ``records`` newer ones."""
        return max(1, min(LARGEST_BATCH, self.records // 2))


def parse_span(text: str, name: str) -> float:
    """Seconds of a length of time as people write it.

    >>> parse_span("1.5h", "late")
    5400.0
    """
    found = _SPAN.fullmatch(text)
    if found is None:
        raise InputError("is a number of records, a time as 500ms, 30s, 5m, 1h, or both: 5000,30s", field=name)
    return float(found[1]) * _UNITS[found[2]]


@dataclass(frozen=True)
class StreamRequest:
    """A policy, and how its stream is to flow."""

    policy: Policy
    delay: StreamDelay = field(default_factory=StreamDelay)
    event_time: str | None = None
    """The column that says when a record came about; without one it is when it was read."""
    late: float = 0.0
    """How many seconds a record may be behind the newest that was read; later ones are left out."""
    follow: bool = False
    """Whether to wait for more at the end of what is there."""
    seed: int | None = None
    secrets: Secrets | None = None

    def __post_init__(self) -> None:
        if self.late and self.event_time is None:
            raise InputError("needs a column of the time", field="late", advice="name it with `event_time`")
