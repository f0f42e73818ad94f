"""What the executors write, and how it becomes the output: whole, and each record once.

An executor writes the records of its partition to a file of its own, with the writer that one machine uses, under a
name that no other attempt at the same partition has, and tells what it has written: one line for each partition. Spark
hands the driver the line of exactly one attempt, however often a task was lost, tried again, or run twice for speed.
What no line names is thrown away. So an output of parts is these files, renamed; any other target is written from them
in one stream by the driver.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Final

import polars as pl
import pyarrow as pa
import pyarrow.ipc

from shoal.engine.spark.error_transport import sending_errors
from shoal.engine.spark.executor_tasks import RewriteTask
from shoal.engine.spark.source import literal
from shoal.engine.spark.table import SparkTable
from shoal.engine.spark.table_origins import map_batches
from shoal.errors import InputError
from shoal.io import FileTarget, PartFile, PartsTarget, Target, sha256_of
from shoal.io.formats.delimited.dialect import Dialect
from shoal.kernels.batch_streams import streamed
from shoal.schema import ROW

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

TOLD: Final = pl.Schema({"place": pl.Int64(), "name": pl.String(), "rows": pl.Int64(), "sha256": pl.String()})
"""``place`` puts the files in order: the position of the first record; of records that were sorted, the partition."""
_ASIDE: Final = ".arrow"
_TRIES: Final = 100


@dataclass(frozen=True)
class StagedPartition:
    """The file of one partition. The hidden columns of its records lie beside it, where there are any."""

    path: Path
    rows: int
    sha256: str

    @property
    def aside(self) -> Path:
        return self.path.with_name(self.path.name + _ASIDE)

    def told(self) -> tuple[Path, PartFile]:
        return self.path, PartFile(self.path.name, self.rows, self.sha256)


@dataclass(frozen=True)
class PartitionWriter:
    """On an executor: the records of a partition to a file."""

    rewrite: RewriteTask
    hidden: tuple[str, ...]
    like: FileTarget
    """In a folder that all machines share; ``path`` is the folder's own."""

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        with sending_errors():
            told = self._written(batches)
        yield from told.to_arrow(compat_level=pl.CompatLevel.oldest()).to_batches()

    def _written(self, batches: Iterator[pa.RecordBatch]) -> pl.DataFrame:
        from pyspark import TaskContext

        task = TaskContext.get()
        if task is None:
            raise RuntimeError("not on an executor")
        name = f"{task.partitionId():05}-{task.taskAttemptId()}{self.like.path.suffix}"
        place, batches = self._place(batches, task.partitionId())
        frames = (self.rewrite.rewritten(batch) for batch in batches)
        first = next((frame for frame in frames if frame.height), None)
        if first is None:
            return pl.DataFrame(schema=TOLD)
        staged = StagedPartition(self.like.path / name, 0, "")
        rows = self._write(first, frames, staged)
        return pl.DataFrame([(place, name, rows, sha256_of(staged.path))], schema=TOLD, orient="row")

    def _place(self, batches: Iterator[pa.RecordBatch], partition: int) -> tuple[int, Iterator[pa.RecordBatch]]:
        names = self.rewrite.before.names()
        first = next((batch for batch in batches if batch.num_rows), None)
        if first is None:
            return partition, batches
        place = int(first.column(names.index(ROW))[0].as_py()) if ROW in names else partition
        return place, chain((first,), batches)

    def _write(self, first: pl.DataFrame, rest: Iterator[pl.DataFrame], staged: StagedPartition) -> int:
        rows = 0

        def visible() -> Iterator[pl.DataFrame]:
            nonlocal rows
            frame: pl.DataFrame | None = first
            while frame is not None:
                rows += frame.height
                put_aside(frame)
                yield frame.drop(self.hidden)
                frame = next(rest, None)

        with _ExecutorHiddenWriter(staged.aside, first, self.hidden) as put_aside:
            schema = first.drop(self.hidden).schema
            target = replace(self.like, path=staged.path)
            if target.delimited:
                target.write_batches(schema, visible())
            else:
                target.write(streamed(visible, schema))
        return rows


class _ExecutorHiddenWriter:
    """Hidden columns, batch by batch, to an Arrow file."""

    def __init__(self, path: Path, example: pl.DataFrame, hidden: tuple[str, ...]) -> None:
        self._hidden = hidden
        self._writer = pa.ipc.new_file(str(path), self._arrow(example).schema) if hidden else None

    def __enter__(self) -> _ExecutorHiddenWriter:
        return self

    def __call__(self, frame: pl.DataFrame) -> None:
        if self._writer is not None:
            self._writer.write_table(self._arrow(frame))

    def _arrow(self, frame: pl.DataFrame) -> pa.Table:
        return frame.select(self._hidden).to_arrow(compat_level=pl.CompatLevel.oldest())

    def __exit__(self, *raised: object) -> None:
        if self._writer is not None:
            self._writer.close()


def stage(
    table: SparkTable, visible: tuple[str, ...], hidden: tuple[str, ...], like: FileTarget
) -> tuple[StagedPartition, ...]:
    """The files that the executors have written into the folder ``like.path``, in order."""
    records, rewrite = table.rewriting((*visible, *hidden))
    told = map_batches(records, PartitionWriter(rewrite, hidden, like), TOLD).toArrow()
    lines = pl.DataFrame(pl.from_arrow(told)).cast(TOLD).sort("place")
    staged = tuple(StagedPartition(like.path / name, rows, digest) for _, name, rows, digest in lines.iter_rows())
    refuse_unseen(staged)
    return staged


def refuse_unseen(staged: tuple[StagedPartition, ...]) -> None:
    if not all(one.path.is_file() for one in staged):
        raise InputError(
            "what the executors wrote can't all be seen here",
            advice="on a cluster, put the output into a folder that all machines share",
        )


def staging_target(folder: Path, target: Target) -> FileTarget:
    """What executors write into the folder: parts as they are to be, for any other target Parquet."""
    if isinstance(target, PartsTarget):
        like = replace(target.whole, path=folder / f"parts{target.path.suffix}")
    else:
        like = FileTarget(folder / "parts.parquet", "parquet", Dialect(), target.label)
    like.path.mkdir()
    return like


def collected(staged: tuple[StagedPartition, ...], schema: pl.Schema) -> pl.LazyFrame:
    """All that was staged as Parquet, in order."""
    if not staged:
        return pl.LazyFrame(schema=schema)
    return pl.scan_parquet([one.path for one in staged], glob=False).cast(schema)


def put_together(staged: tuple[StagedPartition, ...], schema: pl.Schema, aside: Path) -> None:
    """What was put aside, in one file, record beside record."""
    frames = [pl.scan_ipc(one.aside, glob=False) for one in staged] or [pl.LazyFrame(schema=schema)]
    pl.concat(frames).cast(schema).sink_ipc(aside, compat_level=pl.CompatLevel.oldest())


def move_aside(staged: tuple[StagedPartition, ...], aside: Path) -> None:
    """The same as a folder of files, which Arrow's readers take for one: nothing is read."""
    aside.mkdir()
    for number, one in enumerate(staged):
        one.aside.rename(aside / f"{number:06}{_ASIDE}")


def remove(folder: Path) -> None:
    """Also where an attempt that Spark has given up is still writing: what it adds meanwhile goes too."""
    for _ in range(_TRIES):
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            return


def open_folder(like: DataFrame, folder: Path) -> DataFrame:
    """Parquet files as a frame of the session that another frame is of."""
    return like.sparkSession.read.parquet(literal(folder))
