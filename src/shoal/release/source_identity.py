"""Which file a release is made from: its name and checksum, found in a thread while the run reads it."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from shoal.io import FileSource, PartFile, Source, sha256_of
from shoal.io.formats.partitioned import checksum
from shoal.results.manifest import SourceIdentity


class SourceFingerprint:
    """Begins when it is made. A database or a table in memory has none."""

    def __init__(self, source: Source) -> None:
        files = source.files if isinstance(source, FileSource) else ()
        self._found: Future[SourceIdentity] | None = None
        if files:
            pool = ThreadPoolExecutor(1, thread_name_prefix="shoal-checksum")
            self._found = pool.submit(_identify, Path(source.label).name, files)
            pool.shutdown(wait=False)

    def identity(self) -> SourceIdentity | None:
        """Waits for what is left to be read."""
        return None if self._found is None else self._found.result()


def _identify(name: str, files: tuple[Path, ...]) -> SourceIdentity:
    if len(files) == 1:
        return SourceIdentity(name=name, sha256=sha256_of(files[0]))
    return SourceIdentity(name=name, sha256=checksum([PartFile(path.name, 0, sha256_of(path)) for path in files]))
