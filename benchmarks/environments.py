"""Environments for peers: they are no dependencies of the project, not even of its benchmarks."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


class PeerError(Exception):
    """Why there are no figures of a peer."""


def python_with(folder: Path, package: str, module: str) -> Path:
    """The interpreter of the environment in the folder, which is made the first time, with a package in it."""
    python = folder / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    if subprocess.run([python, "-c", f"import {module}"], capture_output=True, check=False).returncode:
        command: list[str | Path] = [python, "-m", "pip", "--quiet", "--disable-pip-version-check", "install", package]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise PeerError("can't be installed: " + last_line(done.stderr))
    return python


def last_line(text: str) -> str:
    return (text.strip().splitlines() or ["no reason given"])[-1][:120]
