"""TSV: delimited text with tabs, otherwise as CSV."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from shoal.io.formats.base import FileFormat, file_formats

if TYPE_CHECKING:
    from shoal.io.formats.delimited.reader import DelimitedSource
    from shoal.io.options import FileOptions

KEY = "tsv"


def _open(path: Path, options: FileOptions) -> DelimitedSource:
    from shoal.io.formats.delimited.reader import open_delimited

    return open_delimited(path, options, KEY)


file_formats.add(
    KEY,
    FileFormat(
        KEY,
        (".tsv", ".tab"),
        _open,
        sink=None,
        scan=None,
        order=20,
        options=frozenset({"separator", "quote", "encoding", "header_row", "null_values", "decimal"}),
        separator="\t",
        in_parts=True,
    ),
)
