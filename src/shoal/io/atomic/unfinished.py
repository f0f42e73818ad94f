"""What is unfinished lies under a hidden name beside its final one: ``.NAME.partial-XXXX``, a folder or a file.

It is locked while its process lives; whoever writes the same name next sweeps those whose lock is free, so that nothing
stays behind for good, even after SIGKILL. No name is used twice: a sweep that is late finds nothing, never something
newer. A process that is asked to end in the midst of a long call can remove all that it has begun at once
(``discard_unfinished``).
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

PARTIAL: Final = "partial"
PRIVATE: Final = 0o600
"""For the owner's eyes only."""
_TRIES: Final = 1000
_LONGEST: Final = 180
"""Bytes of a name that are kept in the hidden one, which is longer than it; file systems allow 255."""
_LOCKLESS: Final = frozenset({errno.ENOLCK, errno.ENOTSUP, errno.EBADF})
"""What file systems answer that can't lock. Nothing is swept there."""
_unfinished: dict[Path, int] = {}
"""What this process has begun, and the process: a child that is forked has begun nothing of it."""


def hidden_name(final: Path, kind: str) -> str:
    """How it begins; a name that is as long as names can be is cut."""
    name = os.fsencode(final.name)
    return f".{final.name if len(name) <= _LONGEST else name[:_LONGEST].decode(errors='ignore')}.{kind}-"


def siblings(final: Path, kind: str) -> list[Path]:
    if not final.parent.is_dir():
        return []
    beginning = hidden_name(final, kind)
    return [path for path in final.parent.iterdir() if path.name.startswith(beginning) and not path.is_symlink()]


def locked_folder(final: Path) -> tuple[Path, int]:
    """A new hidden folder and the lock that tells that its process lives."""
    return _locked_sibling(final, lambda path: path.mkdir())


def locked_file(final: Path, *, private: bool = False) -> tuple[Path, int]:
    """The same for a file; a private one is nobody else's to read from its first moment on."""
    return _locked_sibling(final, lambda path: path.touch(PRIVATE if private else 0o666, exist_ok=False))


@contextlib.contextmanager
def scratch_folder(partial: Path) -> Iterator[Path]:
    """A folder beside an unfinished file, for what its writer puts aside; nobody else may read it.

    It is gone at the end, and swept with the file if its process is killed.
    """
    folder = partial.with_name(f"{partial.name}-aside")
    folder.mkdir(0o700)
    begun(folder)
    handle = -1
    try:
        with contextlib.suppress(OSError):
            handle = lock(folder)
        yield folder
    finally:
        remove(folder)
        release(folder, handle)


def release(path: Path, handle: int) -> None:
    """It is no longer of this process: finished, or gone."""
    _unfinished.pop(path, None)
    close(handle)


def sweep(final: Path) -> None:
    """Remove what processes left behind that were killed. What can't be locked may be alive and stays."""
    for path in siblings(final, PARTIAL):
        with contextlib.suppress(OSError):
            handle = lock(path)
            remove(path)
            os.close(handle)


def lock(path: Path) -> int:
    """It, open and locked. BlockingIOError if another process holds the lock."""
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BaseException:
        os.close(handle)
        raise
    return handle


def close(handle: int) -> None:
    if handle >= 0:
        os.close(handle)


def remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def begun(path: Path) -> None:
    """To be removed if this process has to end at once."""
    _unfinished[path] = os.getpid()


def committing(path: Path) -> None:
    """From here on it gets its final name: what lies under the hidden one is left to its owner, or the next sweep."""
    _unfinished.pop(path, None)


def discard_unfinished() -> None:
    """Remove all that this process has begun and not finished; other threads may still be writing into it."""
    for _ in range(3):
        for path, process in list(_unfinished.items()):
            if process == os.getpid():
                with contextlib.suppress(OSError):
                    remove(path)
        if not any(path.exists() for path in list(_unfinished)):
            return
        time.sleep(0.05)


def is_inside_unfinished(path: Path) -> bool:
    """Whether it is part of a folder in the making, which is made durable and appears as a whole."""
    return any(parent in _unfinished for parent in path.parents)


def settled(path: Path) -> Path:
    """The absolute path; a link is followed, so that what it points to is replaced and the link stays."""
    found = Path(os.path.abspath(path))  # noqa: PTH100 - Path.resolve would follow the links in the parents as well
    return found.resolve() if found.is_symlink() else found


def flush(path: Path) -> None:
    """A file, or a folder with every file and folder below, to the disk."""
    if path.is_dir():
        for place, _, files in os.walk(path):
            for name in files:
                _flush_one(Path(place) / name, os.O_RDONLY)
            flush_folder(Path(place))
    else:
        _flush_one(path, os.O_RDONLY)


def flush_folder(folder: Path) -> None:
    """The names in it."""
    _flush_one(folder, os.O_RDONLY | os.O_DIRECTORY)


def _flush_one(path: Path, flags: int) -> None:
    handle = os.open(path, flags)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _locked_sibling(final: Path, make: Callable[[Path], None]) -> tuple[Path, int]:
    """A sweep may take it before it is locked."""
    for _ in range(_TRIES):
        path = final.parent / f"{hidden_name(final, PARTIAL)}{os.getpid()}-{time.time_ns()}"
        try:
            make(path)
            begun(path)
            handle = lock(path)
        except (FileExistsError, FileNotFoundError, BlockingIOError):
            if not final.parent.is_dir():
                raise
            _unfinished.pop(path, None)
            continue
        except OSError as error:
            if error.errno in _LOCKLESS:
                return path, -1
            remove(path)
            _unfinished.pop(path, None)
            raise
        if path.exists() and os.fstat(handle).st_ino == path.stat().st_ino:
            return path, handle
        os.close(handle)
    raise FileNotFoundError(errno.ENOENT, "nothing can be made there")
