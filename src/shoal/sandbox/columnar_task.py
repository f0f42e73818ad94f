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
from shoal.kernels.calendar import calendar_bounds
from shoal.sandbox.child import Channel
from shoal.sandbox.excel_task import hand_over

ARROW_FILE = b"ARROW1"


def check(  # noqa: PLR0913  # what the parent sends
    channel: Channel, path: str, file_format: str, label: str, *, content: bool, any_date: bool = False
) -> None:
    """Hand over an empty table with the columns, and tell how many records there are (of JSON lines: whether any).

    With ``any_date`` the parent deals with dates that are none.
    """
    if file_format == "jsonl":
        frame = pl.scan_ndjson(path, infer_schema_length=None)
        schema = frame.collect_schema()
        records = pl.scan_ndjson(path, schema=schema).head(1).collect(engine="streaming").height
    elif file_format == "arrow" and not is_arrow_file(path):
        schema, records = _stream(path, label, any_date=any_date)
    else:
        frame = pl.scan_parquet(path, glob=False) if file_format == "parquet" else pl.scan_ipc(path, glob=False)
        schema = frame.collect_schema()
        records = _decoded(frame, label, any_date=any_date) if content else 0
    hand_over(channel, pl.DataFrame(schema=schema), {"records": records})


def is_arrow_file(path: str) -> bool:
    with Path(path).open("rb") as file:
        return file.read(len(ARROW_FILE)) == ARROW_FILE


def _decoded(frame: pl.LazyFrame, label: str, *, any_date: bool) -> int:
    """The number of records, all of them decoded; it has to be the number that the file claims."""
    found = 0
    for batch in frame.collect_batches(maintain_order=False, engine="streaming"):
        if not any_date:
            _refuse_timeless(batch, label)
        found += batch.height
    if found != frame.select(pl.len()).collect(engine="streaming").item():
        raise SourceError(f"{label}: holds another number of records than it says")
    return found


def _stream(path: str, label: str, *, any_date: bool) -> tuple[pl.Schema, int]:
    import pyarrow as pa

    found = 0
    try:
        with pa.ipc.open_stream(path) as reader:
            schema = pl.DataFrame(pl.from_arrow(reader.schema.empty_table())).schema
            for batch in reader:
                batch.validate(full=True)
                table = pl.DataFrame(pl.from_arrow(batch))
                if not any_date:
                    _refuse_timeless(table, label)
                found += table.height
    except (pa.ArrowException, PolarsError, OSError):
        raise SourceError(f"{label}: is not a whole Arrow file") from None
    return schema, found


def _refuse_timeless(batch: pl.DataFrame, label: str) -> None:
    """Dates are numbers in these files, and any number can stand there. Python has no years beyond these, and a library
    that is asked to write such a date out panics. Times of day that are none are read as missing.
    """
    for column in batch.iter_columns():
        bounds = calendar_bounds(column.dtype)
        if bounds is None:
            continue
        if not column.to_physical().drop_nulls().is_between(*bounds).all():
            raise SourceError(f"{label}: column '{column.name}' holds dates outside the years 1 to 9999")
