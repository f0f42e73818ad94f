"""Whole or not at all: a folder is written under a hidden name beside its final one, made durable, then renamed.

A kill at any moment leaves the old folder or the new one, never a mixture:

- what is unfinished is hidden, and swept by the next run if its process was killed (see ``unfinished``);
- every file and folder is flushed to disk before the rename, and the parent folder after it;
- an existing release is replaced by *exchanging* the two names in one step of the kernel (``renameat2``). Where the
  file system lacks that (NFS, some FUSE), the old folder is first renamed to ``.NAME.replaced-XXXX``. A kill between
  the two renames leaves it there whole, and the next run puts it back.

``force`` replaces releases only: a folder that is none, or holds what is not the release's, is refused (see
``ownership``).
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import hashlib
import os
import shutil
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from shoal.errors import FieldName, FieldText, TargetError
from shoal.io.atomic import unfinished
from shoal.io.atomic.release_ownership import MANIFEST, foreign_files, is_replaceable
from shoal.io.failures import no_room, writing
from shoal.kernels.early_checksums import begun_checksum

_AT_FDCWD: Final = -100
_NOREPLACE: Final = 1
_EXCHANGE: Final = 2
_UNSUPPORTED: Final = frozenset({errno.ENOSYS, errno.EINVAL, errno.ENOTSUP})
_TRIES: Final = 1000
_SHOWN: Final = 3
"""Names of files that are in the way, of any number."""


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
                unfinished.sweep(self._final)
                self.path, self._lock = unfinished.locked_folder(self._final)
        except BaseException:
            self._clean()
            raise
        return self

    def commit(self) -> None:
        """Make it durable and give it its final name. After this the release is there, whatever happens."""
        with writing(self.label):
            unfinished.flush(self.path)
            unfinished.committing(self.path)
            try:
                _rename(self.path, self._final, _NOREPLACE)
            except FileExistsError:
                if not self._force:
                    raise TargetError(f"{self.label}: has appeared while this run was at work") from None
                self._replace()
            unfinished.flush_folder(self._final.parent)
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
            if not is_replaceable(self.path):
                _rename(self.path, self._final, _EXCHANGE)
                self._exchanged = False
                raise TargetError(f"{self.label}: has become something else while this run was at work")
            self._lock, outgoing = outgoing, self._lock
        finally:
            unfinished.close(outgoing)

    def _clean(self) -> None:
        # Under the hidden name lies what is unfinished or, after an exchange, what was replaced; only a release may go.
        if self.path != Path() and (not self._exchanged or is_replaceable(self.path)):
            shutil.rmtree(self.path, ignore_errors=True)
        unfinished.release(self.path, self._lock)
        if not self._committed:
            for folder in reversed(self._made):
                with contextlib.suppress(OSError):
                    folder.rmdir()


def sha256_of(path: Path) -> str:
    begun = begun_checksum(path)
    if begun is not None:
        return begun
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _settled(final: Path) -> Path:
    path = unfinished.settled(final)
    if Path(final).is_symlink() and not path.exists():
        raise TargetError(f"{final}: is a link to something that is not there")
    if not path.name:
        raise TargetError(f"{final}: is not a folder that could be written")
    return path


def _refuse_existing(final: Path, label: str, *, force: bool) -> None:
    if not final.exists():
        return
    if not final.is_dir():
        raise TargetError(f"{label}: is a file, not a folder")
    if not force:
        raise TargetError(f"{label}: exists already", advice=FieldText(FieldName("force"), " replaces it"))
    if is_replaceable(final):
        return
    foreign = foreign_files(final)
    if foreign is None:
        why = f"it holds no {MANIFEST}" if not (final / MANIFEST).is_file() else f"its {MANIFEST} is not Shoal's"
        raise TargetError(f"{label}: is not a release ({why}), so it is not replaced")
    more = f" and {len(foreign) - _SHOWN:,} more" if len(foreign) > _SHOWN else ""
    raise TargetError(
        f"{label}: holds what is not the release's: {', '.join(foreign[:_SHOWN])}{more}",
        advice="move it elsewhere first",
    )


def _make_folders(folder: Path) -> list[Path]:
    """The folder and its parents; those that were not there before, from the top."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    return missing[::-1]


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


def _restore(final: Path) -> None:
    """Undo or finish a replacement in two steps that was cut short."""
    for path in unfinished.siblings(final, "replaced"):
        if final.exists():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.rename(final)


def give_new_name(source: Path, final: Path) -> None:
    """A whole file gets a name that nothing has yet, in one step. FileExistsError where something has it."""
    try:
        os.link(source, final)
    except FileExistsError:
        raise
    except OSError:  # a file system without links
        _rename(source, final, _NOREPLACE)


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
    aside = target.with_name(f"{unfinished.hidden_name(target, 'replaced')}{os.getpid()}")
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
