"""HTML pages that a command writes where it is asked to."""

from __future__ import annotations

from pathlib import Path

from shoal.errors import TargetError


def refuse_page(path: Path) -> None:
    """Before the work, so that it is not in vain; a name without .html is rather a slip than the wish to replace it."""
    if path.suffix.lower() not in (".html", ".htm"):
        raise TargetError(f"{path}: the chart is an HTML page; its name has to end in .html")
    if not path.parent.is_dir() or path.is_dir():
        raise TargetError(f"{path}: {'is a folder' if path.is_dir() else 'its folder does not exist'}")
