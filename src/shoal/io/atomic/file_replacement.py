"""A single file, written whole or not at all, by the same means as a folder (see ``commit``).

The new file is written under a hidden name beside the old one, made durable, and takes its place in one step; the
folder is made durable after it. A kill at any moment leaves the old file or the new one. The new file has the rights of
the old one, unless it is private: then it is for its owner's eyes only, whatever was there.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from io import BufferedWriter, FileIO, TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, TextIO

from shoal.io.atomic import unfinished
from shoal.io.failures import writing

if TYPE_CHECKING:
    from typing_extensions import Buffer


@contextmanager
def replacement(path: Path, label: str | None = None, *, private: bool = False) -> Iterator[Path]:
    """The name to write under: a file that is there and empty. At the end it takes the place of ``path``; after an
    error it is gone.

    What is no file but a device or a pipe (``/dev/stdout``) is not replaced but written to. Errors of the operating
    system name the ``label``, if there is one; those of whoever writes pass as they are.
    """
    with _named(label):
        device, final = _is_device(path), unfinished.settled(path)
    if device:
        yield path
        return
    with _named(label):
        if final.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        inside = unfinished.is_inside_unfinished(final)
        if not inside:
            unfinished.sweep(final)
        partial, lock = unfinished.locked_file(final, private=private)
    try:
        yield partial
        with _named(label):
            _take_rights(partial, final, private=private)
            if not inside:
                unfinished.flush(partial)
            unfinished.committing(partial)
            partial.replace(final)
            if not inside:
                unfinished.flush_folder(final.parent)
    finally:
        partial.unlink(missing_ok=True)
        unfinished.release(partial, lock)


@contextmanager
def atomic_path(path: Path, label: str | None = None, *, private: bool = False) -> Iterator[Path]:
    """A replacement that is all that is done meanwhile: every error of the operating system is about it."""
    name = label or str(path)
    with replacement(path, name, private=private) as partial, writing(name):
        yield partial


@contextmanager
def atomic_binary(path: Path, label: str | None = None, *, private: bool = False) -> Iterator[BinaryIO]:
    """A replacement that is open for bytes."""
    name = label or str(path)
    with replacement(path, name, private=private) as partial:
        with writing(name):
            raw = _NamedFile(partial, name)
        with BufferedWriter(raw) as file:
            yield file


@contextmanager
def atomic_text(path: Path, *, private: bool = False) -> Iterator[TextIO]:
    """The same for text, with line ends as they are written."""
    with atomic_binary(path, private=private) as file, TextIOWrapper(file, encoding="utf-8", newline="") as text:
        yield text


def write_atomic(path: Path, text: str, *, private: bool = False) -> None:
    with atomic_text(path, private=private) as file:
        file.write(text)


def write_atomic_bytes(path: Path, data: bytes) -> None:
    with replacement(path) as partial:
        partial.write_bytes(data)


@contextmanager
def new_file(path: Path, *, private: bool = False) -> Iterator[TextIO]:
    """A file that must not be there yet: it is there from now on, durable at the end, and gone after an error.

    For what must have its place before something is done that can't be undone. Raises OSError.
    """
    path = unfinished.settled(path)
    handle = os.open(
        path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, unfinished.PRIVATE if private else 0o666
    )
    unfinished.begun(path)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        unfinished.flush_folder(path.parent)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    finally:
        unfinished.committing(path)


class _NamedFile(FileIO):
    """A file for writing whose errors say which it is."""

    def __init__(self, path: Path, label: str) -> None:
        super().__init__(path, "w")
        self._label = label

    def write(self, data: Buffer, /) -> int:
        with writing(self._label):
            return super().write(data)


def _named(label: str | None) -> AbstractContextManager[None]:
    return nullcontext() if label is None else writing(label)


def _is_device(path: Path) -> bool:
    """What the system shows as a file: devices, pipes, and a stream of this process by its number."""
    known = path.is_absolute() and path.parts[1:2] in {("dev",), ("proc",)}
    return path.exists() and (known or not (path.is_file() or path.is_dir()))


def _take_rights(partial: Path, final: Path, *, private: bool) -> None:
    """Those of the file that is replaced; its owner too, where that is allowed."""
    if private:
        partial.chmod(unfinished.PRIVATE)
        return
    with contextlib.suppress(FileNotFoundError):
        before, now = final.stat(), partial.stat()
        if (before.st_uid, before.st_gid) != (now.st_uid, now.st_gid):
            with contextlib.suppress(PermissionError):
                os.chown(partial, before.st_uid, before.st_gid)
        partial.chmod(stat.S_IMODE(before.st_mode))
