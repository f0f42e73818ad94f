"""Parquet: typed columns, compressed. Row groups have a fixed size, so that equal data gives equal bytes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import polars as pl

from shoal.io.formats.base import FileFormat, Signature, file_formats
from shoal.io.formats.columnar import ColumnarKind, ColumnarSource, open_columnar, scan_own

if TYPE_CHECKING:
    from shoal.io.options import FileOptions

KEY = "parquet"
_ROW_GROUP: Final = 1 << 18


class ParquetKind(ColumnarKind):
    key = KEY
    broken = "is not a whole Parquet file"

    def scan(self, path: Path, schema: pl.Schema | None, label: str) -> pl.LazyFrame:
        return pl.scan_parquet(path, glob=False)


KIND: Final = ParquetKind()


def _open(path: Path, options: FileOptions) -> ColumnarSource:
    return open_columnar(path, options, KIND)


def _sink(frame: pl.LazyFrame, path: Path) -> None:
    frame.sink_parquet(path, row_group_size=_ROW_GROUP, engine="streaming")


def _scan(path: Path, label: str) -> pl.LazyFrame:
    return scan_own(path, KIND, label)


def _scan_binary(path: Path) -> pl.LazyFrame:
    return pl.scan_parquet(path, glob=False)


file_formats.add(
    KEY,
    FileFormat(
        KEY,
        (".parquet", ".pq"),
        _open,
        _sink,
        _scan,
        order=40,
        signatures=(Signature(b"PAR1\x15", "a Parquet file"),),
        in_parts=True,
        says_rows=True,
        scan_binary=_scan_binary,
    ),
)
