"""Who is told how far a pass over a table has come; apart from the passes, since most who listen read no tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_listener: ContextVar[Callable[[int], None] | None] = ContextVar("pass listener", default=None)


@contextmanager
def heard_by(listener: Callable[[int], None]) -> Iterator[None]:
    """Inside, the listener is told by every pass over a table how many records it has read. What it raises ends it."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def current_listener() -> Callable[[int], None] | None:
    return _listener.get()
