"""What travels to the executors: the very steps that the Polars engine applies, with Polars inside."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl
import pyarrow as pa

from shoal.engine.spark.error_transport import sending_errors
from shoal.engine.step_pipeline import Operation, run
from shoal.errors import BugError
from shoal.schema import ROW, Step
from shoal.schema.type_detection import TypeCandidates, count

KEY: Final = "__shoal_key"
"""A step's key of each record, in the signed numbers that Spark has, in the same order."""
BATCH_RECORDS: Final = 100_000


@dataclass(frozen=True)
class RewriteTask:
    """Batches after the operations. Columns arrive by position and leave in the types that Spark has."""

    operations: tuple[Operation, ...]
    before: pl.Schema
    after: pl.Schema

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            with sending_errors():
                packed = _packed(self.rewritten(batch))
            yield from packed

    def rewritten(self, batch: pa.RecordBatch) -> pl.DataFrame:
        result = run(self.operations, _unpacked(batch, self.before))
        return result.select(self.after.names()).cast(self.after)


@dataclass(frozen=True)
class WholePartitionTask:
    """A step on all records of a partition at once, in the order of their positions."""

    step: Step
    before: pl.Schema
    after: pl.Schema

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        gathered = list(batches)
        with sending_errors():
            frame = pl.concat(
                [pl.DataFrame(schema=self.before), *(_unpacked(batch, self.before) for batch in gathered)]
            )
            gathered.clear()
            result = self._applied(frame).select(self.after.names()).cast(self.after)
        for start in range(0, result.height, BATCH_RECORDS):
            yield from _packed(result[start : start + BATCH_RECORDS])

    def _applied(self, frame: pl.DataFrame) -> pl.DataFrame:
        result = self.step.apply(frame)
        if not result[ROW].is_sorted():
            raise BugError("a TABLE step changed the order of the records")
        if result.height != frame.height and not self.step.drops_records:
            raise BugError(f"{type(self.step).__name__} changed the number of records without declaring it")
        return result


@dataclass(frozen=True)
class LiteralFrameTask:
    """A frame that is given beforehand, whatever arrives."""

    frame: pl.DataFrame

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for _ in batches:
            yield from _packed(self.frame)


@dataclass(frozen=True)
class OrderKeyTask:
    """The frame with the step's key of each record."""

    step: Step

    def __call__(self, frame: pl.DataFrame) -> pl.DataFrame:
        return frame.with_columns(self.keys(frame))

    def keys(self, frame: pl.DataFrame) -> pl.Series:
        keys = self.step.order_key(frame[ROW].to_numpy())
        return pl.Series(KEY, (keys ^ np.uint64(1 << 63)).view(np.int64))


@dataclass(frozen=True)
class RankCutoff:
    """The records up to a key and position, both included."""

    keyed: OrderKeyTask
    key: int
    row: int

    def __call__(self, frame: pl.DataFrame) -> pl.DataFrame:
        keys = self.keyed.keys(frame)
        return frame.filter((keys < self.key) | ((keys == self.key) & (frame[ROW].cast(pl.Int64) <= self.row)))


@dataclass(frozen=True)
class PartialReduceTask:
    """A REDUCE step on a partition: one partial result, in one line that is opaque to Spark."""

    step: Step
    before: pl.Schema

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        partial: pl.DataFrame | None = None
        for batch in batches:
            with sending_errors():
                more = self.step.apply(_unpacked(batch, self.before))
                partial = more if partial is None else self.step.merge(pl.concat([partial, more]))
        if partial is not None:
            with sending_errors():
                sealed = [_sealed(part) for part in partial.iter_slices(BATCH_RECORDS)]
            for part in sealed:
                yield pa.record_batch({"partial": pa.array([part], pa.binary())})


def unsealed(partial: bytes) -> pl.DataFrame:
    return pl.DataFrame(pl.from_arrow(pa.ipc.open_stream(partial).read_all()))


def _sealed(frame: pl.DataFrame) -> bytes:
    sink = pa.BufferOutputStream()
    table = frame.to_arrow(compat_level=pl.CompatLevel.oldest())
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


@dataclass(frozen=True)
class TypeTally:
    """One record of facts for each batch: how many values fit which value type."""

    before: pl.Schema
    candidates: Mapping[str, TypeCandidates]

    def facts(self) -> tuple[str, ...]:
        return tuple(count(pl.LazyFrame(schema=self.before), self.candidates))

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            with sending_errors():
                facts = count(_unpacked(batch, self.before).lazy(), self.candidates)
                packed = _packed(pl.DataFrame([list(facts.values())], orient="row").cast(pl.Int64))
            yield from packed


def _unpacked(batch: pa.RecordBatch, schema: pl.Schema) -> pl.DataFrame:
    frame = pl.DataFrame(pl.from_arrow(batch))
    frame.columns = schema.names()
    return frame.cast(schema)


def _packed(frame: pl.DataFrame) -> list[pa.RecordBatch]:
    batches: list[pa.RecordBatch] = frame.to_arrow(compat_level=pl.CompatLevel.oldest()).to_batches()
    return batches
