"""The Spark engine: Spark arranges records in partitions, sorts and joins them; the steps run inside its executors."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import polars as pl

from shoal.engine.protocol import OutputSample
from shoal.engine.spark.counting import count
from shoal.engine.spark.error_transport import receiving_errors
from shoal.engine.spark.output_staging import collected, move_aside, put_together, remove, stage, staging_target
from shoal.engine.spark.reduce_steps import reduce
from shoal.engine.spark.session import is_running, open_session, require_pyspark
from shoal.engine.spark.source import SparkFrameSource, copied, open_frame, parquet_paths
from shoal.engine.spark.table import SparkTable
from shoal.engine.spark.table_origins import AppendedOrigin, ParquetOrigin
from shoal.engine.spark.table_steps import TableStepRunner
from shoal.engine.spark.type_detection import describe
from shoal.engine.step_pipeline import fitting
from shoal.errors import DataError
from shoal.io import FileTarget, PartsTarget, Source, Target
from shoal.schema import Column, Columns, Counts, Scope, Step
from shoal.schema.hidden_columns import HIDDEN, ORIGINAL

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class SparkEngine:
    name: ClassVar[str] = "spark"

    def __init__(
        self, *, master: str = "local[*]", spool: Path | None = None, running: SparkSession | None = None
    ) -> None:
        """A session that is running is used; otherwise one is started at ``master`` when it is first needed.

        Sources that Spark doesn't read are copied into ``spool``, a folder that all machines share, until ``close``.
        """
        require_pyspark()
        self.master = master
        self.spool = spool
        self.running = running
        self._kept: list[DataFrame] = []

    @cached_property
    def session(self) -> SparkSession:
        return open_session(self.master, self.running)

    def scan(self, source: Source) -> SparkTable:
        with receiving_errors():
            paths = parquet_paths(source)
            schema = source.schema if isinstance(source, SparkFrameSource) else source.scan().collect_schema()
        if paths is None:
            paths = (self._copies / f"{len(list(self._copies.iterdir()))}.parquet",)
            copied(source, schema, paths[0])
        return SparkTable.over(ParquetOrigin(open_frame(self.session, paths, source.label), paths, schema))

    def columns(self, table: SparkTable) -> tuple[str, ...]:
        return tuple(name for name in table.schema if not name.startswith(HIDDEN))

    def schema(self, table: SparkTable) -> pl.Schema:
        return table.schema

    def describe(
        self, table: SparkTable, names: Sequence[str], declared: Columns, foreseen: tuple[str, ...] = ()
    ) -> dict[str, Column]:
        with receiving_errors():
            return describe(table, names, declared)

    def counts(self, table: SparkTable, attributes: tuple[str, ...], person: str | None = None) -> Counts:
        with receiving_errors():
            return count(table, attributes, person)

    def map(self, table: SparkTable, steps: Sequence[Step]) -> SparkTable:
        for step in steps:
            table = table.after(step)
        return table

    def shuffle(self, table: SparkTable, step: Step) -> SparkTable:
        if step.scope is Scope.ORDER:
            return replace(table, order=step)
        if step.scope is Scope.INSERT:
            return SparkTable.over(AppendedOrigin(table, fitting(step.inserts, table.schema)), order=step)
        with receiving_errors():
            return TableStepRunner(self._keep).after(table, step)

    def reduce(self, table: SparkTable, step: Step) -> SparkTable:
        with receiving_errors():
            return reduce(table, step)

    def sink(
        self, table: SparkTable, target: Target, *, aside: Path | None = None, sample: OutputSample | None = None
    ) -> int:
        visible = self.columns(table)
        if not visible:
            raise DataError("no column is left to write")
        kept = tuple(name for name in table.schema if name not in visible and not name.startswith(ORIGINAL))
        hidden = kept if aside else ()
        beside = target.path.parent if isinstance(target, FileTarget | PartsTarget) else None
        folder = Path(tempfile.mkdtemp(prefix=".spark-", dir=beside)).absolute()
        try:
            with receiving_errors():
                staged = stage(table, visible, hidden, staging_target(folder, target))
            if isinstance(target, PartsTarget) and staged:
                target.adopt([one.told() for one in staged])
            else:
                target.write(collected(staged, _only(table.schema, visible)))
            if aside and hidden and staged and isinstance(target, PartsTarget):
                move_aside(staged, aside)
            elif aside and hidden:
                put_together(staged, _only(table.schema, hidden), aside)
        finally:
            remove(folder)
        if sample:
            with receiving_errors():
                sample.batches = [table.every(sample.every)]
        return sum(one.rows for one in staged)

    def close(self) -> None:
        """What Spark keeps for its tables goes, and so do copies of sources. Tables can't be read any more."""
        kept, self._kept = self._kept, []
        if kept and is_running():
            for frame in kept:
                frame.unpersist()
        if "_copies" in vars(self):
            remove(vars(self).pop("_copies"))

    def _keep(self, frame: DataFrame) -> DataFrame:
        self._kept.append(frame.persist())
        return frame

    @cached_property
    def _copies(self) -> Path:
        """A folder that nobody else can read. It goes at the latest with the engine."""
        folder = Path(tempfile.mkdtemp(prefix=".spark-", dir=self.spool)).absolute()
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        return folder


def _only(schema: pl.Schema, names: Sequence[str]) -> pl.Schema:
    return pl.Schema({name: schema[name] for name in names})
