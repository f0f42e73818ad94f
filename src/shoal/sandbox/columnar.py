"""In the child: whether a Parquet, Arrow or JSON lines file can be read from end to end, and what its columns are.

Every page is decoded by the library that will decode it again in the parent, in the same way, from the same bytes. So
what would bring that library down does so here. The records themselves stay: passing them on would cost every pass over
a large file several times what this one costs.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl
from polars.exceptions import PolarsError

from shoal.errors import SourceError
from shoal.sandbox.child import Channel
from shoal.sandbox.workbooks import hand_over

ARROW_FILE = b"ARROW1"


def check(channel: Channel, path: str, file_format: str, label: str, *, content: bool) -> None:
    """Hand over an empty table with the columns, and tell how many records there are (of JSON lines: whether any)."""
    if file_format == "jsonl":
        frame = pl.scan_ndjson(path, infer_schema_length=None)
        schema = frame.collect_schema()
        records = pl.scan_ndjson(path, schema=schema).head(1).collect(engine="streaming").height
    elif file_format == "arrow" and not is_arrow_file(path):
        schema, records = _stream(path, label)
    else:
        frame = pl.scan_parquet(path, glob=False) if file_format == "parquet" else pl.scan_ipc(path, glob=False)
        schema = frame.collect_schema()
        records = _decoded(frame, label) if content else 0
    hand_over(channel, pl.DataFrame(schema=schema), {"records": records})


def is_arrow_file(path: str) -> bool:
    with Path(path).open("rb") as file:
        return file.read(len(ARROW_FILE)) == ARROW_FILE


def _decoded(frame: pl.LazyFrame, label: str) -> int:
    """The number of records, all of them decoded; it has to be the number that the file claims."""
    found = 0
    for batch in frame.collect_batches(maintain_order=False, engine="streaming"):
        found += batch.height
    if found != frame.select(pl.len()).collect(engine="streaming").item():
        raise SourceError(f"{label}: holds another number of records than it says")
    return found


def _stream(path: str, label: str) -> tuple[pl.Schema, int]:
    import pyarrow as pa

    found = 0
    try:
        with pa.ipc.open_stream(path) as reader:
            schema = pl.DataFrame(pl.from_arrow(reader.schema.empty_table())).schema
            for batch in reader:
                batch.validate(full=True)
                found += pl.DataFrame(pl.from_arrow(batch)).height
    except (pa.ArrowException, PolarsError, OSError):
        raise SourceError(f"{label}: is not a whole Arrow file") from None
    return schema, found
