"""What travels to the executors: the very steps that the Polars engine applies, with Polars inside."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import polars as pl
import pyarrow as pa

from shoal.engine.pipeline import Operation, run
from shoal.engine.spark.crossing import departing
from shoal.schema.detect import Candidates, count


@dataclass(frozen=True)
class Rewrite:
    """Batches after the operations. Columns arrive by position and leave in the types that Spark has."""

    operations: tuple[Operation, ...]
    before: pl.Schema
    after: pl.Schema

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            with departing():
                result = run(self.operations, _unpacked(batch, self.before))
                packed = _packed(result.select(self.after.names()).cast(self.after))
            yield from packed


@dataclass(frozen=True)
class Tally:
    """One record of facts for each batch: how many values fit which value type."""

    before: pl.Schema
    candidates: Mapping[str, Candidates]

    def facts(self) -> tuple[str, ...]:
        return tuple(count(pl.LazyFrame(schema=self.before), self.candidates))

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            with departing():
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
