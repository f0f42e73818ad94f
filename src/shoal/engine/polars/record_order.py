"""Records in a random order, in bounded memory.

Each record has a random key. Up to ``IN_MEMORY`` records are sorted at once. Beyond that, records go to one of
``BUCKETS`` files by the first bits of their key, and the buckets are sorted one by one: the same order. The files hold
only what would be released anyway, and they are gone when the iteration ends.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.ipc
from numpy.typing import NDArray

from shoal.schema import ROW

IN_MEMORY = 2_000_000
BUCKETS = 64
KEY = "__shoal_order__"

OrderKey = Callable[[NDArray[np.uint64]], NDArray[np.uint64]]


def reordered(
    batches: Iterator[pl.DataFrame], order_key: OrderKey, spool: Path | None, *, in_memory: int = IN_MEMORY
) -> Iterator[pl.DataFrame]:
    held: list[pl.DataFrame] = []
    height = 0
    for batch in batches:
        held.append(_keyed(batch, order_key))
        height += batch.height
        if height > in_memory:
            yield from _spooled(held, batches, order_key, spool)
            return
    if held:
        yield _sorted(pl.concat(held))


def _keyed(batch: pl.DataFrame, order_key: OrderKey) -> pl.DataFrame:
    return batch.with_columns(pl.Series(KEY, order_key(batch[ROW].to_numpy())))


def _sorted(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.sort(KEY, ROW).drop(KEY)


def _spooled(
    held: list[pl.DataFrame], rest: Iterator[pl.DataFrame], order_key: OrderKey, spool: Path | None
) -> Iterator[pl.DataFrame]:
    with tempfile.TemporaryDirectory(prefix=".reorder-", dir=spool) as folder:
        buckets = _Buckets(Path(folder), held[0])
        while held:
            buckets.put(held.pop(0))
        for batch in rest:
            buckets.put(_keyed(batch, order_key))
        for bucket in buckets.read():
            yield _sorted(bucket)


class _Buckets:
    def __init__(self, folder: Path, example: pl.DataFrame) -> None:
        schema = _arrow(example.clear()).schema
        self._paths = [folder / str(number) for number in range(BUCKETS)]
        self._writers = [pa.ipc.new_stream(str(path), schema) for path in self._paths]

    def put(self, batch: pl.DataFrame) -> None:
        numbers = (batch[KEY].to_numpy() // np.uint64(2**64 // BUCKETS)).astype(np.int64)
        order = np.argsort(numbers, kind="stable")
        batch, edges = batch[order], np.searchsorted(numbers[order], np.arange(BUCKETS + 1))
        for number, writer in enumerate(self._writers):
            if edges[number] < edges[number + 1]:
                writer.write_table(_arrow(batch[int(edges[number]) : int(edges[number + 1])]))

    def read(self) -> Iterator[pl.DataFrame]:
        for writer in self._writers:
            writer.close()
        for path in self._paths:
            with pa.ipc.open_stream(str(path)) as reader:
                bucket = pl.DataFrame(pl.from_arrow(reader.read_all()))
            path.unlink()
            if bucket.height:
                yield bucket


def _arrow(frame: pl.DataFrame) -> pa.Table:
    return frame.to_arrow(compat_level=pl.CompatLevel.oldest())
