"""A stream of Valkey or Redis as a source: entries are records, their fields are texts."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from shoal.errors import SourceError
from shoal.streaming.sources.base import RawRecord, RecordBatch, StreamSource
from shoal.streaming.valkey_streams import StreamPlace, entry_at, position_of, told_by_server

PARTITION: Final = "entries"
_LONGEST_WAIT: Final = 1.0
"""Seconds that the server is asked to wait at a time."""


class ValkeyFeed(StreamSource):
    def __init__(self, address: str, *, follow: bool = False) -> None:
        self.place = StreamPlace.parse(address, "from")
        self.follow = follow
        self._server = self.place.connect()
        self._next = 0
        with told_by_server(self.place, SourceError):
            self._server.ping()

    @property
    def identity(self) -> str | None:
        return self.place.identity(self._server)

    def start(self, heads: Mapping[str, int], waiting: Sequence[int]) -> None:
        self._next = min((*waiting, heads.get(PARTITION, 0)))
        if waiting:
            self._need(min(waiting))

    def _need(self, position: int) -> None:
        """What was trimmed away before it had left would be missing without a word."""
        entry = entry_at(position)
        with told_by_server(self.place, SourceError):
            found: Any = self._server.xrange(self.place.key, min=entry, max=entry)
        if not found:
            raise SourceError(f"{self.place.shown}: entries were deleted that had not left yet")

    def read(self, most: int, wait: float | None) -> RecordBatch:
        until = None if wait is None else time.monotonic() + wait
        entries: list[tuple[bytes, dict[bytes, bytes]]] = []
        ended = False
        while len(entries) < most and not ended:
            found = self._range(most - len(entries))
            entries += found
            if found:
                continue
            if not self.follow:
                ended = True
            elif until is not None and time.monotonic() >= until:
                break
            else:
                self._wait(until)
        positions = np.array([position_of(entry) for entry, _ in entries], dtype=np.uint64)
        return RecordBatch([_record(fields) for _, fields in entries], positions, {PARTITION: self._next}, ended)

    def _range(self, most: int) -> list[tuple[bytes, dict[bytes, bytes]]]:
        with told_by_server(self.place, SourceError):
            found: Any = self._server.xrange(self.place.key, min=entry_at(self._next), count=most)
        if found:
            self._next = position_of(found[-1][0]) + 1
        return list(found)

    def _wait(self, until: float | None) -> None:
        """Until there is an entry that has not been read."""
        left = _LONGEST_WAIT if until is None else min(_LONGEST_WAIT, max(0.001, until - time.monotonic()))
        with told_by_server(self.place, SourceError):
            before = entry_at(max(0, self._next - 1))
            self._server.xread({self.place.key: before}, count=1, block=max(1, int(left * 1000)))

    def close(self) -> None:
        self._server.close()


def _record(fields: Mapping[bytes, bytes] | None) -> RawRecord | None:
    """None for an entry that was deleted, or that holds something else than text."""
    try:
        return None if fields is None else {name.decode(): value.decode() or None for name, value in fields.items()}
    except UnicodeDecodeError:
        return None
