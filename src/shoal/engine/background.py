"""Work done in a thread of its own; Polars, NumPy and checksums leave the interpreter to others while they run."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from threading import Thread
from typing import TypeVar

T = TypeVar("T")


def in_background(work: Callable[[], T], name: str) -> Future[T]:
    """Begins at once. What it raises is raised where its result is asked for; a process that ends does not wait.

    >>> in_background(lambda: 6 * 7, "sum").result()
    42
    """
    done: Future[T] = Future()

    def run() -> None:
        try:
            done.set_result(work())
        except BaseException as error:  # noqa: BLE001  # raised where the result is used
            done.set_exception(error)

    Thread(target=run, name=f"shoal-{name}", daemon=True).start()
    return done
