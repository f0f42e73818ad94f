"""Several processes that answer requests are one studio: one set of workers, one folder of figures, one clearing-up.

For whoever starts them: `shoal serve --processes`, or gunicorn (`deploy/gunicorn.conf.py`). Each process
then makes its application with ``shoal.server.application:studio_process``.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from shoal.server.api.service import SHARED_FIGURES
from shoal.server.home import StudioHome
from shoal.server.jobs.supervisor import WorkerSupervisor
from shoal.server.settings import HOME, SETTINGS, ServerSettings
from shoal.server.web.parts import StudioParts


def home_of_environment() -> StudioHome:
    """As the variables name it; what they don't set is as it comes."""
    settings = ServerSettings.model_validate_json(os.environ.get(SETTINGS, "{}"))
    return StudioHome.at(Path(os.environ.get(HOME, "shoal-home")), settings)


def first_visit(home: StudioHome) -> str | None:
    """What to tell the operator, where nobody has an account yet."""
    token = StudioParts(home).accounts.make_setup_token()
    return None if token is None else f"/setup asks for this token, which is good for one account: {token}"


@contextmanager
def shared_studio(home: StudioHome) -> Iterator[None]:
    """Around the processes, in whoever starts them."""
    home.sweep_uploads()
    figures, supervisor = tempfile.mkdtemp(prefix="shoal-figures-"), WorkerSupervisor(home)
    settings = home.settings.model_copy(update={"alone": False, "workers": 0})
    os.environ |= {HOME: str(home.root), SETTINGS: settings.model_dump_json(), SHARED_FIGURES: figures}
    try:
        supervisor.start()
        try:
            yield
        finally:
            supervisor.stop()
    finally:
        shutil.rmtree(figures, ignore_errors=True)
