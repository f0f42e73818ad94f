"""A lazy table: an origin that Spark reads and the pipeline that its batches go through on the executors."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import polars as pl

from shoal.engine.spark.executor_tasks import KEY, OrderKeyTask, RewriteTask
from shoal.engine.spark.table_origins import Origin, map_batches
from shoal.engine.spark.type_mapping import carried, quoted
from shoal.engine.step_pipeline import Operation, StepPipeline
from shoal.schema import ROW, Step

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

KEY_BITS: Final = 12
"""4,096 buckets of random keys: with ten thousand million records, each has two and a half million."""
PARTITION_RECORDS: Final = 1_000_000
"""Of a partition that is sorted."""


@dataclass(frozen=True)
class SparkTable:
    origin: Origin
    pipeline: StepPipeline
    order: Step | None = None
    """Whose key the written records are sorted by."""

    @classmethod
    def over(cls, origin: Origin, order: Step | None = None) -> SparkTable:
        return cls(origin, StepPipeline.over(origin.schema), order)

    @property
    def schema(self) -> pl.Schema:
        return self.pipeline.schema

    def after(self, step: Step) -> SparkTable:
        return replace(self, pipeline=self.pipeline.after(step))

    def having(self, operation: Operation) -> SparkTable:
        """After something that is done to every batch and leaves the columns as they are."""
        return replace(self, pipeline=replace(self.pipeline, operations=(*self.pipeline.operations, operation)))

    def keyed(self, step: Step) -> SparkTable:
        """With a column KEY that sorts as the step's ``order_key`` does."""
        key = Operation("key", OrderKeyTask(step), frozenset({KEY}), drops_records=False)
        schema = pl.Schema({**self.schema, KEY: pl.Int64()})
        return replace(self, pipeline=replace(self.having(key).pipeline, schema=schema, empty=None))

    def select(self, columns: tuple[str, ...], *, placed: bool = False) -> DataFrame:
        """These columns after the steps, with ROW if ``placed``. Where no step matters, records never leave Spark."""
        # A table of no columns would have no records either.
        placed = placed or not columns
        operations, _ = self.pipeline.live(columns)
        if not operations:
            return self.origin.frame(columns, placed=placed)
        records, rewrite = self._rewriting(columns)
        after = carried({**{name: self.schema[name] for name in columns}, **({ROW: pl.Int64()} if placed else {})})
        return map_batches(records, replace(rewrite, after=after), after)

    def rewriting(self, columns: tuple[str, ...]) -> tuple[DataFrame, RewriteTask]:
        """The records that these columns are made of, and what is done to them, which an executor does as it will.

        Where the table has an order, the records come in it, partition after partition.
        """
        if self.order is None:
            return self._rewriting(columns)
        keyed = self.keyed(self.order).select((*columns, KEY), placed=True)
        after = pl.Schema({name: self.schema[name] for name in columns})
        return _sorted(keyed, self.origin.places).select(*map(quoted, columns)), RewriteTask((), after, after)

    def _rewriting(self, columns: tuple[str, ...]) -> tuple[DataFrame, RewriteTask]:
        operations, read = self.pipeline.live(columns)
        before = pl.Schema({**{name: self.pipeline.source[name] for name in read}, ROW: pl.UInt64()})
        after = pl.Schema({name: self.schema[name] for name in columns})
        return self.origin.frame(read, placed=True), RewriteTask(operations, before, after)

    def every(self, step: int) -> pl.DataFrame:
        """Every n-th record of the source after the steps, all columns, on the driver in the order of the source."""
        columns = tuple(self.schema)
        records, rewrite = self._rewriting(columns)
        after = carried({**self.schema, ROW: pl.Int64()})
        some = records if step == 1 else records.where(f"{quoted(ROW)} % {step} = 0")
        return self.collect(map_batches(some, replace(rewrite, after=after), after)).sort(ROW).drop(ROW)

    def collect(self, frame: DataFrame) -> pl.DataFrame:
        """A small result on the driver, in the types that the table has."""
        result = pl.DataFrame(pl.from_arrow(frame.toArrow()))
        return result.cast({name: self.schema[name] for name in result.columns if name in self.schema})


def key_bucket() -> Column:
    """The first bits of a record's KEY, as a number from 0 on."""
    from pyspark.sql import functions as F  # noqa: N812

    return F.shiftright(KEY, 64 - KEY_BITS) + F.lit(1 << (KEY_BITS - 1))


def _sorted(keyed: DataFrame, records: int) -> DataFrame:
    """By KEY, then by position. Keys are random, so their first bits make partitions of equal size.

    Spark's own sort would make all records once more beforehand, to see how they are distributed.
    """
    if not hasattr(keyed, "repartitionById"):
        return keyed.sort(KEY, ROW)
    partitions = min(1 << KEY_BITS, 1 + records // PARTITION_RECORDS)
    place = (key_bucket() * partitions / (1 << KEY_BITS)).cast("int")
    return keyed.repartitionById(partitions, place).sortWithinPartitions(KEY, ROW)
