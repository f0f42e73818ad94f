"""What a stream is read from: a log of records that has positions, in one or more partitions.

A record's *position* is a whole number below 2⁶⁴ that rises along its partition and is the same whenever it is read
again: the offset in a file, the number in the log. Where there are several partitions, the number of the partition
stands in the upper bits, as ``position_in`` puts it. With these few methods any log can be a source, Kafka's too.
"""

from __future__ import annotations

import os
import stat
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Final

import numpy as np

from shoal.errors import SourceError
from shoal.streaming.state import Positions

_OFFSET_BITS: Final = 48
LARGEST_RECORD: Final = 1 << 20
"""Bytes. A longer one is no record: what waits has to fit into memory."""

RawRecord = Mapping[str, object]


def position_in(partition: int, offset: int) -> int:
    """
    >>> position_in(2, 7) == (2 << 48) + 7
    True
    """
    if not (0 <= partition < 1 << 16 and 0 <= offset < 1 << _OFFSET_BITS):
        raise SourceError("a partition has a number below 65,536, an offset one below 2⁴⁸")
    return partition << _OFFSET_BITS | offset


@dataclass(frozen=True)
class RecordBatch:
    """Some records as they were read; None stands for what was no record."""

    records: Sequence[RawRecord | None] = ()
    positions: Positions = field(default_factory=lambda: np.empty(0, dtype=np.uint64))
    heads: Mapping[str, int] = field(default_factory=dict)
    """Per partition, where to go on reading after these."""
    ended: bool = False
    """Whether no more will come."""


def file_identity(handle: int) -> str | None:
    """Of an open file, by whatever name; None of what is no file, such as a pipe."""
    found = os.fstat(handle)
    return f"file {found.st_dev} {found.st_ino}" if stat.S_ISREG(found.st_mode) else None


class StreamSource(ABC):
    replayable: ClassVar[bool] = True
    """Whether it can be read again from a position."""

    @property
    def identity(self) -> str | None:
        """The same as a sink's that would write where this reads, whatever both are called; None where none could."""
        return None

    @abstractmethod
    def start(self, heads: Mapping[str, int], waiting: Sequence[int]) -> None:
        """Go to where the first record is that waits; or to the heads, or the beginning."""

    @abstractmethod
    def read(self, most: int, wait: float | None) -> RecordBatch:
        """So many records, or those that came within so many seconds; however long it takes where ``wait`` is None."""

    def heads_of(self, positions: Positions, heads: Mapping[str, int]) -> Positions:
        """For each position, the head of its partition as it was when the stream stopped."""
        return np.full(len(positions), next(iter(heads.values()), 0), dtype=np.uint64)

    def close(self) -> None:  # noqa: B027  # most have nothing to close
        """What it holds is given back."""


class PartitionedSource(StreamSource):
    """A log in numbered partitions: heads go by the number, positions are as ``position_in`` makes them."""

    def heads_of(self, positions: Positions, heads: Mapping[str, int]) -> Positions:
        partitions = positions >> np.uint64(_OFFSET_BITS)
        distinct, places = np.unique(partitions, return_inverse=True)
        known = np.array([heads.get(str(partition), 0) for partition in distinct.tolist()], dtype=np.uint64)
        return known[places] if len(known) else np.empty(0, dtype=np.uint64)
