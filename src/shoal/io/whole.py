"""A single file, written whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from shoal.io.failures import writing


@contextmanager
def whole(path: Path, label: str | None = None) -> Iterator[Path]:
    """The hidden name to write under. At the end it takes the place of the file; after an error it is gone."""
    hidden = path.with_name(f".{path.name}.partial-{os.getpid()}")
    with writing(label or str(path)):
        try:
            yield hidden
            hidden.replace(path)
        finally:
            hidden.unlink(missing_ok=True)


def write_whole(path: Path, text: str) -> None:
    with whole(path) as hidden:
        hidden.write_text(text, encoding="utf-8")
