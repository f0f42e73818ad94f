"""Parquet, Arrow (file or stream) and JSON lines: columns have types of their own, and keep them.

JSON lines name no types, so the whole file is looked at once: a key or a kind of value that first shows up in the last
line still counts. Tables are flat here; nested and binary columns are refused by name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import polars as pl
from polars.exceptions import PolarsError

from shoal import sandbox
from shoal.errors import SourceError
from shoal.io.formats.detection import Fingerprint, check_names
from shoal.io.options import FileOptions, Format
from shoal.kernels.batch_streams import streamed
from shoal.sandbox import ReadRequest

_ARROW_FILE: Final = b"ARROW1"
_LONGEST_LINE: Final = 1 << 24
"""Longer ones are not parsed to find out where a file is broken."""
_SAID: Final[dict[Format, str]] = {
    "parquet": "is not a whole Parquet file",
    "arrow": "is not a whole Arrow file",
    "jsonl": "is not made of one JSON object per line",
}


@dataclass(frozen=True)
class ColumnarSource:
    label: str
    path: Path
    format: Format
    schema: pl.Schema
    fingerprint: Fingerprint

    @property
    def files(self) -> tuple[Path, ...]:
        return (self.path,)

    def scan(self) -> pl.LazyFrame:
        self.fingerprint.check(self.path, self.label)
        return _plain(_scan(self.path, self.format, self.label, self.schema), self.schema)

    def explain(self, error: PolarsError) -> SourceError:
        """An error that arose while the file was read; its text is never shown, it may quote a value."""
        where = _broken_line(self.path) if self.format == "jsonl" else ""
        return SourceError(f"{self.label}: {_SAID[self.format]}{where}")


def open_columnar(path: Path, options: FileOptions, file_format: Format) -> ColumnarSource:
    fingerprint = Fingerprint.of(path)
    schema, records = checked(path, file_format, options.label)
    check_names(schema.names(), options.label)
    refuse_nested(schema, options.label)
    if not records:
        raise SourceError(f"{options.label}: there are no records")
    return ColumnarSource(options.label, path, file_format, schema, fingerprint)


def checked(path: Path, file_format: Format, label: str, *, broken: str | None = None) -> tuple[pl.Schema, int]:
    """The columns of a file that others have written, and how many records it has; all of it was decoded in a child."""
    arguments = {"path": str(path.resolve()), "file_format": file_format, "label": label, "content": True}
    broken = broken or _SAID[file_format]
    try:
        (found,) = sandbox.read(
            ReadRequest("shoal.sandbox.columnar_task:check", arguments, label, broken, path.stat().st_size)
        )
    except SourceError as error:
        where = _broken_line(path) if file_format == "jsonl" and error.message == f"{label}: {broken}" else ""
        raise SourceError(f"{error.message}{where}", advice=error.advice) from None
    return pl.read_ipc_stream(found.content).schema, int(found.told["records"])


def scan_own(path: Path, file_format: Format, label: str) -> pl.LazyFrame:
    """A file that we have written ourselves, read anew."""
    schema = _scan(path, file_format, label).collect_schema()
    return _plain(_scan(path, file_format, label, schema), schema)


def refuse_nested(schema: pl.Schema, label: str) -> None:
    nested = [name for name, dtype in schema.items() if dtype.is_nested() or isinstance(dtype, pl.Binary | pl.Object)]
    if nested:
        raise SourceError(
            f"{label}: column(s) {', '.join(nested)} hold lists, records or binary data, not single values"
        )


def plain_schema(schema: pl.Schema) -> pl.Schema:
    """Categories are text, and a column that is missing throughout is text too."""
    texts = {name for name, dtype in schema.items() if isinstance(dtype, pl.Categorical | pl.Enum | pl.Null)}
    return pl.Schema({name: pl.String() if name in texts else dtype for name, dtype in schema.items()})


def _plain(frame: pl.LazyFrame, schema: pl.Schema) -> pl.LazyFrame:
    texts = [name for name, dtype in plain_schema(schema).items() if dtype != schema[name]]
    return frame.with_columns(pl.col(texts).cast(pl.String)) if texts else frame


def _scan(path: Path, file_format: Format, label: str, schema: pl.Schema | None = None) -> pl.LazyFrame:
    scans: dict[str, Callable[[], pl.LazyFrame]] = {
        "parquet": lambda: pl.scan_parquet(path, glob=False),
        "arrow": lambda: _scan_arrow(path, label),
        "jsonl": lambda: pl.scan_ndjson(path, schema=schema, infer_schema_length=None),
    }
    return scans[file_format]()


def _scan_arrow(path: Path, label: str) -> pl.LazyFrame:
    with path.open("rb") as file:
        if file.read(len(_ARROW_FILE)) == _ARROW_FILE:
            return pl.scan_ipc(path, glob=False)
    return streamed(lambda: _stream_batches(path, label), _stream_schema(path))


def _stream_schema(path: Path) -> pl.Schema:
    import pyarrow as pa

    with pa.ipc.open_stream(str(path)) as reader:
        return pl.DataFrame(pl.from_arrow(reader.schema.empty_table())).schema


def _stream_batches(path: Path, label: str) -> Iterator[pl.DataFrame]:
    import pyarrow as pa

    try:
        with pa.ipc.open_stream(str(path)) as reader:
            for batch in reader:
                yield pl.DataFrame(pl.from_arrow(batch))
    except (pa.ArrowException, OSError):
        raise SourceError(f"{label}: {_SAID['arrow']}") from None


def _broken_line(path: Path) -> str:
    """Where the first line stands that is no JSON object, for the message."""
    import json

    with path.open("rb") as file:
        for number, line in enumerate(iter(lambda: file.readline(_LONGEST_LINE), b""), start=1):
            try:
                whole = not line.strip() or isinstance(json.loads(line), dict)
            except (ValueError, RecursionError):
                whole = False
            if not whole:
                return f" (line {number})"
    return ""
