"""CSV (RFC 4180): delimited text, by default with commas. What dialects there are is in the folder ``delimited``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from shoal.io.formats.base import FileFormat, file_formats

if TYPE_CHECKING:
    from shoal.io.formats.delimited.reader import DelimitedSource
    from shoal.io.options import FileOptions

KEY = "csv"


def _open(path: Path, options: FileOptions) -> DelimitedSource:
    from shoal.io.formats.delimited.reader import open_delimited

    return open_delimited(path, options, KEY)


file_formats.add(
    KEY,
    FileFormat(
        KEY,
        (".csv", ".txt"),
        _open,
        sink=None,
        scan=None,
        order=10,
        shared_suffixes=frozenset({".txt"}),
        options=frozenset({"separator", "quote", "encoding", "header_row", "null_values", "decimal"}),
        separator=",",
        in_parts=True,
    ),
)
