"""A Spark frame in, a Spark frame out: the records stay on the cluster, the driver sees counts and writes the report.

The frame is copied once, sorted by its content, which gives each record its position; and the result is written once,
as parts. ``release.data`` reads these files: whatever is made of it later, no step runs again and no random number is
drawn anew. Both lie in a folder that only its owner can read. The copy goes when the release is done; the result goes
with the Spark session and all frames that were made of it, at the latest when Python ends.
"""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from shoal.engine import Engine
from shoal.errors import InputError
from shoal.io import Source, Staging
from shoal.policy import Policy
from shoal.release.destinations import Destination, FolderDestination, FolderOutput, Release


class SparkDestination(Destination):
    """A folder of the session's own, read as a frame; the given frame is copied into it, to be read from there."""

    def __init__(self, data: Any, policy: Policy, shared: Path | None) -> None:
        """``shared`` is a folder that all machines of the cluster see; a temporary one does for a Spark on one."""
        if not hasattr(data, "_jdf"):
            raise InputError(
                "a frame of Spark Connect can't be anonymised", advice="use a session on the cluster itself"
            )
        self._data = data
        self._folder = Path(tempfile.mkdtemp(prefix="shoal-", dir=shared)).absolute()
        self._remove = weakref.finalize(data.sparkSession, shutil.rmtree, self._folder, ignore_errors=True)
        self._inner = FolderDestination(
            policy.model_copy(update={"target": None}), self._folder / "release", parts=True
        )

    def require(self) -> None:
        self._inner.require()

    def arrange(self) -> tuple[Source, Engine[Any]]:
        """What reads the frame, and the engine on its session."""
        from shoal.engine.spark import SparkEngine, SparkFrameSource

        try:
            copy = self._folder / "copy"
            copy.mkdir()
            return SparkFrameSource(self._data, copy), SparkEngine(spool=self._folder, running=self._data.sparkSession)
        except BaseException:
            self._remove()
            raise

    @contextmanager
    def open(self, source: Source) -> Iterator[SparkOutput]:
        try:
            with Staging(self._inner.folder) as staging:
                yield SparkOutput(self._inner, staging, source, self._data)
        except BaseException:
            self._remove()
            raise
        shutil.rmtree(self._folder / "copy", ignore_errors=True)


class SparkOutput(FolderOutput):
    def __init__(self, destination: FolderDestination, staging: Staging, source: Source, data: Any) -> None:
        super().__init__(destination, staging, source)
        self._data = data

    def commit(self, release: Release) -> Release:
        """With frames of the caller's session."""
        from shoal.engine.spark import open_folder

        written = super().commit(release)
        files = {name: open_folder(self._data, path) for name, path in written.files.items()}
        return replace(written, data=open_folder(self._data, written.data), folder=None, files=files)
