"""The line on stderr that says what a command does, how much of it is done, how fast, and how long it still takes."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Timer
from typing import TYPE_CHECKING, Final

from shoal.cli.terminal.console import is_quiet
from shoal.cli.terminal.signals import command_token

if TYPE_CHECKING:
    from rich.text import Text

    from shoal.schema.progress import Monitor, ProgressEvent, Unit

DELAY: Final = 0.8
"""Seconds for which nothing is shown: most commands are over by then."""
SETTLED: Final = 1.0
"""Seconds after which a rate says something."""
_CELLS: Final = 24


@dataclass
class ProgressView:
    """What is being done. It is told of events, and asked for its line by whoever draws it."""

    clock: Callable[[], float] = time.monotonic
    task: str = ""
    _started: float | None = None
    _done: int | None = None
    """None where no step was told of yet."""
    _total: int | None = None
    _unit: Unit = "steps"
    _left: dict[str, tuple[float, int]] = field(default_factory=dict)
    """When tasks that others came between were begun, and how far they were: one goes on where it was left."""

    def __call__(self, event: ProgressEvent) -> None:
        from shoal.schema.progress import Advanced, PhaseStarted

        if isinstance(event, PhaseStarted):
            self._left.clear()
            self._begin(event.phase)
            self._total = event.records
        elif isinstance(event, Advanced):
            again = self._done is not None and event.done < self._done
            if event.task != self.task or again:
                self._begin(event.task)
                started, done = self._left.get(event.task, (0.0, event.done + 1))
                self._started = started if event.done >= done else self._started
            self._done, self._total, self._unit = event.done, event.total, event.unit

    def _begin(self, task: str) -> None:
        if self._started is not None and self._done is not None:
            self._left[self.task] = (self._started, self._done)
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
        if self._started is None:
            return ""
        seconds, done, total = self.clock() - self._started, self._done, self._total
        if not done:
            return f"{self.task}  {f'{total:,} records, ' if total and done is None else ''}{_seconds(seconds)}"
        whole = f" of {_amount(total, self._unit)}" if total and done <= total else ""
        told = f"{_bar(done, total)}{_amount(done, self._unit)}{whole}"
        if seconds < SETTLED:
            return f"{self.task}  {told}, {_seconds(seconds)}"
        rate = done / seconds
        speed = f"{_amount(round(rate), self._unit)}/s" if rate >= 2 else f"{_seconds(1 / rate)} each"
        left = f"{_seconds((total - done) / rate)} left" if total and done <= total else _seconds(seconds)
        return f"{self.task}  {told}, {speed}, {left}"

    def __rich__(self) -> Text:
        from rich.text import Text

        return Text(self.line(), no_wrap=True, overflow="ellipsis")


def _amount(number: int, unit: Unit) -> str:
    """
    >>> _amount(50_000, "steps"), _amount(4_210_000, "bytes"), _amount(800, "bytes")
    ('50,000', '4.2 MB', '1 kB')
    """
    if unit == "steps":
        return f"{number:,}"
    return f"{number / 1e6:,.1f} MB" if number >= 1e6 else f"{number / 1e3:,.0f} kB"


def _bar(done: int, total: int | None) -> str:
    if not total or done > total:
        return ""
    full = min(_CELLS, _CELLS * done // total)
    return f"{'━' * full}{'─' * (_CELLS - full)}  "


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


@contextmanager
def working(phase: str, records: int | None = None, *, silent: bool = False) -> Iterator[Monitor]:
    """The same for work of one phase, over so many records as far as is known."""
    with progress(silent=silent) as monitor, monitor.phase(phase, records):
        yield monitor
