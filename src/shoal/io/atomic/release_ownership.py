"""What in a folder is a release's own, so that replacing a release never removes anything else.

A release says in its manifest what its files are; a few have names of their own in every release. All else was put
there by somebody.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any, Final

MANIFEST: Final = "release.json"
_ALWAYS: Final = frozenset({
    MANIFEST, "report.html", "recipient.html", "report.pdf", "recipient.pdf", "history.json",
})  # fmt: skip


def is_replaceable(folder: Path) -> bool:
    """An empty folder, or a release with nothing else in it."""
    return folder.is_dir() and (not any(folder.iterdir()) or foreign_files(folder) == [])


def foreign_files(folder: Path) -> list[str] | None:
    """What in a release folder is not the release's; None where it is no release."""
    told = _manifest(folder)
    if told is None:
        return None
    tables = told.get("tables")
    inner = [name for name in tables if isinstance(name, str)] if isinstance(tables, dict) else []
    own = _ALWAYS | set(_named(told))
    foreign = []
    for path in _below(folder):
        table = path.parts[0]
        if table in inner and len(path.parts) > 1:
            continue
        if path.as_posix() not in own and ".partial-" not in path.name:
            foreign.append(path.as_posix())
    for name in inner:
        found = foreign_files(folder / name)
        foreign += [f"{name}/"] if found is None else [f"{name}/{path}" for path in found]
    return sorted(foreign)


def _manifest(folder: Path) -> dict[str, Any] | None:
    try:
        told = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return told if isinstance(told, dict) and isinstance(told.get("shoal"), str) else None


def _named(told: Mapping[str, Any]) -> Iterator[str]:
    """The paths that a manifest names."""
    data, files = told.get("data"), told.get("files")
    for one in [data, *(files if isinstance(files, list) else [])]:
        if not isinstance(one, dict) or not isinstance(one.get("path"), str):
            continue
        yield one["path"]
        parts = one.get("parts")
        for part in parts if isinstance(parts, list) else []:
            if isinstance(part, dict) and isinstance(part.get("path"), str):
                yield f"{one['path']}/{part['path']}"


def _below(folder: Path) -> Iterator[PurePosixPath]:
    """Every file, and every link, which is not followed."""
    for place, folders, files in os.walk(folder):
        links = [name for name in folders if (Path(place) / name).is_symlink()]
        for name in (*files, *links):
            yield PurePosixPath((Path(place) / name).relative_to(folder))
