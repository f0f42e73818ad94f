"""A command that is asked to end (SIGTERM, SIGHUP) ends as by Ctrl-C: what is unfinished is gone.

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

INTERRUPTED = 130
"""As shells count what a signal ended: 128 + its number."""
GRACE = 3.0
"""Seconds. Who asks processes to end often waits 10 of them before they are killed."""
_ENDING = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))


class _Ending:
    """Which signal came first, if any; later ones don't disturb the clearing up."""

    number: int | None = None

    def interrupt(self, number: int, _: FrameType | None) -> None:
        if self.number is None:
            self.number = number
            raise KeyboardInterrupt


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """Inside, a signal that asks to end raises KeyboardInterrupt, and what ends the process as interrupted tells which
    it was. Ignored ones stay so, as under ``nohup``.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    ending, over = _Ending(), threading.Event()
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    threading.Thread(target=_watch, args=(reader, over), name="signals", daemon=True).start()
    woken = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    before = {number: signal.getsignal(number) for number in _ENDING}
    for number, handler in before.items():
        if handler is signal.SIG_DFL:
            signal.signal(number, ending.interrupt)
    try:
        yield
    except SystemExit as ended:
        if ended.code == INTERRUPTED and ending.number is not None:
            raise SystemExit(128 + ending.number) from None
        raise
    finally:
        over.set()
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
