"""The studio as one process or as several that share a port, with one set of workers for all of them."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
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
        """Until Ctrl-C or SIGTERM, which is how a server ends: nothing was interrupted."""
        from shoal.cli.terminal.signals import takes_its_time

        takes_its_time()
        with suppress(KeyboardInterrupt):
            self._run(app, processes)

    def _run(self, app: FastAPI, processes: int) -> None:
        import uvicorn

        if processes == 1:
            uvicorn.Server(uvicorn.Config(app, **self.options)).run()
            return
        from shoal.server.processes import shared_studio

        with shared_studio(app.state.parts.home):
            uvicorn.run(PROCESS, factory=True, workers=processes, **self.options)
