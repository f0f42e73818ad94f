"""JSON lines: one JSON object per line. It names no types; they are found by a look at the whole file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Final

import polars as pl

from shoal.io.formats.base import FileFormat, file_formats
from shoal.io.formats.columnar import ColumnarKind, ColumnarSource, open_columnar, scan_own

if TYPE_CHECKING:
    from shoal.io.options import FileOptions

KEY = "jsonl"
_LONGEST_LINE: Final = 1 << 24
"""Longer ones are not parsed to find out where a file is broken."""


def _broken_line(path: Path) -> str:
    """Where the first line stands that is no JSON object."""
    with path.open("rb") as file:
        for number, line in enumerate(iter(lambda: file.readline(_LONGEST_LINE), b""), start=1):
            try:
                whole = not line.strip() or isinstance(json.loads(line), dict)
            except (ValueError, RecursionError):
                whole = False
            if not whole:
                return f" (line {number})"
    return ""


class JsonLinesKind(ColumnarKind):
    key = KEY
    broken = "is not made of one JSON object per line"

    def scan(self, path: Path, schema: pl.Schema | None, label: str) -> pl.LazyFrame:
        return pl.scan_ndjson(path, schema=schema, infer_schema_length=None)

    def where(self, path: Path) -> str:
        return _broken_line(path)


KIND: Final = JsonLinesKind()


def _open(path: Path, options: FileOptions) -> ColumnarSource:
    return open_columnar(path, options, KIND)


def _sink(frame: pl.LazyFrame, path: Path) -> None:
    frame.sink_ndjson(path, engine="streaming")


def _scan(path: Path, label: str) -> pl.LazyFrame:
    return scan_own(path, KIND, label)


file_formats.add(
    KEY,
    FileFormat(
        KEY,
        (".jsonl", ".ndjson", ".json"),
        _open,
        _sink,
        _scan,
        order=50,
        shared_suffixes=frozenset({".json"}),
        one_record_tells=True,
        line_is_record=True,
    ),
)
