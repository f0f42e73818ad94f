"""Where a project keeps recognisers of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Final

PROJECT_FILE: Final = "shoal-recognisers.yaml"
"""Used by every command where it lies in the working folder, or beside the policy."""


def project_files(*folders: Path) -> tuple[Path, ...]:
    """The project's file in each of the folders, where there is one; a folder that is named twice is one."""
    places = {(folder / PROJECT_FILE).resolve(): folder / PROJECT_FILE for folder in folders}
    return tuple(path for whole, path in places.items() if whole.is_file())
