"""Whole or not at all: a folder is written under a hidden name beside its final one, made durable, then renamed.

A kill at any moment leaves the old folder or the new one, never a mixture:

- the hidden folder ``.NAME.partial-XXXX`` is locked while its process lives; the next run sweeps those whose lock is
  free, so that nothing stays behind for good. No name is used twice: a sweep that is late finds nothing, never a
  newer folder;
- every file and folder is flushed to disk before the rename, and the parent folder after it;
- an existing release is replaced by *exchanging* the two names in one step of the kernel (``renameat2``). Where the
  file system lacks that (NFS, some FUSE), the old folder is first renamed to ``.NAME.replaced-XXXX``. A kill between
  the two renames leaves it there whole, and the next run puts it back.

``force`` replaces releases only: a folder that holds anything but has no ``release.json`` is refused.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import hashlib
import os
import shutil
import time
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from shoal.errors import TargetError
from shoal.io.failures import no_room, writing

MANIFEST: Final = "release.json"
_AT_FDCWD: Final = -100
_NOREPLACE: Final = 1
_EXCHANGE: Final = 2
_UNSUPPORTED: Final = frozenset({errno.ENOSYS, errno.EINVAL, errno.ENOTSUP})
_TRIES: Final = 1000
_LOCKLESS: Final = frozenset({errno.ENOLCK, errno.ENOTSUP, errno.EBADF})
"""What file systems answer that can't lock folders. Nothing is swept there."""


class Staging:
    """A folder in the making. Write into ``path``, then ``commit``; leaving without a commit leaves nothing.

    >>> import tempfile
    >>> home = Path(tempfile.mkdtemp())
    >>> with Staging(home / "release") as staging:
    ...     _ = (staging.path / "release.json").write_text("{}")
    ...     staging.commit()
    >>> sorted(path.name for path in home.rglob("*"))
    ['release', 'release.json']
    """

    def __init__(self, final: Path, *, force: bool = False) -> None:
        self.label = str(final)
        self.path = Path()
        self._final = final
        self._force = force
        self._lock = -1  # of what lies under the hidden name, whichever that is
        self._made: list[Path] = []
        self._exchanged = False
        self._committed = False

    def __enter__(self) -> Self:
        try:
            with writing(self.label):
                self._final = _settled(self._final)
                _restore(self._final)
                _refuse_existing(self._final, self.label, force=self._force)
                self._made = _make_folders(self._final.parent)
                _sweep(self._final)
                self.path, self._lock = _locked_sibling(self._final)
        except BaseException:
            self._clean()
            raise
        return self

    def commit(self) -> None:
        """Make it durable and give it its final name. After this the release is there, whatever happens."""
        with writing(self.label):
            _flush(self.path)
            try:
                _rename(self.path, self._final, _NOREPLACE)
            except FileExistsError:
                if not self._force:
                    raise TargetError(f"{self.label}: has appeared while this run was at work") from None
                self._replace()
            _flush_folder(self._final.parent)
        self._committed = True

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._clean()
        if error is not None and no_room(error):
            raise TargetError(f"{self.label}: there is no room left on the disk") from None

    def _replace(self) -> None:
        """Exchange, then look at what came out: if it is no release, it goes back. No sweep takes it meanwhile."""
        outgoing = _held(self._final)
        try:
            self._exchanged = True
            _rename(self.path, self._final, _EXCHANGE)
            if not _is_replaceable(self.path):
                _rename(self.path, self._final, _EXCHANGE)
                self._exchanged = False
                raise TargetError(f"{self.label}: has become something else while this run was at work")
            self._lock, outgoing = outgoing, self._lock
        finally:
            _close(outgoing)

    def _clean(self) -> None:
        # Under the hidden name lies what is unfinished or, after an exchange, what was replaced; only a release may go.
        if self.path != Path() and (not self._exchanged or _is_replaceable(self.path)):
            shutil.rmtree(self.path, ignore_errors=True)
        _close(self._lock)
        if not self._committed:
            for folder in reversed(self._made):
                with contextlib.suppress(OSError):
                    folder.rmdir()


def sha256_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _settled(final: Path) -> Path:
    """The absolute path; a link is followed, so that what it points to is replaced and the link stays."""
    path = Path(os.path.abspath(final))  # noqa: PTH100 - Path.resolve would follow the links in the parents as well
    if path.is_symlink():
        if not path.exists():
            raise TargetError(f"{final}: is a link to something that is not there")
        path = path.resolve()
    if not path.name:
        raise TargetError(f"{final}: is not a folder that could be written")
    return path


