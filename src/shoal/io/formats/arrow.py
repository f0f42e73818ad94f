"""Arrow (IPC), as a file or a stream; Feather is its older name. Written as a file, in batches of a fixed size."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

import polars as pl

from shoal.errors import SourceError
from shoal.io.formats.base import FileFormat, Signature, file_formats
from shoal.io.formats.columnar import ColumnarKind, ColumnarSource, open_columnar, scan_own
from shoal.kernels.batch_streams import streamed

if TYPE_CHECKING:
    from shoal.io.options import FileOptions

KEY = "arrow"
_BATCH: Final = 1 << 16
_FILE: Final = b"ARROW1"


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
        raise SourceError(f"{label}: {KIND.broken}") from None


class ArrowKind(ColumnarKind):
    key = KEY
    broken = "is not a whole Arrow file"

    def scan(self, path: Path, schema: pl.Schema | None, label: str) -> pl.LazyFrame:
        with path.open("rb") as file:
            if file.read(len(_FILE)) == _FILE:
                return pl.scan_ipc(path, glob=False)
        return streamed(lambda: _stream_batches(path, label), _stream_schema(path))


KIND: Final = ArrowKind()


def _open(path: Path, options: FileOptions) -> ColumnarSource:
    return open_columnar(path, options, KIND)


def _sink(frame: pl.LazyFrame, path: Path) -> None:
    frame.sink_ipc(path, record_batch_size=_BATCH, compat_level=pl.CompatLevel.oldest(), engine="streaming")


def _scan(path: Path, label: str) -> pl.LazyFrame:
    return scan_own(path, KIND, label)


def _scan_binary(path: Path) -> pl.LazyFrame:
    return pl.scan_ipc(path)


file_formats.add(
    KEY,
    FileFormat(
        KEY,
        (".arrow", ".feather", ".ipc"),
        _open,
        _sink,
        _scan,
        order=60,
        signatures=(
            Signature(b"ARROW1\0\0", "an Arrow file"),
            Signature(b"\xff\xff\xff\xff", "an Arrow stream"),
        ),
        says_rows=True,
        scan_binary=_scan_binary,
    ),
)
