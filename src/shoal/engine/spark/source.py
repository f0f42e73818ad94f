"""What Spark reads, in a stated order: a record's position depends on it, and so does its randomness.

Parquet is read where it lies. Every other source is first copied to Parquet by the driver, in a stream, with the types
and the order that one machine reads it with. A Spark frame has no order of its own, so it gets that of its content.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final

import polars as pl

from shoal.engine.spark.type_mapping import carried, ddl, from_spark
from shoal.errors import SourceError
from shoal.io import PartsSource, Source, explained, writing
from shoal.io.formats.columnar import ColumnarSource

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_ROW_GROUP: Final = 1 << 18


@dataclass(frozen=True)
class ParquetFiles:
    """One table in several files, as clusters write it; both engines read it.

    The records of the first file come first. All files have the columns of the first.
    """

    paths: tuple[Path, ...]

    @classmethod
    def under(cls, folder: Path) -> ParquetFiles:
        """The files of a folder by their names. Names that begin with a dot or an underscore are not data."""
        paths = sorted(path for path in folder.glob("*.parquet") if not path.name.startswith((".", "_")))
        if not paths:
            raise SourceError(f"{folder}: there are no Parquet files in it")
        return cls(tuple(paths))

    @property
    def label(self) -> str:
        return str(self.paths[0].parent)

    def scan(self) -> pl.LazyFrame:
        return pl.scan_parquet(list(self.paths), glob=False)


@dataclass(frozen=True, eq=False)
class SparkFrameSource:
    """A Spark frame, frozen: the records sorted by all their columns, missing values first, in a copy of their own.

    A record's position is its place in this order. It says nothing of how Spark has cut the frame, and records that are
    alike in everything may change places without anybody noticing. The copy also makes sure that every pass sees the
    same records, whatever the frame is made of.
    """

    frame: DataFrame
    folder: Path
    """For the copy: there already, empty, shared by all machines. Who has made it removes it."""
    label: str = "Spark frame"

    @cached_property
    def schema(self) -> pl.Schema:
        return from_spark(dict(self.frame.dtypes), self.label)

    @cached_property
    def paths(self) -> tuple[Path, ...]:
        """The files of the copy, in order; it is made when they are first asked for. Columns are named by number."""
        from pyspark.sql import functions as F  # noqa: N812

        names = [str(place) for place in range(len(self.schema))]
        plain = [
            F.col(name).cast("string") if dtype == pl.String() else F.col(name)
            for name, dtype in zip(names, self.schema.dtypes(), strict=True)
        ]
        alike = self.frame.toDF(*names).select(*(column.alias(name) for column, name in zip(plain, names, strict=True)))
        ordered = alike.sort(*(F.col(name).asc_nulls_first() for name in names))
        copy = self.folder.absolute() / "copy.parquet"
        ordered.write.option("mapreduce.fileoutputcommitter.marksuccessfuljobs", "false").parquet(f"file:{copy}")
        return tuple(sorted(copy.glob("part-*.parquet"), key=lambda path: int(path.name.split("-")[1])))

    def scan(self) -> pl.LazyFrame:
        """The copy as Polars reads it."""
        copy = pl.scan_parquet(list(self.paths), glob=False)
        found = copy.collect_schema()
        return copy.select(
            _instant(pl.col(str(place)), found[str(place)], dtype).cast(dtype).alias(name)
            for place, (name, dtype) in enumerate(self.schema.items())
        )


def _instant(column: pl.Expr, found: pl.DataType, wanted: pl.DataType) -> pl.Expr:
    """Spark may write a point in time without saying that it is one."""
    if isinstance(found, pl.Datetime) and isinstance(wanted, pl.Datetime) and wanted.time_zone and not found.time_zone:
        return column.dt.replace_time_zone("UTC")
    return column


def parquet_paths(source: Source) -> tuple[Path, ...] | None:
    """The Parquet files that it is; None if it is something else."""
    if isinstance(source, ParquetFiles | SparkFrameSource):
        return source.paths
    if isinstance(source, ColumnarSource) and source.format == "parquet":
        return (source.path,)
    if isinstance(source, PartsSource) and source.format == "parquet":
        return source.paths
    return None


def copied(source: Source, schema: pl.Schema, path: Path) -> None:
    """The source as one Parquet file, in a stream."""
    there = carried(schema)
    ddl(there)
    with explained(source), writing(str(path.parent)):
        source.scan().cast(there).sink_parquet(path, row_group_size=_ROW_GROUP)


def open_frame(session: SparkSession, files: tuple[Path, ...], label: str) -> DataFrame:
    from pyspark.errors import PySparkException

    try:
        return session.read.parquet(*(literal(path) for path in files))
    except PySparkException as error:
        raise SourceError(f"{label}: Spark can't read it ({error.getCondition()})") from None


def literal(path: Path) -> str:
    r"""A path in which nothing stands for other names, on the disks that all machines see, whatever else Spark reads.

    >>> literal(Path("/data/a[1].parquet"))
    'file:/data/a\\[1\\].parquet'
    """
    return "file:" + re.sub(r"([][{}*?\\])", r"\\\1", str(path.absolute()))
