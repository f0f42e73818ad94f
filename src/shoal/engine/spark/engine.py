"""The Spark engine, a first slice: Parquet in, counts, techniques that work record by record, any target out."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar, Final, NoReturn

import polars as pl

from shoal.engine.pipeline import Pipeline
from shoal.engine.protocol import HIDDEN
from shoal.engine.spark.counting import count
from shoal.engine.spark.crossing import arriving
from shoal.engine.spark.describing import describe
from shoal.engine.spark.session import open_session
from shoal.engine.spark.source import open_frame, parquet_paths
from shoal.engine.spark.staging import stage
from shoal.engine.spark.table import SparkTable
from shoal.errors import DataError, InputError
from shoal.io import Source, Target
from shoal.io.targets import FileTarget
from shoal.schema import Column, Columns, Counts, Step

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SUPPORTED: Final[Mapping[str, str | None]] = MappingProxyType(
    {
        "scan": "Parquet",
        "columns": "yes",
        "describe": "yes",
        "counts": "yes",
        "map": "yes",
        "shuffle": None,
        "reduce": None,
        "sink": "every target",
    }
)
"""What there is of each operation of the protocol; None where there is nothing yet."""


class SparkEngine:
    name: ClassVar[str] = "spark"

    def __init__(self, *, master: str = "local[*]") -> None:
        """A session that is running is used; otherwise one is started at ``master`` when it is first needed."""
        self.master = master

    @cached_property
    def session(self) -> SparkSession:
        return open_session(self.master)

    def scan(self, source: Source) -> SparkTable:
        files = parquet_paths(source)
        schema = source.scan().collect_schema()
        return SparkTable(open_frame(self.session, files, source.label), files, Pipeline.over(schema))

    def columns(self, table: SparkTable) -> tuple[str, ...]:
        return tuple(name for name in table.schema if not name.startswith(HIDDEN))

    def describe(self, table: SparkTable, names: Sequence[str], declared: Columns) -> dict[str, Column]:
        with arriving():
            return describe(table, names, declared)

    def counts(self, table: SparkTable, attributes: tuple[str, ...], person: str | None = None) -> Counts:
        with arriving():
            return count(table, attributes, person)

    def map(self, table: SparkTable, steps: Sequence[Step]) -> SparkTable:
        for step in steps:
            table = table.after(step)
        return table

    def shuffle(self, table: SparkTable, step: Step) -> NoReturn:
        _refuse(step, "needs the whole table at once")

    def reduce(self, table: SparkTable, step: Step) -> NoReturn:
        _refuse(step, "makes one table out of all records")

    def sink(self, table: SparkTable, target: Target, *, aside: Path | None = None) -> int:
        visible = self.columns(table)
        if not visible:
            raise DataError("no column is left to write")
        hidden = tuple(name for name in table.schema if name not in visible) if aside else ()
        beside = target.path.parent if isinstance(target, FileTarget) else None
        with tempfile.TemporaryDirectory(prefix=".spark-", dir=beside) as folder:
            with arriving():
                frame, written = stage(table, (*visible, *hidden), Path(folder) / "parts")
            target.write(frame.select(visible))
            if aside and hidden:
                frame.select(hidden).sink_ipc(aside, compat_level=pl.CompatLevel.oldest())
        return written


def _refuse(step: Step, why: str) -> NoReturn:
    raise InputError(
        f"{type(step).__name__} {why}, which is not available on the Spark engine yet", advice="use --engine polars"
    )
