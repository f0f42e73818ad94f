"""A Python generator of frames as a lazy Polars source, so that it streams like a file does."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import polars as pl
from polars.io.plugins import register_io_source

Batches = Callable[[], Iterator[pl.DataFrame]]


def streamed(batches: Batches, schema: pl.Schema) -> pl.LazyFrame:
    """A lazy frame over batches of the given schema. ``batches`` is called anew, from the start, for every pass.

    >>> frames = lambda: iter([pl.DataFrame({"a": [1, 2]}), pl.DataFrame({"a": [3]})])
    >>> streamed(frames, pl.Schema({"a": pl.Int64()})).filter(pl.col("a") > 1).collect()["a"].to_list()
    [2, 3]
    """

    def produce(
        columns: list[str] | None, predicate: pl.Expr | None, n_rows: int | None, _batch_size: int | None
    ) -> Iterator[pl.DataFrame]:
        left = n_rows
        for batch in batches():
            frame = batch if left is None else batch.head(left)
            if left is not None:
                left -= frame.height
            if predicate is not None:
                frame = frame.filter(predicate)
            yield frame if columns is None else frame.select(columns)
            if left == 0:
                return

    return register_io_source(produce, schema=schema, is_pure=True)
