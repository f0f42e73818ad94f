"""Puts tables into the wheel that a first call would have to work out otherwise (see docs/decisions/0025).

They are made of the libraries that Shoal needs, so the wheel has to be built where those are installed, as in the
environment of ``make test`` (``.venv/bin/python -m hatchling build``). Where they are not, the wheel has no tables, and
whoever installs it waits for them once.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class TablesHook(BuildHookInterface):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        self.made = tempfile.TemporaryDirectory(prefix="tables-")
        root = Path(self.root)
        done = subprocess.run(  # noqa: S603  our own script
            [sys.executable, str(root / "scripts" / "tables.py"), self.made.name],
            env={**os.environ, "PYTHONPATH": str(root / "src"), "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            self.app.display_warning(f"No tables in this wheel: {done.stderr.strip().rpartition(chr(10))[2]}")
            return
        build_data["force_include"][self.made.name] = "shoal/kernels/tables"

    def finalize(self, _version: str, _build_data: dict[str, Any], _artifact_path: str) -> None:
        if hasattr(self, "made"):
            self.made.cleanup()
