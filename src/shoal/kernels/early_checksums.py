"""Checksums of large files that are begun before the modules are there that need them.

A command imports modules for a second on one core. Meanwhile another core can read the file that the command is about.
What was begun counts only for a file that is still the same and was not written to, as its inode, size and times tell.
"""

from __future__ import annotations

import hashlib
import stat
from pathlib import Path
from threading import Thread
from typing import Final, NamedTuple

LEAST_BYTES: Final = 1 << 26
"""A smaller file is read in no time when its checksum is asked for."""


class FileState(NamedTuple):
    """What tells that a file was replaced or written to."""

    device: int
    inode: int
    size: int
    modified_ns: int
    changed_ns: int

    @classmethod
    def of(cls, path: Path) -> FileState | None:
        """None where there is no regular file."""
        try:
            found = path.stat()
        except (OSError, ValueError):  # ValueError: no path at all, such as one with a zero byte
            return None
        if not stat.S_ISREG(found.st_mode):
            return None
        return cls(found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


class _EarlyChecksum:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._digest: str | None = None
        self._thread = Thread(target=self._read, name="shoal-early-checksum", daemon=True)
        self._thread.start()

    def _read(self) -> None:
        try:
            with self._path.open("rb") as file:
                self._digest = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError:
            return  # whoever asks for it reads the file and tells what is wrong with it

    def wait(self) -> str | None:
        self._thread.join()
        return self._digest


_begun: dict[FileState, _EarlyChecksum] = {}


def begin_checksum(path: Path) -> None:
    """Nothing is begun for what is small or no file; nothing is raised."""
    state = FileState.of(path)
    if state is not None and state.size >= LEAST_BYTES and state not in _begun:
        _begun[state] = _EarlyChecksum(path)


def begun_checksum(path: Path) -> str | None:
    """The SHA-256 of the file; None where none was begun, or the file has changed since."""
    state = FileState.of(path)
    early = None if state is None else _begun.get(state)
    digest = None if early is None else early.wait()
    return digest if state == FileState.of(path) else None
