"""The table that a REDUCE step makes: partial results on the executors, the final one on the driver."""

from __future__ import annotations

import polars as pl

from shoal.engine.spark.executor_tasks import PartialReduceTask, unsealed
from shoal.engine.spark.table import SparkTable
from shoal.engine.spark.table_origins import FrameOrigin, given, map_batches
from shoal.engine.step_pipeline import empty_frame
from shoal.schema import ROW, Step


def reduce(table: SparkTable, step: Step) -> SparkTable:
    reads = tuple(dict.fromkeys(step.reads))
    before = pl.Schema({**{name: table.schema[name] for name in reads}, ROW: pl.UInt64()})
    records = table.select(reads, placed=True)
    sealed = map_batches(records, PartialReduceTask(step, before), pl.Schema({"partial": pl.Binary()})).toArrow()
    nothing = step.apply(empty_frame(table.schema).select(*reads, ROW))
    partial = [unsealed(part.as_buffer()).cast(nothing.schema) for part in sealed["partial"]]
    result = step.finish(pl.concat([nothing, *partial]))
    placed = result.with_columns(pl.int_range(pl.len()).alias(ROW))
    return SparkTable.over(FrameOrigin(given(records.sparkSession, placed), result.schema, result.height))
