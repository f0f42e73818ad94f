"""Parquet files for Spark, in a stated order: a record's position depends on it, and so does its randomness."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from shoal.errors import InputError, SourceError
from shoal.io import Source
from shoal.io.columnar import ColumnarSource

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


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


def parquet_paths(source: Source) -> tuple[Path, ...]:
    if isinstance(source, ParquetFiles):
        return source.paths
    if isinstance(source, ColumnarSource) and source.format == "parquet":
        return (source.path,)
    raise InputError(f"{source.label}: the Spark engine reads only Parquet yet", advice="use --engine polars")


def open_frame(session: SparkSession, files: tuple[Path, ...], label: str) -> DataFrame:
    from pyspark.errors import PySparkException

    try:
        return session.read.parquet(*(_literal(path) for path in files))
    except PySparkException as error:
        raise SourceError(f"{label}: Spark can't read it ({error.getCondition()})") from None


def _literal(path: Path) -> str:
    r"""A path in which nothing stands for other names.

    >>> _literal(Path("/data/a[1].parquet"))
    '/data/a\\[1\\].parquet'
    """
    return re.sub(r"([][{}*?\\])", r"\\\1", str(path.absolute()))
