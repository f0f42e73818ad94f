"""The database servers of tests/servers.py as fixtures of this room, and a way to run code without root's rights."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

_PLACE = Path(__file__).resolve().parent.parent / "servers.py"
_spec = importlib.util.spec_from_file_location("shoal_test_servers", _PLACE)
if _spec is None or _spec.loader is None:
    raise ImportError(_PLACE)
_servers = importlib.util.module_from_spec(_spec)
sys.modules[_spec.name] = _servers
_spec.loader.exec_module(_servers)

postgres = _servers.postgres
postgres_url = _servers.postgres_url
mariadb = _servers.mariadb
mariadb_url = _servers.mariadb_url

NOBODY = 65534
# Everything is imported while there is still the right to do so.
PRELUDE = """
import os, sys, traceback
from pathlib import Path
import polars as pl
import shoal.io.formats.base; shoal.io.formats.base.all_formats()
from shoal.io import *
if os.geteuid() == 0:
    os.setgid({nobody}); os.setuid({nobody})
try:
    exec(sys.argv[1])
except Exception as error:
    print(f"{{type(error).__name__}}: {{error}}")
else:
    print("done")
"""


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user can enter; pytest's own are closed to others."""
    with tempfile.TemporaryDirectory(prefix="shoal-test-") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.fixture
def unprivileged() -> Callable[[str], str]:
    """Runs code as a user whom permissions bind; gives "done", or the error in one line."""

    def run(code: str) -> str:
        command = [sys.executable, "-c", PRELUDE.format(nobody=NOBODY), code]
        done = subprocess.run(command, check=False, capture_output=True, text=True, env={**os.environ, "HOME": "/"})
        if "PermissionError" in done.stderr:
            pytest.skip("NO WAY TO DROP ROOT'S RIGHTS HERE, SO THIS IS NOT TESTED")
        return done.stdout.strip() or done.stderr

    return run
