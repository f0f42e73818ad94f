"""All letters of a column of texts in one array, so that some can be changed in place, and the column again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.kernels.arrays import Integers

Units = NDArray[np.uint8] | NDArray[np.uint32]


@dataclass(frozen=True)
class TextArray:
    """The bytes of the texts in UTF-8, or their code points; text n begins at ``edges[n]`` and ends at the next."""

    units: Units
    edges: Integers

    @classmethod
    def as_bytes(cls, values: pl.Series) -> TextArray:
        """Enough where only ASCII is looked for: no other character has such a byte."""
        if not len(values):
            return cls(np.empty(0, dtype=np.uint8), np.zeros(1, dtype=np.int64))
        array = values.to_arrow(compat_level=pl.CompatLevel.oldest())
        _, offsets, joined = array.buffers()
        edges = np.frombuffer(offsets, dtype=np.int64)[array.offset : array.offset + len(values) + 1]
        return cls(np.frombuffer(joined, dtype=np.uint8)[edges[0] : edges[-1]], edges - edges[0])

    @classmethod
    def as_code_points(cls, values: pl.Series) -> TextArray:
        edges = np.concatenate(([0], np.cumsum(values.str.len_chars().to_numpy(), dtype=np.int64)))
        return cls(code_points("".join(values.to_list())), edges)

    def with_units(self, units: Units) -> TextArray:
        return replace(self, units=units)

    def texts(self) -> pl.Series:
        import pyarrow as pa

        if self.units.dtype != np.uint8:
            joined = as_text(self.units)
            return pl.Series([joined[start:end] for start, end in pairwise(self.edges.tolist())], dtype=pl.String)
        buffers = [None, pa.py_buffer(self.edges), pa.py_buffer(self.units)]
        return pl.Series(pa.Array.from_buffers(pa.large_string(), len(self.edges) - 1, buffers))


def code_points(text: str) -> NDArray[np.uint32]:
    return np.frombuffer(text.encode("utf-32-le"), dtype="<u4").astype(np.uint32, copy=False)


def as_text(points: NDArray[np.uint32] | NDArray[np.uint8]) -> str:
    return points.astype("<u4").tobytes().decode("utf-32-le")


def rows_of(values: pl.Series) -> NDArray[np.uint8]:
    """The bytes of texts of one length, one text in each row. There is at least one text."""
    return TextArray.as_bytes(values).units.reshape(len(values), -1).astype(np.uint8, copy=False)


def texts_of(rows: NDArray[np.uint8]) -> pl.Series:
    """One text for each row of UTF-8."""
    number, length = rows.shape
    return TextArray(np.ascontiguousarray(rows).reshape(-1), np.arange(number + 1, dtype=np.int64) * length).texts()


def by_length(values: pl.Series, work: Callable[[pl.Series], pl.Series]) -> pl.Series:
    """``work`` done on the texts of each length apart, none of them missing, and put together in the order they had.

    >>> by_length(pl.Series(["bb", "a", "cc"]), lambda texts: texts + str(len(texts))).to_list()
    ['bb2', 'a1', 'cc2']
    """
    if not len(values):
        return values
    lengths = values.str.len_bytes().to_numpy().astype(np.int64)
    if lengths.min() == lengths.max():
        return work(values).alias(values.name)
    order = np.argsort(lengths, kind="stable")
    ordered = values.gather(order)
    edges = [*np.flatnonzero(np.diff(lengths[order], prepend=-1)).tolist(), len(values)]
    done = [work(ordered[start:end]) for start, end in pairwise(edges)]
    return pl.concat(done).gather(np.argsort(order)).alias(values.name)
