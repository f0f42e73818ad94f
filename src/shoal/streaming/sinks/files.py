"""A file as a sink, of JSON lines or CSV; and the standard output.

Beside the file lies its journal, ``NAME.shoal-stream``: how many bytes of the file count, and how far the stream is.
Records are appended and made durable first, then the journal takes the place of the old one in one step. After a kill
in between, the file is cut to what counts, and the stream goes on from there.
"""

from __future__ import annotations

import fcntl
import os
import sys
from pathlib import Path
from typing import BinaryIO, Final

import polars as pl

from shoal.errors import FieldName, FieldText, IntegrityError, TargetError
from shoal.io import write_atomic, writing
from shoal.streaming.sinks.base import StreamSink
from shoal.streaming.sources.base import file_identity
from shoal.streaming.sources.decoding import SEPARATORS
from shoal.streaming.state import StreamState

JOURNAL: Final = ".shoal-stream"


class FileSink(StreamSink):
    def __init__(self, path: Path, *, force: bool = False) -> None:
        self.path, self.journal = path, path.with_name(path.name + JOURNAL)
        self._separator = SEPARATORS.get(path.suffix.lower())
        self._force, self._unused = force, not path.exists()
        with writing(str(path)):
            self._file: BinaryIO = path.open("ab")
        self._lock()

    @property
    def identity(self) -> str | None:
        return file_identity(self._file.fileno())

    def _lock(self) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._file.close()
            raise TargetError(f"{self.path}: another stream writes to it") from None

    def load(self) -> StreamState | None:
        self._unused = False
        if self._force:
            self.journal.unlink(missing_ok=True)
            self._cut(0)
        size = os.fstat(self._file.fileno()).st_size
        if not self.journal.exists():
            if size:
                raise TargetError(
                    f"{self.path}: is there already, and no stream left it",
                    advice=FieldText("take another name, or replace it with ", FieldName("force")),
                )
            return None
        state = StreamState.from_json(self.journal.read_text("utf-8"), str(self.journal))
        if size < state.length:
            raise IntegrityError(f"{self.path}: is shorter than what was written to it")
        self._cut(state.length)
        return state

    def _cut(self, length: int) -> None:
        with writing(str(self.path)):
            os.ftruncate(self._file.fileno(), length)

    def commit(self, frame: pl.DataFrame, state: StreamState) -> StreamState:
        with writing(str(self.path)):
            self._file.write(self._text(frame, first=not state.length))
            self._file.flush()
            os.fsync(self._file.fileno())
            kept = state.at_length(os.fstat(self._file.fileno()).st_size)
        write_atomic(self.journal, kept.to_json())
        return kept

    def _text(self, frame: pl.DataFrame, *, first: bool) -> bytes:
        if not frame.width or not (len(frame) or (first and self._separator)):
            return b""
        if self._separator:
            return frame.write_csv(separator=self._separator, include_header=first).encode()
        return frame.write_ndjson().encode()

    def close(self) -> None:
        if self._unused:
            self.path.unlink(missing_ok=True)
        self._file.close()


class OutputSink(StreamSink):
    """The standard output, as JSON lines: what was written can't be taken back, and nothing is remembered."""

    lasting = False

    def load(self) -> StreamState | None:
        return None

    def commit(self, frame: pl.DataFrame, state: StreamState) -> StreamState:
        if len(frame):
            sys.stdout.buffer.write(frame.write_ndjson().encode())
            sys.stdout.buffer.flush()
        return state
