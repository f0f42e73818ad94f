"""A stream of Valkey or Redis as a sink: entries and the state of the stream in one transaction.

The state lies under the key ``NAME:shoal-stream`` on the same server. The transaction goes through only if the state is
still the one that this stream wrote (optimistic locking): two streams can't write to one place.
"""

from __future__ import annotations

from typing import Any, Final

import polars as pl

from shoal.errors import FieldName, FieldText, TargetError
from shoal.streaming.sinks.base import StreamSink
from shoal.streaming.state import StreamState
from shoal.streaming.valkey_streams import StreamPlace, told_by_server

JOURNAL: Final = ":shoal-stream"


class ValkeySink(StreamSink):
    def __init__(self, address: str, *, force: bool = False) -> None:
        self.place = StreamPlace.parse(address, "to")
        self.journal = self.place.key + JOURNAL
        self._server = self.place.connect()
        self._kept: bytes | None = None
        self._force = force
        with told_by_server(self.place, TargetError):
            self._server.ping()

    @property
    def identity(self) -> str | None:
        return self.place.identity(self._server)

    def load(self) -> StreamState | None:
        with told_by_server(self.place, TargetError):
            if self._force:
                self._server.delete(self.place.key, self.journal)
            kept: Any = self._server.get(self.journal)
            there = bool(self._server.exists(self.place.key))
        self._kept = kept
        if kept is not None:
            return StreamState.from_json(kept.decode(errors="replace"), self.journal)
        if there:
            raise TargetError(
                f"{self.place.shown}: is there already, and no stream left it",
                advice=FieldText("take another name, or replace it with ", FieldName("force")),
            )
        return None

    def commit(self, frame: pl.DataFrame, state: StreamState) -> StreamState:
        from redis.exceptions import WatchError

        told = state.to_json().encode()
        with told_by_server(self.place, TargetError), self._server.pipeline(transaction=True) as pipe:
            pipe.watch(self.journal)  # type: ignore[no-untyped-call]
            if pipe.get(self.journal) != self._kept:
                raise self._another()
            pipe.multi()
            for record in frame.select(pl.all().cast(pl.String).fill_null("")).iter_rows(named=True):
                pipe.xadd(self.place.key, {name: str(value) for name, value in record.items()})
            pipe.set(self.journal, told)
            try:
                pipe.execute()
            except WatchError:
                raise self._another() from None
        self._kept = told
        return state

    def _another(self) -> TargetError:
        return TargetError(f"{self.place.shown}: another stream writes to it")

    def close(self) -> None:
        self._server.close()
