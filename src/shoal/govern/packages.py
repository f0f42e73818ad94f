"""Encrypted packages of a release for a recipient: one file, written whole or not at all, opened whole or not at all.

Inside is a plain archive of the release folder. It is sealed while it is read, so neither memory nor a temporary file
ever holds all of it in the clear.
"""

from __future__ import annotations

import os
import tarfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import BinaryIO, Final

from shoal.crypto.age_files import AgeIdentity, open_stream, seal_stream
from shoal.errors import InputError, IntegrityError, SourceError, TargetError
from shoal.govern.certificates import fingerprint
from shoal.govern.release_entry import release_figures
from shoal.io import Staging, replacement, sha256_of

KEY_SUFFIX: Final = ".key"
_PIECE: Final = 1 << 20


@dataclass(frozen=True)
class SealedPackage:
    path: Path
    sha256: str
    data_sha256: str
    recipient: str
    """The fingerprint of the public key that it was sealed for."""
    key_file: Path | None
    """Sealed with the passphrase; to be sent another way than the package."""


def pack_release(
    folder: Path, package: Path, *, recipient: str | None = None, passphrase: str | None = None
) -> SealedPackage:
    """For the holder of a key, or for whoever is told the passphrase. The folder has to be what was released."""
    if (recipient is None) == (passphrase is None):
        raise InputError("a package is for the holder of a key, or for a passphrase", field="to")
    figures = release_figures(folder)
    key_file = None
    if package.exists():
        raise TargetError(f"{package}: exists already")
    if passphrase is not None:
        identity = AgeIdentity.new()
        recipient, key_file = identity.recipient, package.with_name(package.name + KEY_SUFFIX)
        sealed_key = identity.sealed(passphrase)
    archive = _piped(lambda pipe: _write_archive(folder, pipe))
    with replacement(package) as partial, partial.open("wb") as sealed, archive as plain:
        seal_stream(plain, sealed, (str(recipient),))
    if key_file is not None:
        with replacement(key_file) as partial:
            partial.write_bytes(sealed_key)
    return SealedPackage(
        package, sha256_of(package), figures["data_sha256"], fingerprint(str(recipient).encode()), key_file
    )


def unpack_release(package: Path, folder: Path, identity: AgeIdentity, *, force: bool = False) -> Path:
    """The release folder appears once all of the package was opened and is what it was."""
    if not package.is_file():
        raise SourceError(f"{package}: there is no such file")
    with Staging(folder, force=force) as staging:
        with package.open("rb") as sealed, _piped(lambda pipe: open_stream(sealed, pipe, identity)) as plain:
            _read_archive(plain, staging.path)
        staging.commit()
    return folder


@contextmanager
def _piped(work: Callable[[BinaryIO], None]) -> Iterator[BinaryIO]:
    """What a piece of work writes, to be read while it does; its error is raised here."""
    reading, writing = os.pipe()
    raised: list[BaseException] = []
    unread: IntegrityError | None = None

    def run() -> None:
        try:
            with os.fdopen(writing, "wb") as pipe:
                work(pipe)
        except BrokenPipeError:
            pass
        except BaseException as error:  # noqa: BLE001  # handed to the reader
            raised.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        with os.fdopen(reading, "rb") as pipe:
            try:
                yield pipe
            except (tarfile.TarError, EOFError):
                unread = IntegrityError("the package holds something else than a release")
            while unread is None and pipe.read(_PIECE):
                pass
    finally:
        thread.join()
    if raised:
        raise raised[0]
    if unread is not None:
        raise unread


def _write_archive(folder: Path, pipe: BinaryIO) -> None:
    with tarfile.open(fileobj=pipe, mode="w|", format=tarfile.PAX_FORMAT) as archive:
        for path in sorted(one for one in folder.rglob("*") if one.is_file()):
            told = tarfile.TarInfo(path.relative_to(folder).as_posix())
            told.size, told.mode = path.stat().st_size, 0o644
            with path.open("rb") as file:
                archive.addfile(told, file)


def _read_archive(plain: BinaryIO, folder: Path) -> None:
    """Plain files below the folder, and nothing else."""
    with tarfile.open(fileobj=plain, mode="r|") as archive:
        for told in archive:
            name = PurePosixPath(told.name)
            if not told.isreg() or name.is_absolute() or ".." in name.parts:
                raise IntegrityError("the package holds something that is no file of a release")
            target = folder.joinpath(*name.parts)
            target.parent.mkdir(parents=True, exist_ok=True)
            file = archive.extractfile(told)
            if file is None:
                raise IntegrityError("the package was cut off")
            with file, target.open("xb") as written:
                while piece := file.read(_PIECE):
                    written.write(piece)
