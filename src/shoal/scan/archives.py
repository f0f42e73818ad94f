"""Backups and archives: what is inside is unpacked for a while and scanned as if it lay there.

Zip and tar files, files packed by gzip, bzip2, xz or Zstandard, backups of ``pg_dump`` in its custom form; one inside
the other to a stated depth. What a file says of its own size is not believed: bytes are counted as they come. Whatever
can't be opened, a part that is encrypted, too large, too deep or damaged, is listed as unread, and shuts the gate.

The parts lie in a folder that nobody else can read, in memory where the system has a place for that. It is gone
afterwards, and a killed scan's folder is removed by the next one.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import shutil
import subprocess
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, Final

import pyarrow as pa

from shoal.io.atomic import unfinished
from shoal.scan.findings import UnreadSource

MOST_LAYERS: Final = 4
"""Archives in archives; a ``.tar.gz`` has two layers."""
MOST_BYTES: Final = 1 << 30
MOST_PARTS: Final = 10_000
_MOST_RATIO: Final = 200
_SMALL: Final = 1 << 24
"""Below this size a high ratio does no harm."""
_PIECE: Final = 1 << 16
_TAR_PLACE: Final = 257
_PACKED: Final = {b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\xfd7zXZ\0": "xz", b"\x28\xb5\x2f\xfd": "zstd"}
_ENDINGS: Final = {".gz", ".bz2", ".xz", ".zst", ".tgz"}
_MEMORY: Final = Path("/dev/shm")  # noqa: S108  # a folder of one's own is made in it
DAMAGED: Final = (
    OSError,
    EOFError,
    ValueError,
    RuntimeError,
    NotImplementedError,
    zipfile.BadZipFile,
    tarfile.TarError,
    lzma.LZMAError,
    zlib.error,
    pa.ArrowException,
)
"""What a damaged or foreign archive does to its reader."""


def archive_kind(opening: bytes) -> str | None:
    """
    >>> archive_kind(b"PK\\x03\\x04rest"), archive_kind(b"a,b\\n1,2\\n")
    ('zip', None)
    """
    if opening.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return "zip"
    if opening.startswith(b"PGDMP"):
        return "pg_dump"
    if opening[_TAR_PLACE : _TAR_PLACE + 5] == b"ustar":
        return "tar"
    return next((kind for sign, kind in _PACKED.items() if opening.startswith(sign)), None)


class TooMuchError(ValueError):
    """More than is unpacked."""


@dataclass
class UnpackingLimit:
    """How much may still come out of one file that was given, whatever is inside what."""

    bytes_left: int = MOST_BYTES
    parts_left: int = MOST_PARTS

    def part(self) -> None:
        self.parts_left -= 1
        if self.parts_left < 0:
            raise TooMuchError(f"has more than {MOST_PARTS:,} parts")

    def take(self, size: int, unpacked: int, packed: int) -> None:
        self.bytes_left -= size
        if self.bytes_left < 0 or unpacked > max(_SMALL, packed * _MOST_RATIO):
            raise TooMuchError("unpacks to more than is read")


@dataclass
class Unpacking:
    """One archive, into a folder."""

    path: Path
    label: str
    folder: Path
    limit: UnpackingLimit
    unread: list[UnreadSource] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    parts: int = 0

    def unpack(self, kind: str) -> None:
        try:
            if kind == "zip":
                self._zip()
            elif kind == "tar":
                self._tar()
            elif kind == "pg_dump":
                self._backup()
            else:
                self._packed(kind)
        except TooMuchError as error:
            self.unread.append(UnreadSource(self.label, f"{error}; the rest was not looked at"))
        except DAMAGED:
            self.unread.append(UnreadSource(self.label, "it is damaged, or packed in a way that nothing here reads"))

    def _zip(self) -> None:
        with zipfile.ZipFile(self.path) as archive:
            for part in archive.infolist():
                if part.is_dir():
                    continue
                if part.flag_bits & 1:
                    self.unread.append(UnreadSource(self._shown(part.filename), "it is encrypted"))
                    continue
                try:
                    with archive.open(part) as file:
                        self._write(part.filename, file, max(part.compress_size, 1))
                except TooMuchError:
                    raise
                except DAMAGED:
                    self.unread.append(UnreadSource(self._shown(part.filename), "it is damaged"))

    def _tar(self) -> None:
        with tarfile.open(self.path, "r:") as archive:
            for part in archive:
                if part.isfile():
                    file = archive.extractfile(part)
                    if file is not None:
                        self._write(part.name, file, max(part.size, 1))
                elif not part.isdir():
                    self.skipped.append(self._shown(part.name))

    def _packed(self, kind: str) -> None:
        ending = self.path.suffix.lower()
        name = self.path.stem if ending in _ENDINGS else self.path.name
        name += ".tar" if ending == ".tgz" else ""
        with _opened(self.path, kind) as file:
            self._write(name, file, self.path.stat().st_size)

    def _backup(self) -> None:
        """As the SQL that it would run; nothing is run."""
        program = shutil.which("pg_restore")
        if program is None:
            self.unread.append(UnreadSource(self.label, "a backup by pg_dump; pg_restore, which reads it, is not here"))
            return
        with subprocess.Popen(  # noqa: S603  # no shell; the path can't be taken for an option
            [program, "--file=-", "--", str(self.path)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        ) as restoring:
            if restoring.stdout is not None:
                try:
                    self._write(f"{self.path.stem}.sql", restoring.stdout, self.path.stat().st_size)
                except TooMuchError:
                    restoring.kill()
                    raise
        if restoring.returncode:
            raise ValueError("pg_restore can't read it")

    def _write(self, name: str, file: Any, packed: int) -> None:
        """A part under its own name, with nothing in it that could lead out of the folder."""
        self.limit.part()
        place = self._place(name)
        place.parent.mkdir(parents=True, exist_ok=True)
        unpacked = 0
        with place.open("xb") as out:
            while piece := file.read(_PIECE):
                unpacked += len(piece)
                try:
                    self.limit.take(len(piece), unpacked, packed)
                except TooMuchError:
                    place.unlink()
                    raise
                out.write(piece)
        self.parts += 1

    def _place(self, name: str) -> Path:
        safe = [part for part in PurePosixPath(name.replace("\\", "/")).parts if part not in {"..", "/", "."}]
        place = self.folder.joinpath(*(part.replace("\0", "_")[-100:] for part in safe or ["part"]))
        number = 0
        while place.exists():
            number += 1
            place = place.with_name(f"{number}-{place.name}")
        return place

    def _shown(self, name: str) -> str:
        return f"{self.label}!{name}"


@contextmanager
def _opened(path: Path, kind: str) -> Iterator[Any]:
    if kind == "zstd":
        with pa.OSFile(str(path)) as raw, pa.CompressedInputStream(raw, "zstd") as stream:
            yield stream
        return
    openers: dict[str, Any] = {"gzip": gzip.open, "bzip2": bz2.open, "xz": lzma.open}
    with openers[kind](path, "rb") as file:
        yield file


@contextmanager
def unpacking_folder() -> Iterator[Path]:
    """Private, and gone at the end; those of scans that were killed are removed."""
    beneath = _MEMORY if os.access(_MEMORY, os.W_OK) else Path(tempfile.gettempdir())
    final = beneath / f"shoal-scan-{os.getuid()}"
    unfinished.sweep(final)
    folder, lock = unfinished.locked_folder(final)
    try:
        folder.chmod(0o700)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        unfinished.release(folder, lock)
