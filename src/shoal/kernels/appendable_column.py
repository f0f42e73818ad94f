"""A column that grows a little at a time and is looked up in all the while.

Polars looks up quickest in a column of one piece, and to make one piece of many it copies them all. So texts are kept
as Arrow's string views, in an array with room to grow: 16 bytes for each text, which hold a short text itself and say
where to find a long one. Polars takes such an array as it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pyarrow as pa

_INLINE_BYTES = 12
_LENGTH, _BUFFER = 0, 2
"""Of the four words of a view: the length of the text; for a long text, which buffer it is in."""


class AppendableColumn:
    """
    >>> towns = AppendableColumn()
    >>> towns.append(pl.Series(["Pune"]))
    >>> towns.append(pl.Series(["Thiruvananthapuram"]))
    >>> towns.column().to_list()
    ['Pune', 'Thiruvananthapuram']
    """

    def __init__(self) -> None:
        self._views: NDArray[np.uint32] = np.empty((0, 4), dtype=np.uint32)
        self._buffers: list[pa.Buffer] = []
        self._column: pl.Series | None = None
        self._length = 0

    def __len__(self) -> int:
        return self._length

    @property
    def begun(self) -> bool:
        return self._column is not None

    def append(self, values: pl.Series) -> None:
        """Values of one type, none of them missing text. They are copied: what they were taken from may go."""
        if values.dtype != pl.String():
            self._column = values if self._column is None else pl.concat([self._column, values], rechunk=True)
        else:
            self._append_texts(values)
            self._column = self._texts(self._length + len(values))
        self._length += len(values)

    def column(self) -> pl.Series:
        """All of it, in one piece."""
        return pl.Series(dtype=pl.String) if self._column is None else self._column

    def _append_texts(self, values: pl.Series) -> None:
        array = _as_views(values)
        end = self._length + len(values)
        if end > len(self._views):
            room = np.empty((max(end, len(self._views) * 3 // 2), 4), dtype=np.uint32)
            room[: self._length] = self._views[: self._length]
            self._views = room
        if not len(values):
            return
        _, views, *buffers = array.buffers()
        place = np.frombuffer(views, dtype=np.uint32).reshape(-1, 4)[array.offset : array.offset + len(values)]
        room = self._views[self._length : end]
        room[:] = place
        room[:, _BUFFER] += np.where(room[:, _LENGTH] > _INLINE_BYTES, len(self._buffers), 0).astype(np.uint32)
        self._buffers += [_copied(buffer) for buffer in buffers]

    def _texts(self, length: int) -> pl.Series:
        import pyarrow as pa

        buffers = [None, pa.py_buffer(self._views), *self._buffers]
        return pl.Series(pa.Array.from_buffers(pa.string_view(), length, buffers))


def _as_views(values: pl.Series) -> pa.Array:
    """With the letters of these texts and no others in its buffers."""
    compact = pl.Series(values.to_arrow(compat_level=pl.CompatLevel.oldest()))
    return compact.to_arrow(compat_level=pl.CompatLevel.newest())


def _copied(buffer: pa.Buffer) -> pa.Buffer:
    """As large as what is in it; one that was filled bit by bit has room for up to twice as much."""
    import pyarrow as pa

    return pa.py_buffer(np.frombuffer(buffer, dtype=np.uint8).copy())
