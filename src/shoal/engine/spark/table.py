"""A lazy table: a Spark data frame and the pipeline that its batches go through on the executors."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote, urlsplit

import polars as pl
import pyarrow as pa

from shoal.engine.pipeline import Pipeline
from shoal.engine.spark.session import without_pandas_warning
from shoal.engine.spark.shipped import Rewrite
from shoal.engine.spark.types import carried, ddl, quoted
from shoal.schema import ROW, Step

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_FILE: Final = "__shoal_file"
_START: Final = "__shoal_start"

BatchMap = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]


@dataclass(frozen=True)
class SparkTable:
    source: DataFrame
    files: tuple[Path, ...]
    """In the order in which their records count."""
    pipeline: Pipeline

    @property
    def schema(self) -> pl.Schema:
        return self.pipeline.schema

    def after(self, step: Step) -> SparkTable:
        return replace(self, pipeline=self.pipeline.after(step))

    def select(self, columns: tuple[str, ...]) -> DataFrame:
        """These columns (and maybe ROW) after the steps. Where none matters, the records never leave Spark."""
        operations, read = self.pipeline.live(columns)
        if not operations:
            return self.source.select(*map(quoted, columns))
        before = pl.Schema({**{name: self.pipeline.source[name] for name in read}, ROW: pl.UInt64()})
        after = pl.Schema({**{name: self.schema[name] for name in columns}, ROW: pl.Int64()})
        records = _with_positions(self.source, self.files).select(*map(quoted, before))
        return map_batches(records, Rewrite(operations, before, carried(after)), carried(after))

    def collect(self, frame: DataFrame) -> pl.DataFrame:
        """A small result on the driver, in the types that the table has."""
        result = pl.DataFrame(pl.from_arrow(frame.toArrow()))
        return result.cast({name: self.schema[name] for name in result.columns if name in self.schema})


def map_batches(frame: DataFrame, function: BatchMap, schema: pl.Schema) -> DataFrame:
    """A function on Arrow batches, mapped. It gets its columns by position: Spark would read a dot in a name."""
    positions = frame.toDF(*(str(place) for place in range(len(frame.columns))))
    with without_pandas_warning():
        return positions.mapInArrow(function, ddl(schema))


def _with_positions(frame: DataFrame, files: tuple[Path, ...]) -> DataFrame:
    """The records with their positions in the source: the place in the file, after all records of the files before."""
    from pyspark.sql import functions as F  # noqa: N812

    metadata = frame.metadataColumn("_metadata")
    place, path = metadata["row_index"], metadata["file_path"]
    offsets = _offsets(frame.groupBy(path.alias(_FILE)).count(), files) if len(files) > 1 else {}
    if len(offsets) < 2:
        return frame.withColumn(ROW, place)
    pairs = F.map_from_arrays(F.lit(list(offsets)), F.lit(list(offsets.values())))
    starts = F.broadcast(frame.sparkSession.range(1).select(F.explode(pairs).alias(_FILE, _START)))
    return frame.join(starts, path == starts[_FILE]).withColumn(ROW, place + starts[_START])


def _offsets(counted: DataFrame, files: tuple[Path, ...]) -> dict[str, int]:
    """How many records come before each file, by its address as Spark writes it."""
    number = {os.path.abspath(file): place for place, file in enumerate(files)}  # noqa: PTH100 (links stay links)
    records = dict(pl.DataFrame(pl.from_arrow(counted.toArrow())).iter_rows())
    in_order = sorted(records, key=lambda address: number[unquote(urlsplit(address).path)])
    starts = itertools.accumulate((records[address] for address in in_order), initial=0)
    return dict(zip(in_order, starts, strict=False))
