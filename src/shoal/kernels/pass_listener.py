"""Who is told how far a pass over a table or a text has come, apart from the passes: most who listen read none."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

PartT = TypeVar("PartT")

_listener: ContextVar[Callable[[int], None] | None] = ContextVar("pass listener", default=None)


@contextmanager
def heard_by(listener: Callable[[int], None]) -> Iterator[None]:
    """Inside, the listener is told by every pass how much it has read: records of a table, bytes of a text.

    What it raises ends the pass.
    """
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def told(parts: Iterable[PartT], size: Callable[[PartT], int]) -> Iterator[PartT]:
    """The parts of a pass; with each, whoever listens is told how much was read once it has been used.

    >>> heard = []
    >>> with heard_by(heard.append):
    ...     list(told(["ab", "c"], len))
    ['ab', 'c']
    >>> heard
    [2, 3]
    """
    done, listener = 0, _listener.get()
    for part in parts:
        yield part
        done += size(part)
        if listener is not None:
            listener(done)
