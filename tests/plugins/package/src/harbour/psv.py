"""Tables with a bar between the cells, as the harbour office writes them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import polars as pl
from polars.exceptions import PolarsError

from shoal.errors import SourceError
from shoal.io.formats.base import FileFormat, file_formats
from shoal.io.formats.detection import Fingerprint, check_names
from shoal.io.options import FileOptions


@dataclass(frozen=True)
class PsvSource:
    label: str
    path: Path
    fingerprint: Fingerprint
    format: str = "psv"

    def scan(self) -> pl.LazyFrame:
        self.fingerprint.check(self.path, self.label)
        return _scan(self.path, self.label)


def _open(path: Path, options: FileOptions) -> PsvSource:
    source = PsvSource(options.label, path, Fingerprint.of(path))
    try:
        found = source.scan().collect()
    except PolarsError:
        raise SourceError(f"{options.label}: is not a table with bars") from None
    check_names(found.columns, options.label)
    if not found.height:
        raise SourceError(f"{options.label}: there are no records")
    return source


def _scan(path: Path, label: str) -> pl.LazyFrame:
    return pl.scan_csv(path, separator="|", infer_schema=False)


def _sink(frame: pl.LazyFrame, path: Path) -> None:
    frame.sink_csv(path, separator="|")


file_formats.add("psv", FileFormat("psv", (".psv",), _open, _sink, _scan))
