"""The studio as one process or as several that share a port, with one set of workers for all of them."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from fastapi import FastAPI

PROCESS: Final = "shoal.server.application:studio_process"


@dataclass(frozen=True)
class StudioServer:
    options: Mapping[str, Any]
    """Of uvicorn."""

    def run(self, app: FastAPI, processes: int) -> None:
        """Until Ctrl-C or SIGTERM."""
        import uvicorn

        if processes == 1:
            uvicorn.Server(uvicorn.Config(app, **self.options)).run()
            return
        home, supervisor = app.state.parts.home, app.state.supervisor
        home.sweep_uploads()
        with _shared(home):
            supervisor.start()
            try:
                uvicorn.run(PROCESS, factory=True, workers=processes, **self.options)
            finally:
                supervisor.stop()


@contextmanager
def _shared(home: Any) -> Iterator[None]:
    """What the processes read: the settings, and a folder in which they count together."""
    from shoal.server.api.service import SHARED_FIGURES
    from shoal.server.settings import HOME, SETTINGS

    figures = tempfile.mkdtemp(prefix="shoal-figures-")
    settings = home.settings.model_copy(update={"alone": False, "workers": 0})
    os.environ |= {HOME: str(home.root), SETTINGS: settings.model_dump_json(), SHARED_FIGURES: figures}
    try:
        yield
    finally:
        shutil.rmtree(figures, ignore_errors=True)
