"""Frames that come one after the other: as a lazy Polars source, and made ahead of their use."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Generator, Iterator

import polars as pl
from polars.io.plugins import register_io_source

from shoal.kernels.pass_listener import told

Batches = Callable[[], Iterator[pl.DataFrame]]


def told_batches(frame: pl.LazyFrame, records: int) -> Iterator[pl.DataFrame]:
    """The frame in batches of about so many records, in no particular order.

    >>> from shoal.kernels.pass_listener import heard_by
    >>> heard = []
    >>> with heard_by(heard.append):
    ...     sum(batch.height for batch in told_batches(pl.LazyFrame({"a": [1, 2, 3]}), 100))
    3
    >>> heard
    [3]
    """
    batches = frame.collect_batches(chunk_size=records, maintain_order=False, engine="streaming")
    return told(batches, lambda batch: batch.height)


def streamed(batches: Batches, schema: pl.Schema) -> pl.LazyFrame:
    """A lazy frame over batches of the given schema. ``batches`` is called anew, from the start, for every pass.

    >>> frames = lambda: iter([pl.DataFrame({"a": [1, 2]}), pl.DataFrame({"a": [3]})])
    >>> streamed(frames, pl.Schema({"a": pl.Int64()})).filter(pl.col("a") > 1).collect()["a"].to_list()
    [2, 3]
    """
    return streamed_columns(lambda _: batches(), schema)


ColumnBatches = Callable[[list[str] | None], Iterator[pl.DataFrame]]


def streamed_columns(batches: ColumnBatches, schema: pl.Schema) -> pl.LazyFrame:
    """The same where columns can be left unread: ``batches`` is told which a pass needs, None for all.

    >>> def read(columns):
    ...     yield pl.DataFrame({"a": [1, 2], "b": [3, 4]}).select(columns or ["a", "b"])
    >>> streamed_columns(read, pl.Schema({"a": pl.Int64(), "b": pl.Int64()})).select("b").collect()["b"].to_list()
    [3, 4]
    """

    def produce(
        columns: list[str] | None, predicate: pl.Expr | None, n_rows: int | None, _batch_size: int | None
    ) -> Iterator[pl.DataFrame]:
        read = columns if columns is None or predicate is None else list({*columns, *predicate.meta.root_names()})
        left = n_rows
        for batch in batches(read):
            frame = batch if left is None else batch.head(left)
            if left is not None:
                left -= frame.height
            if predicate is not None:
                frame = frame.filter(predicate)
            yield frame if columns is None else frame.select(columns)
            if left == 0:
                return

    return register_io_source(produce, schema=schema, is_pure=True)


def ahead(batches: Iterator[pl.DataFrame], most: int = 2) -> Generator[pl.DataFrame]:
    """The same batches, made in a thread of their own while the last ones are being used; at most ``most`` wait.

    An error in making them is raised here. When the iteration is closed early, the thread ends with the batch at hand.

    >>> [frame.height for frame in ahead(iter([pl.DataFrame({"a": [1, 2]}), pl.DataFrame({"a": [3]})]))]
    [2, 1]
    """
    waiting: queue.Queue[pl.DataFrame | BaseException | None] = queue.Queue(most)
    closed = threading.Event()

    def make() -> None:
        try:
            for batch in batches:
                if closed.is_set():
                    return
                waiting.put(batch)
        except BaseException as error:  # noqa: BLE001  # raised where the batches are used
            waiting.put(error)
        else:
            waiting.put(None)

    maker = threading.Thread(target=make, name="shoal-batches", daemon=True)
    maker.start()
    try:
        while (batch := waiting.get()) is not None:
            if isinstance(batch, BaseException):
                raise batch
            yield batch
    finally:
        closed.set()
        while maker.is_alive():
            _discard(waiting)
            maker.join(0.01)


def _discard(waiting: queue.Queue[pl.DataFrame | BaseException | None]) -> None:
    """Room in the queue, so that its thread can end."""
    while not waiting.empty():
        waiting.get_nowait()
