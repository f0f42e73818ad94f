"""A private copy of a table that can be read only once: encrypted, in a file without a name.

A database gives no promise that two readings of a query show the same rows in the same order, and a transaction kept
open for hours is a burden on it. So it is read once, in one snapshot, into this spool; the passes read the spool. The
file is unlinked from the start (the kernel frees it when the process ends, however it ends) and holds only AES-256 in
counter mode under a key that lives in memory, so that the freed blocks tell nothing either.
"""

from __future__ import annotations

import io
import os
import tempfile
import weakref
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import numpy as np
import polars as pl

from shoal.errors import SourceError
from shoal.io.failures import no_room
from shoal.kernels.batch_streams import streamed
from shoal.randomness import Randomness

_BLOCK: Final = 16
_LARGE_FILES: Final = Path("/var/tmp")  # noqa: S108 - the file never has a name there; /tmp is often memory


class Spool:
    """Frames put in one after the other; ``scan`` reads them back as often as wanted, also at the same time."""

    def __init__(self, frames: Iterable[pl.DataFrame], label: str, schema: pl.Schema | None = None) -> None:
        """Takes all frames; the first one says what the columns are, even if it is empty, unless that is given."""
        self.rows = 0
        self._places: list[tuple[int, int]] = []
        self._end = 0
        self._stream = Randomness().stream("spool")
        with tempfile.TemporaryFile(dir=_folder()) as file:
            self._handle = os.dup(file.fileno())
        weakref.finalize(self, os.close, self._handle)
        self._label = label
        for frame in frames:
            schema = frame.schema if schema is None else schema
            self.add(frame)
        self.schema = schema or pl.Schema()

    def add(self, frame: pl.DataFrame) -> None:
        """One more, before anything is read."""
        try:
            self._add(frame)
        except OSError as error:
            raise SourceError(
                f"{self._label}: there is {'no room' if no_room(error) else 'no way'} to keep a working copy",
                advice="TMPDIR can name a folder on another disk",
            ) from None

    def scan(self) -> pl.LazyFrame:
        return streamed(self._frames, self.schema)

    def _add(self, frame: pl.DataFrame) -> None:
        if frame.is_empty():
            return
        buffer = io.BytesIO()
        frame.write_ipc(buffer, compression="lz4")
        plain = buffer.getbuffer()
        hidden = memoryview(self._cover(plain, self._end))
        written = 0
        while written < len(hidden):
            written += os.pwrite(self._handle, hidden[written:], self._end + written)
        self._places.append((self._end, len(plain)))
        self._end += len(hidden)
        self.rows += frame.height

    def _frames(self) -> Iterator[pl.DataFrame]:
        for start, length in self._places:
            hidden = os.pread(self._handle, -(-length // _BLOCK) * _BLOCK, start)
            yield pl.read_ipc(self._cover(hidden, start)[:length])

    def _cover(self, data: bytes | memoryview, start: int) -> bytes:
        """The data with the key stream laid over it, which hides and uncovers alike; padded to whole blocks."""
        blocks = -(-len(data) // _BLOCK)
        padded = np.zeros(blocks * _BLOCK, dtype=np.uint8)
        padded[: len(data)] = np.frombuffer(data, np.uint8)
        first = start // _BLOCK
        key = self._stream.words(np.arange(first, first + blocks, dtype=np.uint64)).astype("<u8", copy=False)
        return (padded ^ key.view(np.uint8).reshape(-1)).tobytes()


def _folder() -> Path:
    """Where large files may lie for a while: TMPDIR, else /var/tmp, else what the system says."""
    if "TMPDIR" not in os.environ and os.access(_LARGE_FILES, os.W_OK):
        return _LARGE_FILES
    return Path(tempfile.gettempdir())
