"""A command that is asked to end, by Ctrl-C (SIGINT), SIGTERM or SIGHUP, ends in one way: what is unfinished is gone.

The first such signal cancels the token of the command, which its work looks at in every thread, and raises in the main
thread. Later ones don't disturb the clearing up.

Python sees a signal between two steps of its own, and a step may be a count of a huge table. So a thread is told at
once; if the command has not ended a little later, the thread removes what is unfinished and ends the process.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shoal.schema.progress import CancelToken

INTERRUPTED = 130
"""As shells count what a signal ended: 128 + its number."""
GRACE = 3.0
"""Seconds. Who asks processes to end often waits 10 of them before they are killed."""
_ENDING = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
_DEFAULTS = (signal.SIG_DFL, signal.default_int_handler)


class _Ending:
    """Which signal came first, if any, and what stops the work."""

    def __init__(self) -> None:
        self.number: int | None = None
        self.token: CancelToken | None = None
        self.over = threading.Event()

    def interrupt(self, number: int, _: FrameType | None) -> None:
        if self.number is None:
            self.number = number
            if self.token is not None:
                self.token.cancel()
            raise KeyboardInterrupt


_current = _Ending()


def command_token() -> CancelToken:
    """What a signal cancels while a command runs."""
    from shoal.schema.progress import CancelToken

    if _current.token is None:
        _current.token = CancelToken()
    return _current.token


def takes_its_time() -> None:
    """Of a command that hears signals by itself and ends in its own order, as a server does: its requests first, then
    its workers. Nobody ends it before.
    """
    _current.over.set()


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """Inside, a signal that asks to end raises KeyboardInterrupt, and what ends the process as interrupted tells which
    it was. Ignored ones stay so, as under ``nohup``.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    global _current  # noqa: PLW0603  # a process has one command at a time, as it has one set of signal handlers
    ending = _current = _Ending()
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    threading.Thread(target=_watch, args=(reader, ending.over), name="signals", daemon=True).start()
    woken = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    before = {number: signal.getsignal(number) for number in _ENDING}
    for number, handler in before.items():
        if handler in _DEFAULTS:
            signal.signal(number, ending.interrupt)
    try:
        yield
    except SystemExit as ended:
        if ended.code == INTERRUPTED and ending.number is not None:
            raise SystemExit(128 + ending.number) from None
        raise
    finally:
        ending.over.set()
        for number, handler in before.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(woken)
        os.close(writer)


def _watch(reader: int, over: threading.Event) -> None:
    """Each byte is the number of a signal; none, the end of the command."""
    with contextlib.suppress(OSError):
        while number := os.read(reader, 1):
            if number[0] in _ENDING and not over.wait(GRACE):
                _end_at_once(number[0])
    os.close(reader)


def _end_at_once(number: int) -> None:
    from shoal.io.atomic.unfinished import discard_unfinished

    discard_unfinished()
    os._exit(128 + number)
