"""How far a stream is: what was read, what of it waits, what became of the rest. No value of any record.

It lies with the output and is committed with it, in one step. What waits is read again after a crash; so nothing that
waits is ever written, and nothing leaves twice.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from itertools import accumulate
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from shoal.errors import IntegrityError

Positions = NDArray[np.uint64]
_VERSION: Final = 1


@dataclass(frozen=True)
class StreamCounts:
    """What became of the records that were read."""

    read: int = 0
    published: int = 0
    suppressed: int = 0
    """Their delay was up, and no class that they could join had enough people."""
    excluded: int = 0
    """Left out by a rule of the policy."""
    late: int = 0
    unreadable: int = 0
    """No record at all, or with a value of another type than the policy says."""
    unknown: int = 0
    """With a value that a hierarchy does not know."""
    classes: int = 0
    levels: float = 0.0
    """How far the cells of quasi-identifiers went up their hierarchies, added up: 1 for each that is a star."""
    cells: int = 0

    def __add__(self, other: StreamCounts) -> StreamCounts:
        return StreamCounts(*(mine + theirs for mine, theirs in zip(_figures(self), _figures(other), strict=True)))

    @property
    def loss(self) -> float:
        """How far up cells went on average, from 0 (as they are) to 1 (all stars): 1 − Sweeney's precision."""
        return self.levels / self.cells if self.cells else 0.0


def _figures(counts: StreamCounts) -> tuple[Any, ...]:
    return tuple(asdict(counts).values())


@dataclass(frozen=True)
class StreamState:
    policy: str
    """The checksum of the policy: classes by another one could be compared with those that are out."""
    heads: Mapping[str, int] = field(default_factory=dict)
    """Per partition of the source, the position after the last record that was read."""
    waiting: tuple[int, ...] = ()
    """The positions of the records that wait, in rising order; they have their partition in them."""
    counts: StreamCounts = field(default_factory=StreamCounts)
    length: int = 0
    """Of a file that is the output: how many bytes of it count."""

    def advanced(self, heads: Mapping[str, int], waiting: Positions, counts: StreamCounts) -> StreamState:
        return replace(self, heads=dict(heads), waiting=tuple(np.sort(waiting).tolist()), counts=counts)

    def at_length(self, length: int) -> StreamState:
        return replace(self, length=length)

    def to_json(self) -> str:
        steps = [new - old for old, new in zip((0, *self.waiting), self.waiting, strict=False)]
        told = {"shoal_stream": _VERSION, **asdict(self), "waiting": steps}
        return json.dumps(told, sort_keys=True, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str, where: str) -> StreamState:
        try:
            told = json.loads(text)
            counts = StreamCounts(**told.pop("counts"))
            waiting = tuple(accumulate(map(int, told.pop("waiting"))))
            heads = {str(name): int(at) for name, at in told.pop("heads").items()}
            version = told.pop("shoal_stream")
            state = cls(**told, waiting=waiting, heads=heads, counts=counts)
        except (ValueError, KeyError, TypeError, AttributeError):
            version, state = None, cls("")
        if version != _VERSION:
            raise IntegrityError(f"{where}: is not what a stream wrote")
        return state
