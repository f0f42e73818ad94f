"""What the executors have written, on its way into the target.

They write beside the target, all at once, a file each; then the driver writes the target from these files in one
stream, as it would have from its own batches. So every kind of target works, and is written whole or not at all.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from shoal.engine.spark.table import SparkTable
from shoal.engine.spark.types import quoted
from shoal.errors import InputError


def stage(table: SparkTable, columns: tuple[str, ...], folder: Path) -> tuple[pl.LazyFrame, int]:
    """The records as the executors left them in the folder, and their number."""
    from pyspark.sql import Observation
    from pyspark.sql import functions as F  # noqa: N812

    observed = Observation()
    records = table.select(columns).select(*map(quoted, columns))
    counted = records.observe(observed, F.count(F.lit(1)).alias("records"))
    counted.write.option("mapreduce.fileoutputcommitter.marksuccessfuljobs", "false").parquet(str(folder))
    return collect_parts(
        folder, pl.Schema({name: table.schema[name] for name in columns}), int(observed.get["records"])
    )


def collect_parts(folder: Path, schema: pl.Schema, written: int) -> tuple[pl.LazyFrame, int]:
    parts = sorted(folder.glob("part-*.parquet"))
    frame = pl.scan_parquet(parts, glob=False) if parts else pl.LazyFrame(schema=schema)
    if frame.select(pl.len()).collect().item() != written:
        raise InputError(
            "what the executors wrote can't all be seen here",
            advice="on a cluster, put the output into a folder that all machines share",
        )
    return frame.cast(schema), written