def _refuse_existing(final: Path, label: str, *, force: bool) -> None:
    if not final.exists():
        return
    if not final.is_dir():
        raise TargetError(f"{label}: is a file, not a folder")
    if not force:
        raise TargetError(f"{label}: exists already", advice="--force replaces it")
    if not _is_replaceable(final):
        raise TargetError(f"{label}: is not a release (it holds no {MANIFEST}), so it is not replaced")


def _is_replaceable(folder: Path) -> bool:
    return folder.is_dir() and ((folder / MANIFEST).is_file() or not list(folder.iterdir()))


def _make_folders(folder: Path) -> list[Path]:
    """The folder and its parents; those that were not there before, from the top."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    return missing[::-1]


def _hidden(final: Path, kind: str) -> str:
    return f".{final.name}.{kind}-"


def _siblings(final: Path, kind: str) -> list[Path]:
    if not final.parent.is_dir():
        return []
    beginning = _hidden(final, kind)
    return [path for path in final.parent.iterdir() if path.name.startswith(beginning) and not path.is_symlink()]


def _locked_sibling(final: Path) -> tuple[Path, int]:
    """A new hidden folder and the lock that tells that its process lives. A sweep may take it before it is locked."""
    for _ in range(_TRIES):
        path = final.parent / f"{_hidden(final, 'partial')}{os.getpid()}-{time.time_ns()}"
        try:
            path.mkdir()
            lock = _lock(path)
        except (FileExistsError, FileNotFoundError, BlockingIOError):
            continue
        except OSError as error:
            if error.errno in _LOCKLESS:
                return path, -1
            raise
        if path.is_dir() and os.fstat(lock).st_ino == path.stat().st_ino:
            return path, lock
        os.close(lock)
    raise FileNotFoundError(errno.ENOENT, "no folder can be made there")


def _lock(folder: Path) -> int:
    """An open, locked folder. BlockingIOError if another process holds the lock."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BaseException:
        os.close(handle)
        raise
    return handle


def _held(folder: Path) -> int:
    """The folder of this name, open and locked: it waits for others that exchange it. Not locked where none can be."""
    for _ in range(_TRIES):
        handle = os.open(folder, os.O_RDONLY)
        with contextlib.suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)
        if os.fstat(handle).st_ino == folder.stat().st_ino:
            return handle
        os.close(handle)
    raise FileNotFoundError(errno.ENOENT, "it changes faster than it can be locked")


def _close(handle: int) -> None:
    if handle >= 0:
        os.close(handle)


def _sweep(final: Path) -> None:
    """Remove what processes left behind that were killed. What can't be locked may be alive and stays."""
    for path in _siblings(final, "partial"):
        with contextlib.suppress(OSError):
            lock = _lock(path)
            shutil.rmtree(path, ignore_errors=True)
            os.close(lock)


def _restore(final: Path) -> None:
    """Undo or finish a replacement in two steps that was cut short."""
    for path in _siblings(final, "replaced"):
        if final.exists():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.rename(final)


def _rename(source: Path, target: Path, flag: int) -> None:
    """Rename to a free name, or exchange two names, in one step where the file system can."""
    code = _renameat2(source, target, flag)
    if code == 0:
        return
    if code not in _UNSUPPORTED:
        raise OSError(code, os.strerror(code))
    if flag == _NOREPLACE:
        if target.exists():
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
        source.rename(target)
        return
    aside = target.with_name(f"{_hidden(target, 'replaced')}{os.getpid()}")
    target.rename(aside)
    try:
        source.rename(target)
    except OSError:
        aside.rename(target)
        raise
    aside.rename(source)


def _renameat2(source: Path, target: Path, flag: int) -> int:
    """0, or the error's number. The C library may not know the call."""
    try:
        call = ctypes.CDLL(None, use_errno=True).renameat2
    except AttributeError:
        return errno.ENOSYS
    done = call(_AT_FDCWD, os.fsencode(source), _AT_FDCWD, os.fsencode(target), ctypes.c_uint(flag))
    return 0 if done == 0 else ctypes.get_errno()


def _flush(folder: Path) -> None:
    """Every file and folder below, to the disk."""
    for place, _, files in os.walk(folder):
        for name in files:
            _flush_one(Path(place) / name, os.O_RDONLY)
        _flush_folder(Path(place))


def _flush_folder(folder: Path) -> None:
    _flush_one(folder, os.O_RDONLY | os.O_DIRECTORY)


def _flush_one(path: Path, flags: int) -> None:
    handle = os.open(path, flags)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
