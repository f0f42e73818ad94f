"""The loop of a stream: read, anonymise, commit; again and again, from where it was."""

from __future__ import annotations

import hashlib
import time
from dataclasses import replace
from typing import Final

import numpy as np
import polars as pl

from shoal.errors import FieldName, FieldText, InputError
from shoal.randomness import Randomness, now
from shoal.streaming.binding import bind_stream
from shoal.streaming.report import StreamReport
from shoal.streaming.request import StreamRequest
from shoal.streaming.sinks.base import StreamSink
from shoal.streaming.sources.base import RecordBatch, StreamSource
from shoal.streaming.state import Positions, StreamCounts, StreamState
from shoal.streaming.waiting_room import WaitingRoom

LOOK: Final = 1.0
"""Seconds after which a stream with a delay in time looks at what has come."""
LEAST_WAIT: Final = 0.02


class StreamRun:
    """One start of a stream. It may be stopped, or killed, at any moment, and started again with the same policy,
    source and sink: each record then leaves once.
    """

    def __init__(self, request: StreamRequest, source: StreamSource, sink: StreamSink) -> None:
        self.request, self.source, self.sink = request, source, sink
        if source.identity is not None and source.identity == sink.identity:
            raise InputError("is what is read", field="to", advice="take another name")
        plan = bind_stream(request.policy, Randomness(request.seed), request.secrets, request.event_time)
        self.room = WaitingRoom(plan, request.delay, request.event_time, request.late)
        self._counts = StreamCounts()
        self._started = time.perf_counter()

    def execute(self) -> StreamReport:
        state = self._begin()
        self._counts = state.counts
        old = _ResumedStream(self.source, state)
        self.source.start(state.heads, state.waiting)
        ended = False
        while not ended:
            try:
                batch = self.source.read(self.request.delay.batch, self._wait())
            except KeyboardInterrupt:
                if self._goes_on:
                    break
                # What waits could not be read again.
                batch = RecordBatch(heads=state.heads, ended=True)
            try:
                state, ended = self._step(old.new_of(batch), state), batch.ended
            except KeyboardInterrupt:
                if self._goes_on:
                    break
                raise
        return StreamReport(
            replace(state.counts, read=state.counts.read + len(self.room)),
            len(self.room),
            self.request.policy.required_k,
            ended,
            time.perf_counter() - self._started,
        )

    @property
    def _goes_on(self) -> bool:
        """Whether it can be stopped at any moment, and started again where it was."""
        return self.source.replayable and self.sink.lasting

    def _begin(self) -> StreamState:
        checksum = hashlib.sha256(self.request.policy.text.encode()).hexdigest()
        state = self.sink.load()
        if state is None:
            # Whose output it is stands there before the first record does.
            return self.sink.commit(pl.DataFrame(), StreamState(checksum))
        if state.policy != checksum:
            raise InputError(
                "the stream was begun with another policy, and classes by two policies could be laid over each other",
                advice=FieldText("take another target, or replace it with ", FieldName("force")),
            )
        return state

    def _wait(self) -> float | None:
        due = self.room.next_due(now().timestamp())
        return None if due is None else max(LEAST_WAIT, min(LOOK, due))

    def _step(self, batch: RecordBatch, state: StreamState) -> StreamState:
        """What has come goes in, what may leaves, and both are committed."""
        moment = now().timestamp()
        if len(batch.records):
            self._counts += self.room.take_in(batch.records, batch.positions, moment)
        frame, left = self.room.let_out(moment, ended=batch.ended)
        self._counts += left
        waiting = self.room.positions if self.source.replayable else np.empty(0, dtype=np.uint64)
        # What waits is read and counted again by whoever goes on from here.
        dealt_with = replace(self._counts, read=self._counts.read - len(self.room))
        new = state.advanced(batch.heads, waiting, dealt_with)
        return self.sink.commit(frame, new) if len(frame) or left.suppressed or batch.ended else new


class _ResumedStream:
    """What an earlier start of the stream has dealt with."""

    def __init__(self, source: StreamSource, state: StreamState) -> None:
        self._source, self._heads = source, state.heads
        self._waited = np.array(state.waiting, dtype=np.uint64)

    def new_of(self, batch: RecordBatch) -> RecordBatch:
        """Without the records that left before; those that waited had been counted, too."""
        if not self._heads or not len(batch.positions):
            return batch
        keep = self._is_new(batch.positions)
        if keep.all():
            return batch
        records = [record for record, kept in zip(batch.records, keep.tolist(), strict=True) if kept]
        return RecordBatch(records, batch.positions[keep], batch.heads, batch.ended)

    def _is_new(self, positions: Positions) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        return (positions >= self._source.heads_of(positions, self._heads)) | np.isin(positions, self._waited)
