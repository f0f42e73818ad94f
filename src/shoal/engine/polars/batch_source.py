"""Batches made by steps as a lazy frame, so that Polars can count or write them while they come."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import polars as pl

from shoal.kernels.batch_streams import Batches, streamed


@contextmanager
def streaming(schema: pl.Schema, batches: Batches) -> Iterator[pl.LazyFrame]:
    """A lazy frame over batches, which are made anew for every pass over it.

    An error raised while making them arrives as it was raised, even where the reader of the frame took it for its own.
    """
    raised: list[Exception] = []

    def watched() -> Iterator[pl.DataFrame]:
        try:
            yield from batches()
        except Exception as error:
            raised.append(error)
            raise

    try:
        yield streamed(watched, schema)
    except Exception:
        if raised:
            raise raised[0] from None
        raise
