"""Which file a release is made from: its name, date and checksum, found in a thread while the run reads it."""

from __future__ import annotations

from concurrent.futures import Future
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from shoal.engine.background import in_background
from shoal.errors import SourceError
from shoal.io import FileSource, PartFile, Source, sha256_of
from shoal.io.formats.partitioned import checksum
from shoal.results.manifest import SourceIdentity


class SourceFingerprint:
    """Begins when it is made, and is given up where the run ends early. A database or a table in memory has none."""

    def __init__(self, source: Source) -> None:
        self._found: Future[SourceIdentity] | None = None
        if isinstance(source, FileSource):
            self._found = in_background(partial(_identify, source.label, source.files), "checksum")

    def identity(self) -> SourceIdentity | None:
        """Waits for what is left to be read."""
        return None if self._found is None else self._found.result()


def _identify(label: str, files: tuple[Path, ...]) -> SourceIdentity:
    try:
        written = datetime.fromtimestamp(max(path.stat().st_mtime for path in files), UTC).replace(microsecond=0)
        return SourceIdentity(name=Path(label).name, sha256=_checksum(files), modified=written)
    except OSError:
        raise SourceError(f"{label}: can't be read any more") from None


def _checksum(files: tuple[Path, ...]) -> str:
    if len(files) == 1:
        return sha256_of(files[0])
    return checksum([PartFile(path.name, 0, sha256_of(path)) for path in files])
