"""A log of records in memory and a sink beside it, for streams: as small as the interface allows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from shoal.streaming.sinks.base import StreamSink
from shoal.streaming.sources.base import PartitionedSource, RawRecord, RecordBatch, position_in
from shoal.streaming.state import StreamState


@dataclass
class ListedLog(PartitionedSource):
    """Partitions that are lists; a read takes what ``reads`` says of each in turn, or as much as there may be."""

    partitions: Sequence[Sequence[RawRecord | None]]
    reads: int | None = None
    at: list[int] = field(default_factory=list)

    def start(self, heads: Mapping[str, int], waiting: Sequence[int]) -> None:
        first = {number: position_in(number, 0) for number in range(len(self.partitions))}
        begin = {number: heads.get(str(number), position) for number, position in first.items()}
        for position in waiting:
            number = position >> 48
            begin[number] = min(begin[number], position)
        self.at = [begin[number] - first[number] for number in range(len(self.partitions))]

    def read(self, most: int, wait: float | None) -> RecordBatch:
        records: list[RawRecord | None] = []
        positions: list[int] = []
        left = most if self.reads is None else min(most, self.reads)
        for number, partition in enumerate(self.partitions):
            taken = partition[self.at[number] : self.at[number] + left]
            records += taken
            positions += [position_in(number, self.at[number] + place) for place in range(len(taken))]
            self.at[number] += len(taken)
            left -= len(taken)
        heads = {str(number): position_in(number, at) for number, at in enumerate(self.at)}
        ended = all(at == len(partition) for at, partition in zip(self.at, self.partitions, strict=True))
        return RecordBatch(records, np.array(positions, dtype=np.uint64), heads, ended)


class Stopped(BaseException):
    """What a sink raises in the place of a power cut."""


@dataclass
class ListedSink(StreamSink):
    """Keeps each commit as a list of records; ``stop_at`` cuts the power at a commit, before or after it is kept."""

    commits: list[list[dict[str, Any]]] = field(default_factory=list)
    kept: str | None = None
    stop_at: int | None = None
    stop_after: bool = False

    def load(self) -> StreamState | None:
        return None if self.kept is None else StreamState.from_json(self.kept, "memory")

    def commit(self, frame: pl.DataFrame, state: StreamState) -> StreamState:
        if not frame.width:
            self.kept = state.to_json()
            return state
        stops = self.stop_at is not None and len(self.commits) == self.stop_at
        if stops and not self.stop_after:
            raise Stopped
        self.commits.append(frame.to_dicts())
        self.kept = state.to_json()
        if stops:
            raise Stopped
        return state

    @property
    def records(self) -> list[dict[str, Any]]:
        return [record for commit in self.commits for record in commit]
