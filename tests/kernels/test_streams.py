"""Batches made ahead of their use: the same batches, the same errors, and no thread left behind."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import polars as pl
import pytest

from shoal.kernels.batch_streams import ahead


def batches(number: int, made: list[int]) -> Iterator[pl.DataFrame]:
    for place in range(number):
        made.append(place)
        yield pl.DataFrame({"a": [place]})


def makers() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "shoal-batches"]


def test_all_batches_come_in_order() -> None:
    assert [batch["a"].item() for batch in ahead(batches(50, []))] == list(range(50))
    assert not makers()


def test_no_more_wait_than_said() -> None:
    made: list[int] = []
    stream = ahead(batches(50, made), most=2)
    next(stream)
    for _ in range(100):
        threading.Event().wait(0.001)
    assert len(made) <= 4
    stream.close()


def test_an_error_arrives_as_it_was_raised() -> None:
    def failing() -> Iterator[pl.DataFrame]:
        yield pl.DataFrame({"a": [1]})
        raise ZeroDivisionError("here")

    stream = ahead(failing())
    assert next(stream).height == 1
    with pytest.raises(ZeroDivisionError, match="here"):
        next(stream)
    assert not makers()


def test_closing_early_ends_the_thread() -> None:
    made: list[int] = []
    stream = ahead(batches(10_000, made))
    next(stream)
    stream.close()
    assert not makers()
    assert len(made) < 10
