"""What a table's batches are read from: files, another table that a step has changed as a whole, or small frames.

An origin gives the columns that are asked for and no others, with each record's position. So what nobody needs is never
read, whatever steps lie between.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol
from urllib.parse import unquote, urlsplit

import polars as pl
import pyarrow as pa

from shoal.engine.spark.executor_tasks import LiteralFrameTask
from shoal.engine.spark.session import without_pandas_warning
from shoal.engine.spark.type_mapping import carried, ddl, quoted
from shoal.schema import ROW

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from shoal.engine.spark.table import SparkTable

_FILE: Final = "__shoal_file"
_START: Final = "__shoal_start"

BatchMap = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]


class Origin(Protocol):
    @property
    def schema(self) -> pl.Schema:
        """The columns in the types that steps see; in Spark they have those of ``carried``."""

    @property
    def places(self) -> int:
        """How many positions are taken: the next one is free."""

    def frame(self, columns: tuple[str, ...], *, placed: bool) -> DataFrame:
        """These columns, and ROW where records are to be ``placed``."""


@dataclass(frozen=True)
class ParquetOrigin:
    """Parquet files. A record's position is its place in the file, after all records of the files before."""

    source: DataFrame
    paths: tuple[Path, ...]
    """In the order in which their records count."""
    schema: pl.Schema

    @cached_property
    def places(self) -> int:
        return self.source.count()

    def frame(self, columns: tuple[str, ...], *, placed: bool) -> DataFrame:
        from pyspark.sql import functions as F  # noqa: N812

        there = dict(zip(self.schema, self.source.columns, strict=True))
        renamed = [F.col(quoted(there[name])).alias(name) for name in columns]
        return (self._placed() if placed else self.source).select(*renamed, *([ROW] if placed else []))

    def _placed(self) -> DataFrame:
        from pyspark.sql import functions as F  # noqa: N812

        metadata = self.source.metadataColumn("_metadata")
        place, path = metadata["row_index"], metadata["file_path"]
        if len(self._starts) < 2:
            return self.source.withColumn(ROW, place)
        pairs = F.map_from_arrays(F.lit(list(self._starts)), F.lit(list(self._starts.values())))
        starts = F.broadcast(self.source.sparkSession.range(1).select(F.explode(pairs).alias(_FILE, _START)))
        return self.source.join(starts, path == starts[_FILE]).withColumn(ROW, place + starts[_START])

    @cached_property
    def _starts(self) -> dict[str, int]:
        """How many records come before each file, by its address as Spark writes it."""
        if len(self.paths) < 2:
            return {}
        path = self.source.metadataColumn("_metadata")["file_path"]
        counted = self.source.groupBy(path.alias(_FILE)).count()
        number = {os.path.abspath(file): place for place, file in enumerate(self.paths)}  # noqa: PTH100 (links stay)
        records = dict(pl.DataFrame(pl.from_arrow(counted.toArrow())).iter_rows())
        in_order = sorted(records, key=lambda address: number[unquote(urlsplit(address).path)])
        starts = itertools.accumulate((records[address] for address in in_order), initial=0)
        return dict(zip(in_order, starts, strict=False))


@dataclass(frozen=True)
class FrameOrigin:
    """A Spark frame that has the columns and ROW already."""

    made: DataFrame
    schema: pl.Schema
    places: int = 0

    def frame(self, columns: tuple[str, ...], *, placed: bool) -> DataFrame:
        return self.made.select(*map(quoted, columns), *([ROW] if placed else []))


@dataclass(frozen=True)
class OverlaidOrigin:
    """A table after a TABLE step, whose outcome is laid over it by the records' positions."""

    before: SparkTable
    outcome: DataFrame
    """ROW of the records that stay, and the columns that the step has written."""
    schema: pl.Schema
    fewer: bool
    """Whether records may be gone."""

    @property
    def places(self) -> int:
        return self.before.origin.places

    def frame(self, columns: tuple[str, ...], *, placed: bool) -> DataFrame:
        written = [name for name in columns if name in self.outcome.columns]
        others = tuple(name for name in columns if name not in written)
        if not written and not self.fewer:
            return self.before.select(others, placed=placed)
        result = self.outcome.select(*map(quoted, written), ROW)
        if others:
            result = self.before.select(others, placed=True).join(result, ROW)
        return result.select(*map(quoted, columns), *([ROW] if placed else []))


@dataclass(frozen=True)
class AppendedOrigin:
    """A table and, after it, records that a step has added."""

    before: SparkTable
    added: pl.DataFrame

    @property
    def schema(self) -> pl.Schema:
        return self.before.schema

    @property
    def places(self) -> int:
        return self.before.origin.places + self.added.height

    def frame(self, columns: tuple[str, ...], *, placed: bool) -> DataFrame:
        theirs = self.before.select(columns, placed=placed)
        first = self.before.origin.places if placed else 0
        rows = pl.int_range(first, first + self.added.height, eager=True).alias(ROW)
        ours = self.added.with_columns(rows).select(*columns, *([ROW] if placed else []))
        return theirs.union(given(theirs.sparkSession, ours))


def given(session: SparkSession, frame: pl.DataFrame) -> DataFrame:
    """A small frame of the driver's. It travels as part of the job: Spark's own way would leave a connection open."""
    there = carried(frame.schema)
    return map_batches(session.range(0, 1, 1, 1), LiteralFrameTask(frame.cast(there)), there)


def map_batches(frame: DataFrame, function: BatchMap, schema: pl.Schema) -> DataFrame:
    """A function on Arrow batches, mapped. It gets its columns by position: Spark would read a dot in a name."""
    positions = frame.toDF(*(str(place) for place in range(len(frame.columns))))
    with without_pandas_warning():
        return positions.mapInArrow(function, ddl(schema))
