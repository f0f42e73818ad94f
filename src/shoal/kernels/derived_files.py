"""What takes long to work out of files that come with Shoal is kept in the user's cache folder, and read the next time.

Kept are word lists and patterns of the package and its libraries, never anything of the user's data. A file is known by
a hash of all that it was made of, so that another version, another library or an edited list makes another file. It is
plain bytes with a checksum, not objects that could run code. What is missing, damaged, or could have been written by
somebody else is made anew, and where nothing can be written, nothing is kept.

A wheel brings the same files with it (``tables``, see ``hatch_build.py``), so that nothing has to be made at all. They
are believed as the code beside them is, if they were made of the lists and the code that are there.

The folder is ``shoal`` in ``$XDG_CACHE_HOME`` or ``~/.cache``, for its owner alone; ``SHOAL_CACHE`` names another one,
or turns this off (``SHOAL_CACHE=off``).
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import stat
import sys
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from shoal import __version__

SETTING: Final = "SHOAL_CACHE"
OFF: Final = "off"
MOST_KEPT: Final = 4
"""Files of one name; the oldest of more go."""
_MAGIC: Final = b"shoal derived 1\n"
_DIGEST: Final = hashlib.sha256().digest_size
_LENGTH: Final = 8
_OTHERS_MAY_WRITE: Final = stat.S_IWGRP | stat.S_IWOTH
_SHIPPED: Final = Path(__file__).with_name("tables")

Sections = Mapping[str, bytes]
"""Named pieces of bytes, as one file holds them."""


class DerivedKey(NamedTuple):
    """What something is made of, as hashes."""

    shipped: str
    """Of what comes with Shoal."""
    installed: str
    """Of the versions of Python, Unicode and libraries too."""


def derived_key(parts: Iterable[bytes], versions: Iterable[str] = ()) -> DerivedKey:
    """Of the contents of files, and the versions of the libraries that are read besides."""
    shipped = content_key([__version__.encode(), *parts])
    python = f"{sys.version_info[:3]} {unicodedata.unidata_version} {sys.byteorder}"
    return DerivedKey(shipped, content_key(part.encode() for part in (shipped, python, *versions)))


def content_key(parts: Iterable[bytes]) -> str:
    """A hash of all that something is made of."""
    key = hashlib.sha256()
    for part in parts:
        key.update(len(part).to_bytes(_LENGTH, "little"))
        key.update(part)
    return key.hexdigest()


def kept_or_made(name: str, key: DerivedKey, make: Callable[[], Sections]) -> Sections:
    """What came with Shoal or was kept under this key; otherwise what ``make`` gives, which is kept if it can be."""
    shipped = _read_shipped(_SHIPPED / f"{name}.bin", key.shipped)
    if shipped is not None:
        return shipped
    folder = cache_folder()
    if folder is None:
        return make()
    path = folder / f"{name}-{key.installed[:32]}.bin"
    kept = _read(path, key.installed)
    if kept is not None:
        return kept
    made = make()
    with contextlib.suppress(OSError):
        _write(path, key.installed, made)
    return made


def ship(name: str, key: DerivedKey, folder: Path) -> None:
    """Write what was kept under this key as a wheel brings it with it."""
    kept = kept_or_made(name, key, dict)
    if not kept:
        raise ValueError(f"nothing was kept of {name}")
    (folder / f"{name}.bin").write_bytes(_packed(key.shipped, kept))


def _read_shipped(path: Path, key: str) -> dict[str, bytes] | None:
    try:
        return _unpacked(path.read_bytes(), key)
    except OSError:
        return None


def cache_folder() -> Path | None:
    """Where things are kept; None where nothing is to be, or there is no place for it."""
    said = os.environ.get(SETTING, "")
    if said.casefold() == OFF:
        return None
    if said:
        return Path(said)
    base = os.environ.get("XDG_CACHE_HOME", "")
    if Path(base).is_absolute():
        return Path(base, "shoal")
    home = os.path.expanduser("~")  # noqa: PTH111  Path.home raises where there is none
    return Path(home, ".cache", "shoal") if Path(home).is_absolute() else None


def _read(path: Path, key: str) -> dict[str, bytes] | None:
    try:
        if not _is_ours(path.parent.lstat()):
            return None
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC), "rb") as file:
            data = file.read() if _is_ours(os.fstat(file.fileno())) else b""
    except OSError:
        return None
    return _unpacked(data, key)


def _is_ours(found: os.stat_result) -> bool:
    """Whether it is the user's own, and nobody else may write to it."""
    return found.st_uid == os.geteuid() and not found.st_mode & _OTHERS_MAY_WRITE


def _packed(key: str, sections: Sections) -> bytes:
    sizes = [[name, len(data)] for name, data in sections.items()]
    header = json.dumps([key, sizes]).encode()
    body = b"".join((len(header).to_bytes(_LENGTH, "little"), header, *sections.values()))
    return b"".join((_MAGIC, hashlib.sha256(body).digest(), body))


def _unpacked(data: bytes, key: str) -> dict[str, bytes] | None:
    start = len(_MAGIC) + _DIGEST
    body = memoryview(data)[start:]
    if not data.startswith(_MAGIC) or hashlib.sha256(body).digest() != data[len(_MAGIC) : start]:
        return None
    at = _LENGTH + int.from_bytes(body[:_LENGTH], "little")
    kept_key, sizes = json.loads(bytes(body[_LENGTH:at]))
    if kept_key != key:
        return None
    sections = {}
    for name, size in sizes:
        sections[name] = bytes(body[at : at + size])
        at += size
    return sections


def _write(path: Path, key: str, sections: Sections) -> None:
    """Beside its place first, then under its name: a reader sees all of it or nothing."""
    import tempfile

    folder = path.parent
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.mkdir(mode=0o700, exist_ok=True)
    if not _is_ours(folder.lstat()):
        return
    handle, scratch = tempfile.mkstemp(dir=folder, prefix=".unfinished-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(_packed(key, sections))
        Path(scratch).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(scratch).unlink()
        raise
    _drop_oldest(folder, path.name.rpartition("-")[0])


def _drop_oldest(folder: Path, name: str) -> None:
    kept = sorted(folder.glob(f"{name}-*.bin"), key=lambda file: file.stat().st_mtime, reverse=True)
    for file in kept[MOST_KEPT:]:
        file.unlink(missing_ok=True)
