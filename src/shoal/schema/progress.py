"""How far work is, and whether it is to stop: one way for solvers, engines, scans, attacks and whole runs.

A loop calls its ``Progress`` at every step and knows no more than that. What a ``Monitor`` makes of the call goes to
whoever listens (``EventSink``) and ends the loop when its ``CancelToken`` was cancelled, by any thread or a signal.

>>> heard = []
>>> monitor = Monitor(heard.append)
>>> with monitor.phase("solve"):
...     monitor.progress("solve")(3, 10)
>>> [type(event).__name__ for event in heard], heard[1].done
(['PhaseStarted', 'Advanced', 'PhaseFinished'], 3)
>>> monitor.cancel.cancel()
>>> monitor.check()
Traceback (most recent call last):
shoal.errors.Cancelled: interrupted: nothing was written
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

from shoal.errors import Cancelled
from shoal.kernels import pass_listener

Unit = Literal["steps", "bytes"]
told = pass_listener.told
"""What a pass over parts, as blocks of a text, tells by how far it is."""
Progress = Callable[[int, int | None], None]
"""How many steps are done, and of how many, if that is known. May raise ``Cancelled``, which a loop lets pass."""


@dataclass(frozen=True)
class PhaseStarted:
    phase: str
    records: int | None = None
    """Of the table that it reads, as far as is known, perhaps several times."""


@dataclass(frozen=True)
class PhaseFinished:
    """A phase that fails or is cancelled has none."""

    phase: str
    seconds: float


@dataclass(frozen=True)
class Advanced:
    """Steps of a task within a phase: nodes of a lattice, records that were written, attacks."""

    task: str
    done: int
    total: int | None
    unit: Unit = "steps"


@dataclass(frozen=True)
class WarningRaised:
    """What a person should know of the result; it is in the result too."""

    text: str


@dataclass(frozen=True)
class NoteMade:
    """What is good to know and no reason for worry."""

    text: str


ProgressEvent = PhaseStarted | PhaseFinished | Advanced | WarningRaised | NoteMade
EventSink = Callable[[ProgressEvent], None]
"""Called in whichever thread works, so it should be quick. What it raises ends the work like any other error."""


class CancelToken:
    """Asks work to stop. Nothing but a flag is set, so that a signal handler may do it at any moment."""

    def __init__(self) -> None:
        self._cancelled = False

    def cancel(self) -> None:
        self._cancelled = True

    @property
    def cancelled(self) -> bool:
        return self._cancelled

    def check(self) -> None:
        if self._cancelled:
            raise Cancelled


class Monitor:
    """Who listens to a piece of work, and what may stop it."""

    def __init__(self, sink: EventSink | None = None, cancel: CancelToken | None = None) -> None:
        self.sink = sink
        self.cancel = cancel or CancelToken()
        self._expected: dict[str, int] = {}

    def expect(self, task: str, total: int) -> None:
        """How many steps a task will take, for loops that don't know it themselves.

        >>> heard = []
        >>> monitor = Monitor(heard.append)
        >>> monitor.expect("rewrite", 10)
        >>> monitor.progress("rewrite")(3, None)
        >>> heard
        [Advanced(task='rewrite', done=3, total=10, unit='steps')]
        """
        self._expected[task] = total

    def check(self) -> None:
        self.cancel.check()

    def emit(self, event: ProgressEvent) -> None:
        if self.sink is not None:
            self.sink(event)

    def progress(self, task: str, unit: Unit = "steps") -> Progress:
        """What a loop of this task calls at every step."""

        def advance(done: int, total: int | None) -> None:
            self.cancel.check()
            if self.sink is not None:
                self.sink(Advanced(task, done, self._expected.get(task) if total is None else total, unit))

        return advance

    @contextmanager
    def listening(self, task: str, total: int | None, unit: Unit = "steps") -> Iterator[None]:
        """Passes over a table or a text, of such a size, tell how far they are."""
        advance = self.progress(task, unit)
        with pass_listener.heard_by(lambda done: advance(done, total)):
            yield

    @contextmanager
    def phase(self, phase: str, records: int | None = None) -> Iterator[None]:
        """Not begun if the work was cancelled; whether it was is looked at again before the next.

        Passes that count a table, of so many ``records``, tell how far they are.
        """
        self.check()
        self.emit(PhaseStarted(phase, records))
        started = time.perf_counter()
        with self.listening(phase, records):
            yield
        self.emit(PhaseFinished(phase, time.perf_counter() - started))
