"""The studio under gunicorn: `gunicorn --config deploy/gunicorn.conf.py`, with gunicorn and uvicorn-worker installed.

SHOAL_STUDIO_HOME names the home folder, SHOAL_STUDIO_SETTINGS what differs from the settings as they come, as JSON:
{"secure": true, "host_names": ["studio.example.org"], "workers": 2}. The master keeps the workers that do the jobs; the
processes that it forks only answer.
"""

import os
import sys
from contextlib import ExitStack

from uvicorn_worker import UvicornWorker

from shoal.server.processes import first_visit, home_of_environment, shared_studio


class StudioWorker(UvicornWorker):
    CONFIG_KWARGS = {"access_log": False, "server_header": False, "timeout_graceful_shutdown": 5}  # noqa: RUF012


wsgi_app = "shoal.server.application:studio_process()"
worker_class = StudioWorker
workers = int(os.environ.get("WEB_CONCURRENCY", "2"))
bind = os.environ.get("SHOAL_STUDIO_BIND", "127.0.0.1:8080")
timeout = 120
graceful_timeout = 10
_open = ExitStack()


def on_starting(_server):
    home = home_of_environment()
    told = first_visit(home)
    if told is not None:
        sys.stdout.write(f"first visit: {told}\n")
        sys.stdout.flush()
    _open.enter_context(shared_studio(home))


def on_exit(_server):
    _open.close()
