"""Lines as a source: a file that may grow, or the standard input. A line is a record once its end is there."""

from __future__ import annotations

import itertools
import os
import select
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import numpy as np

from shoal.errors import SourceError
from shoal.streaming.sources.base import LARGEST_RECORD, RecordBatch, StreamSource, file_identity
from shoal.streaming.sources.decoding import SEPARATORS, DelimitedDecoder, JsonLinesDecoder, LineDecoder

PARTITION: Final = "lines"
_CHUNK: Final = 1 << 18
_NO_RECORD: Final = b"\0"
"""What stands for a line that is too long."""
_LOOK_AGAIN: Final = 0.2
"""Seconds between two looks at a file that has not grown."""


class _LineSplitter:
    """Bytes in, whole lines and their offsets out; of a line that is too long only its place."""

    def __init__(self) -> None:
        self.offset = 0
        """Of the first byte that is not handed out yet."""
        self._rest = b""
        self._skipping = False

    def begin_at(self, offset: int) -> None:
        self.offset, self._rest, self._skipping = offset, b"", False

    def feed(self, chunk: bytes) -> tuple[list[bytes], list[int]]:
        *whole, rest = (self._rest + chunk).split(b"\n")
        lines: list[bytes] = []
        offsets: list[int] = []
        for line in whole:
            if self._skipping:
                self._skipping = False
            else:
                lines.append(line if len(line) <= LARGEST_RECORD else _NO_RECORD)
                offsets.append(self.offset)
            self.offset += len(line) + 1
        if len(rest) > LARGEST_RECORD or self._skipping:
            if not self._skipping:
                lines.append(_NO_RECORD)
                offsets.append(self.offset)
            self.offset += len(rest)
            rest, self._skipping = b"", True
        self._rest = rest
        return lines, offsets

    def flush(self) -> tuple[list[bytes], list[int]]:
        """The last line, where nothing ends it."""
        if not self._rest:
            return [], []
        found = [self._rest], [self.offset]
        self.offset, self._rest = self.offset + len(self._rest), b""
        return found


class _LineSource(StreamSource):
    def __init__(self, separator: str | None) -> None:
        self._splitter = _LineSplitter()
        self._separator = separator
        self._decoder: LineDecoder | None = None if separator else JsonLinesDecoder()
        self._lines: list[bytes] = []
        self._offsets: list[int] = []

    def _take(self, read: tuple[list[bytes], list[int]]) -> None:
        lines, offsets = read
        self._lines += lines
        self._offsets += offsets

    def _batch(self, most: int, *, ended: bool) -> RecordBatch:
        lines, self._lines = self._lines[:most], self._lines[most:]
        offsets, self._offsets = self._offsets[:most], self._offsets[most:]
        head = self._offsets[0] if self._offsets else self._splitter.offset
        if self._decoder is None and lines:
            self._decoder = DelimitedDecoder.headed(lines.pop(0).removesuffix(b"\r"), self._separator or ",")
            offsets.pop(0)
        records = [] if self._decoder is None else self._decoder.decode(lines)
        if any(record is None for record in records):
            filled = [record is not None or not _is_blank(line) for record, line in zip(records, lines, strict=True)]
            records = list(itertools.compress(records, filled))
            offsets = list(itertools.compress(offsets, filled))
        return RecordBatch(records, np.array(offsets, dtype=np.uint64), {PARTITION: head}, ended and not self._lines)


def _is_blank(line: bytes) -> bool:
    return line.isspace() or not line


class FileFeed(_LineSource):
    """A file of lines, which may grow while it is read."""

    def __init__(self, path: Path, *, follow: bool = False) -> None:
        super().__init__(SEPARATORS.get(path.suffix.lower()))
        self.path, self.follow = path, follow
        try:
            self._file = path.open("rb")
        except OSError as error:
            raise SourceError(f"{path}: {os.strerror(error.errno or 0)}") from None

    @property
    def identity(self) -> str | None:
        return file_identity(self._file.fileno())

    def start(self, heads: Mapping[str, int], waiting: Sequence[int]) -> None:
        head = heads.get(PARTITION, 0)
        if os.fstat(self._file.fileno()).st_size < head:
            raise SourceError(f"{self.path}: is shorter than what was read of it before")
        if self._separator and head:
            self._decoder = DelimitedDecoder.headed(self._file.readline().rstrip(b"\r\n"), self._separator)
        begin = min((*waiting, head))
        self._file.seek(begin)
        self._splitter.begin_at(begin)

    def read(self, most: int, wait: float | None) -> RecordBatch:
        until = None if wait is None else time.monotonic() + wait
        while len(self._lines) < most:
            chunk = self._file.read(_CHUNK)
            if chunk:
                self._take(self._splitter.feed(chunk))
                continue
            if not self.follow:
                self._take(self._splitter.flush())
                return self._batch(most, ended=True)
            if until is not None and time.monotonic() >= until:
                break
            time.sleep(_LOOK_AGAIN)
        return self._batch(most, ended=False)

    def close(self) -> None:
        self._file.close()


class InputFeed(_LineSource):
    """The standard input, which can't be asked again."""

    replayable = False

    def __init__(self, separator: str | None = None) -> None:
        super().__init__(separator)
        self._input = sys.stdin.buffer.fileno()
        self._over = False

    @property
    def identity(self) -> str | None:
        return file_identity(self._input)

    def start(self, heads: Mapping[str, int], waiting: Sequence[int]) -> None:
        """What was read before is not there any more: positions go on from it."""
        self._splitter.begin_at(heads.get(PARTITION, 0))

    def read(self, most: int, wait: float | None) -> RecordBatch:
        until = None if wait is None else time.monotonic() + wait
        while len(self._lines) < most and not self._over:
            left = None if until is None else max(0.0, until - time.monotonic())
            if not select.select([self._input], [], [], left)[0]:
                break
            chunk = os.read(self._input, _CHUNK)
            self._over = not chunk
            self._take(self._splitter.feed(chunk) if chunk else self._splitter.flush())
        return self._batch(most, ended=self._over)
