"""The room opens fast: heavy parts are imported where they are used."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = ("sqlalchemy", "adbc_driver_manager", "adbc_driver_postgresql", "pymysql", "pyarrow", "fastexcel", "sqlite3")


@pytest.mark.requirement("D-01")
def test_heavy_parts_are_not_imported() -> None:
    code = f"import sys, shoal.io; print([name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.requirement("D-01")
@pytest.mark.parametrize(
    ("module", "url", "kind"),
    [
        ("sqlalchemy", "sqlite:///x.db", "SQLite"),
        ("adbc_driver_postgresql", "postgresql://h/d", "PostgreSQL"),
        ("pymysql", "mariadb://h/d", "MariaDB"),
    ],
)
def test_a_missing_driver_says_what_to_install(module: str, url: str, kind: str) -> None:
    code = f"""
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == {module!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name={module!r})
sys.meta_path.insert(0, Absent())
from shoal.io import *
for attempt in (lambda: open_source(parse_source({{"url": {url!r}, "table": "t"}})),
                lambda: open_target(parse_target({{"url": {url!r}, "table": "t"}}))):
    try:
        attempt()
    except Exception as error:
        print(type(error).__name__, error)
"""
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    said = f'{url}#t: {kind} needs the package {module} (pip install "shoal[db]")'
    assert done.stdout.splitlines() == [f"SourceError {said}", f"TargetError {said}"]
