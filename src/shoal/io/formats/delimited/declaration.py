"""What every format of delimited text declares; they differ in names and in the separator."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from shoal.io.formats.base import FileFormat

if TYPE_CHECKING:
    from shoal.io.formats.delimited.reader import DelimitedSource
    from shoal.io.options import FileOptions


def delimited_format(
    key: str, suffixes: tuple[str, ...], separator: str, *, order: int, shared_suffixes: frozenset[str] = frozenset()
) -> FileFormat:
    def open_text(path: Path, options: FileOptions) -> DelimitedSource:
        from shoal.io.formats.delimited.reader import open_delimited

        return open_delimited(path, options, key)

    return FileFormat(
        key,
        suffixes,
        open_text,
        sink=None,
        scan=None,
        order=order,
        shared_suffixes=shared_suffixes,
        options=frozenset({"separator", "quote", "encoding", "header_row", "null_values", "decimal"}),
        separator=separator,
        in_parts=True,
    )
