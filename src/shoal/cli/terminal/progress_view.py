"""The line on stderr that says how far a command is: what it does, how much of it, how fast, how long it still takes.

Loops tell their steps. Passes over files happen inside Polars, which tells nothing; but what the process has read is
known to the system, so that a pass is followed by bytes, where the system says them (``/proc/self/io``).
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Timer
from typing import TYPE_CHECKING, Final

from shoal.cli.terminal.console import is_quiet
from shoal.cli.terminal.signals import command_token

if TYPE_CHECKING:
    from rich.text import Text

    from shoal.schema.progress import Monitor, ProgressEvent

DELAY: Final = 0.8
"""Seconds for which nothing is shown: most commands are over by then."""
SETTLED: Final = 1.0
"""Seconds after which a rate says something."""
_CELLS: Final = 24
_COUNTERS: Final = Path("/proc/self/io")


def bytes_read() -> int | None:
    """What this process has read so far; None where the system doesn't say."""
    try:
        lines = _COUNTERS.read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) for line in lines if line.startswith("rchar:")), None)


@dataclass
class ProgressView:
    """What is being done. It is told of events, and asked for its line by whoever draws it."""

    clock: Callable[[], float] = time.monotonic
    read: Callable[[], int | None] = bytes_read
    task: str = ""
    _started: float = 0.0
    _done: int | None = None
    _total: int | None = None
    _read_before: int | None = field(default=None)
    """None where steps are counted, not bytes."""

    def __call__(self, event: ProgressEvent) -> None:
        from shoal.schema.progress import Advanced, PhaseStarted

        if isinstance(event, PhaseStarted):
            self._begin(event.phase)
            self._read_before, self._total = self.read(), event.reads
        elif isinstance(event, Advanced):
            if event.task != self.task or self._done is None:
                self._begin(event.task)
                self._read_before = None
            self._done, self._total = event.done, event.total

    def _begin(self, task: str) -> None:
        self.task, self._started = task, self.clock()
        self._done = self._total = None

    def line(self) -> str:
        """
        >>> now = iter([0.0, 4.0])
        >>> from shoal.schema.progress import Advanced
        >>> view = ProgressView(clock=lambda: next(now))
        >>> view(Advanced("rewrite", 2_000_000, 5_000_000))
        >>> view.line()
        'rewrite  ━━━━━━━━━───────────────  2,000,000 of 5,000,000, 500,000/s, 6 s left'
        """
        seconds = self.clock() - self._started
        done, total = self._done, self._total
        size: Callable[[int], str] = _count
        again = ""
        if self._read_before is not None:
            done, size = max(0, (self.read() or 0) - self._read_before), _bytes
            if total and done > total:
                again, done = f"pass {done // total + 1}, ", done % total
        if not done:
            return f"{self.task}  {_seconds(seconds)}"
        told = f"{again}{size(done)}{f' of {size(total)}' if total else ''}"
        if seconds < SETTLED or again:
            return f"{self.task}  {_bar(done, total)}{told}, {_seconds(seconds)}"
        rate = done / seconds
        left = f", {_seconds((total - done) / rate)} left" if total and done <= total else f", {_seconds(seconds)}"
        return f"{self.task}  {_bar(done, total)}{told}, {size(round(rate))}/s{left}"

    def __rich__(self) -> Text:
        from rich.text import Text

        return Text(self.line(), no_wrap=True, overflow="ellipsis")


def _bar(done: int, total: int | None) -> str:
    if not total:
        return ""
    full = min(_CELLS, _CELLS * done // total)
    return f"{'━' * full}{'─' * (_CELLS - full)}  "


def _count(steps: int) -> str:
    return f"{steps:,}"


def _bytes(size: int) -> str:
    """
    >>> _bytes(999), _bytes(20_667_786), _bytes(3_400_000_000)
    ('999 B', '20.7 MB', '3.4 GB')
    """
    for unit, power in (("GB", 9), ("MB", 6), ("kB", 3)):
        if size >= 10**power:
            return f"{size / 10**power:.1f} {unit}"
    return f"{size} B"


def _seconds(seconds: float) -> str:
    """
    >>> _seconds(6.4), _seconds(75), _seconds(7300)
    ('6 s', '1:15 min', '2:01 h')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    return f"{minutes}:{rest:02} min" if minutes < 60 else f"{minutes // 60}:{minutes % 60:02} h"


@contextmanager
def progress(*, silent: bool = False) -> Iterator[Monitor]:
    """A progress line on stderr, if that is a terminal; signals that ask the command to end stop the work.

    ``silent``: as for machines, who read JSON.
    """
    from shoal.schema.progress import Monitor

    cancel = command_token()
    if silent or not sys.stderr.isatty() or is_quiet():
        yield Monitor(cancel=cancel)
        return
    from rich.console import Console
    from rich.live import Live

    view = ProgressView()
    live = Live(view, console=Console(stderr=True), refresh_per_second=5, transient=True, redirect_stdout=False)
    begins = Timer(DELAY, live.start)
    begins.daemon = True
    begins.start()
    try:
        yield Monitor(view, cancel)
    finally:
        begins.cancel()
        begins.join()
        live.stop()
