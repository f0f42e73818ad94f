"""Starts the workers of a server, and another for each that dies."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import threading
from contextlib import suppress
from typing import Final

from shoal.errors import ShoalError
from shoal.server.home import StudioHome
from shoal.server.jobs.job_queue import JobQueue
from shoal.server.settings import SETTINGS
from shoal.server.store.database import new_id

_LOG: Final = logging.getLogger("shoal.server")
LOOK_EVERY: Final = 0.5
SLOWEST: Final = 30.0
"""Seconds between two looks while workers die one after the other."""
PATIENCE: Final = 8.0
"""Seconds that workers have to end by themselves."""


class WorkerSupervisor:
    def __init__(self, home: StudioHome) -> None:
        self._home = home
        self._workers: dict[str, subprocess.Popen[bytes]] = {}
        self._ending = threading.Event()
        self._watch = threading.Thread(target=self._mind, name="workers", daemon=True)

    @property
    def alive(self) -> int:
        return sum(process.poll() is None for process in self._workers.values())

    def start(self) -> None:
        for _ in range(self._home.settings.workers):
            self._start_one()
        self._watch.start()

    def _start_one(self) -> None:
        name = new_id()
        command = [sys.executable, "-m", "shoal.server.jobs.worker", str(self._home.root), name]
        told = os.environ | {SETTINGS: self._home.settings.model_dump_json()}
        self._workers[name] = subprocess.Popen(  # noqa: S603
            command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, env=told
        )

    def _mind(self) -> None:
        """A look that fails, as while the database is busy, is made again; workers that keep dying are not rushed."""
        queue, pause = JobQueue(self._home), LOOK_EVERY
        while not self._ending.wait(pause):
            ended = [name for name, process in self._workers.items() if process.poll() is not None]
            pause = min(2 * pause, SLOWEST) if ended else LOOK_EVERY
            for name in ended:
                with suppress(ShoalError):
                    queue.worker_died(name)
                    process = self._workers.pop(name)
                    _close_input(process)
                    _LOG.warning("worker ended", extra={"exit": process.returncode})
                    self._start_one()

    def stop(self) -> None:
        self._ending.set()
        self._watch.join()
        for process in self._workers.values():
            _close_input(process)
        for process in self._workers.values():
            try:
                process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        for name in self._workers:
            JobQueue(self._home).worker_died(name)


def _close_input(process: subprocess.Popen[bytes]) -> None:
    if process.stdin is not None:
        process.stdin.close()
