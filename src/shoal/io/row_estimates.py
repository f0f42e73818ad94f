"""How many records a source has, without reading it: as the file says it, else by the length of its lines."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import polars as pl

from shoal.errors import ShoalError
from shoal.io.sources import FileSource, Source

_SAYS_ROWS: Final = frozenset({".parquet", ".arrow", ".feather", ".ipc"})
_LINES: Final = frozenset({".csv", ".tsv", ".txt", ".jsonl", ".ndjson"})
_LOOKED_AT: Final = 1 << 20
"""Bytes at the beginning of a file that tell how long its lines are."""


def estimated_rows(source: Source) -> int | None:
    """None of a database, a packed file, or one that can't be read: whoever reads it says why."""
    known = getattr(source, "rows", None)
    if isinstance(known, int):
        return known
    if not isinstance(source, FileSource):
        return None
    suffixes = {path.suffix.lower() for path in source.files}
    try:
        if suffixes <= _SAYS_ROWS:
            return int(source.scan().select(pl.len()).collect().item())
        return sum(_lines(path) for path in source.files) if suffixes <= _LINES else None
    except (OSError, ShoalError, pl.exceptions.PolarsError):
        return None


def _lines(path: Path) -> int:
    size = path.stat().st_size
    with path.open("rb") as file:
        head = file.read(_LOOKED_AT)
    lines = head.count(b"\n")
    return lines if len(head) == size else round(lines * size / max(1, len(head)))
