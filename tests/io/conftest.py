"""The database servers of tests/servers.py as fixtures of this room."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

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
