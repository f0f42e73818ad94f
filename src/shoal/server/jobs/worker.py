"""A process that takes jobs from the queue, one after the other, until it is asked to end.

It ends when its standard input does: the server holds the other end, so a server that is killed takes its workers with
it. What a worker has begun and not finished by then goes back into the queue.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Final

from shoal.errors import BugError, Cancelled, ShoalError
from shoal.schema.progress import Advanced, CancelToken, Monitor, ProgressEvent
from shoal.server.home import StudioHome
from shoal.server.jobs.job_queue import JobClaim, JobQueue, LeaseLostError
from shoal.server.jobs.work import WORK, JobContext
from shoal.server.settings import SETTINGS, ServerSettings

IDLE: Final = 0.4
"""Seconds between two looks at an empty queue."""
TOLD_EVERY: Final = 0.5
"""Seconds between two events of one phase that are kept."""
GRACE: Final = 20.0
"""Seconds after which a worker that was asked to end is ended where it stands."""


class Worker:
    def __init__(self, home: StudioHome, name: str) -> None:
        self.home, self.name = home, name
        self.queue = JobQueue(home)
        self.ending = threading.Event()

    def serve(self) -> None:
        while not self.ending.is_set():
            claim = self.queue.claim(self.name)
            if claim is None:
                self.ending.wait(IDLE)
            else:
                self.work(claim)

    def work(self, claim: JobClaim) -> None:
        cancel, over = CancelToken(), threading.Event()
        beats = threading.Thread(target=self._beat, args=(claim, cancel, over), daemon=True)
        beats.start()
        try:
            self._perform(claim, cancel)
        except LeaseLostError:
            pass
        except Cancelled:
            with suppress(LeaseLostError):
                self._end_early(claim)
        except ShoalError as error:
            with suppress(LeaseLostError):
                self.queue.fail(claim, {"code": error.code, "message": str(error)})
        except Exception as error:  # noqa: BLE001  # whatever it was, its text may hold a value of the data
            with suppress(LeaseLostError):
                self.queue.fail(claim, {"code": BugError.code, "message": f"our mistake ({type(error).__name__})"})
        finally:
            over.set()
            beats.join()

    def _perform(self, claim: JobClaim, cancel: CancelToken) -> None:
        monitor = Monitor(_EventKeeper(self.queue, claim), cancel)
        outcome = WORK[claim.kind](JobContext(self.home, self.queue, claim, monitor))
        self.queue.finish(claim, outcome.result, outcome.rows)

    def _end_early(self, claim: JobClaim) -> None:
        if self.ending.is_set():
            self.queue.give_back(claim)
        else:
            self.queue.end_cancelled(claim)

    def _beat(self, claim: JobClaim, cancel: CancelToken, over: threading.Event) -> None:
        while not over.wait(self.home.settings.beat_seconds):
            with suppress(ShoalError):  # a database that is busy for a moment is asked again
                try:
                    stop = self.queue.beat(claim)
                except LeaseLostError:
                    stop = True
                if stop or self.ending.is_set():
                    cancel.cancel()


class _EventKeeper:
    """Keeps every event but the many that only say how far a phase is: of those, some each second."""

    def __init__(self, queue: JobQueue, claim: JobClaim) -> None:
        self._queue, self._claim = queue, claim
        self._last = 0.0

    def __call__(self, event: ProgressEvent) -> None:
        if isinstance(event, Advanced):
            moment = time.monotonic()
            if moment - self._last < TOLD_EVERY:
                return
            self._last = moment
        self._queue.note(self._claim, type(event).__name__, asdict(event))


def _end_with_input(worker: Worker) -> None:
    with suppress(OSError):
        while os.read(0, 4096):
            pass
    worker.ending.set()
    time.sleep(GRACE)
    os._exit(0)


def main(arguments: list[str]) -> None:
    root, name = arguments
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to the whole group: the server says when to end
    home = StudioHome(Path(root), ServerSettings.model_validate_json(os.environ[SETTINGS]))
    worker = Worker(home, name)
    signal.signal(signal.SIGTERM, lambda *_: worker.ending.set())
    threading.Thread(target=_end_with_input, args=(worker,), daemon=True).start()
    worker.serve()


if __name__ == "__main__":
    main(sys.argv[1:])
