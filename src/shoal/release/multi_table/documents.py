"""Documents of released tables: put together again beside the tables, before the release is committed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from shoal.errors import DataError
from shoal.io import Source, sha256_of
from shoal.io.nested.assembly import DocumentAssembly
from shoal.io.nested.document_files import DocumentShape
from shoal.io.nested.paths import table_name
from shoal.io.nested.tables import NestedTables
from shoal.results.manifest import FurtherFile

_ABOUT: Final = "the documents, put together again from the tables"


def write_documents(nested: NestedTables, written: Mapping[str, Source], folder: Path) -> FurtherFile:
    """In the shape that they came in; ``written`` are the tables as they were released."""
    tables = {table: written[table_name(table)].scan() for table in nested.sources}
    ending = "jsonl" if nested.file.shape is DocumentShape.LINES else "json"
    path = folder / f"documents.{ending}"
    rows = DocumentAssembly(nested, tables).write(path)
    if not rows:
        raise DataError("no document is left")
    return FurtherFile(path=path.name, rows=rows, sha256=sha256_of(path), about=_ABOUT)
