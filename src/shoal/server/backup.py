"""Backup and restore of a studio: one file that holds its database, its registry and its folders.

A backup is taken while the studio works. The database is copied first, as of one moment, and then the folders that it
names, which are never changed once they are there; what began after that moment is in the next backup. It is the same
whether the database is a file or on PostgreSQL, so a studio can move from one to the other by it.

A backup holds original data. Who signed in is not in it: after a restore everybody signs in anew. Neither are secrets
of jobs, nor the key that seals them: a table that was still to be fetched is asked for again.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Final

from sqlalchemy import select, update

from shoal import __version__
from shoal.errors import IntegrityError, SourceError, TargetError
from shoal.io import atomic_path
from shoal.ledger.database import TransactionalDatabase
from shoal.randomness import now
from shoal.server.home import StudioHome
from shoal.server.settings import ServerSettings
from shoal.server.store.database import StudioDatabase
from shoal.server.store.tables import (
    DATASETS,
    DESKS,
    JOB_SECRETS,
    METADATA,
    RELEASES,
    SCHEMA,
    SESSIONS,
    SIGN_IN_FLOWS,
    SOURCES,
    TEXTS,
)
from shoal.vault.backup_copy import copy_all

FORMAT: Final = 1
CONTENTS: Final = "contents.json"
FOLDERS: Final = {"uploads": SOURCES, "texts": TEXTS, "datasets": DATASETS, "desks": DESKS, "releases": RELEASES}
_BLOCK: Final = 1024 * 1024
_DATABASE: Final = "studio.sqlite"
_REGISTRY: Final = "registry.db"
_UNCOPIED: Final = (SCHEMA, SESSIONS, SIGN_IN_FLOWS, JOB_SECRETS)
_LEDGER: Final = ".budget"


@dataclass(frozen=True)
class BackupFacts:
    """What a backup holds."""

    files: int
    bytes: int
    taken: str


class _LedgerFile(TransactionalDatabase):
    """A file that others write to: the registry, a budget."""

    kind: ClassVar[str] = "ledger"

    def copy_to(self, path: Path) -> None:
        """As of one moment, while others write."""
        with self._plainly(), self._engine.connect() as connection:
            connection.exec_driver_sql("VACUUM INTO ?", (str(path),))


def back_up(home: Path, target: Path, database: str | None = None) -> BackupFacts:
    """``database`` is where the studio keeps its accounts and jobs, if that is not the home folder."""
    if not home.is_dir():
        raise SourceError(f"{home}: there is no such studio")
    studio = StudioHome(home.absolute(), ServerSettings(database=database))
    if target.exists():
        raise TargetError(f"{target}: exists already")
    with _workspace(target) as work, atomic_path(target, private=True) as partial:
        _copy_database(studio.database, StudioDatabase(str(work / _DATABASE)))
        if studio.registry.exists():
            _LedgerFile(str(studio.registry)).copy_to(work / _REGISTRY)
        facts: dict[str, dict[str, Any]] = {}
        with tarfile.open(partial, "w", format=tarfile.PAX_FORMAT) as archive:
            for name, path in _contents(studio, work):
                facts[name] = _put(archive, name, path)
            told = {
                "shoal": __version__,
                "format": FORMAT,
                "taken": now().isoformat(timespec="seconds"),
                "files": facts,
            }
            contents = work / CONTENTS
            contents.write_text(json.dumps(told, sort_keys=True), encoding="utf-8")
            _put(archive, CONTENTS, contents)
    return _facts(told)


def _copy_database(source: StudioDatabase, target: StudioDatabase) -> None:
    """Without sessions and secrets: nobody who had a cookie of that time, or has the file, comes in by it."""
    target.prepare()
    with source.reading() as reading, target.transaction() as writing:
        version = reading.execute(select(SCHEMA.c.version)).scalar_one()
        if version != writing.execute(select(SCHEMA.c.version)).scalar_one():
            raise IntegrityError(f"{source.label}: is of another version", advice="start it once with this one")
        copy_all(reading, writing, [table for table in METADATA.sorted_tables if table not in _UNCOPIED])
        writing.execute(update(SCHEMA).values(version=version))


def _contents(studio: StudioHome, work: Path) -> Iterator[tuple[str, Path]]:
    """Only what the copy of the database knows: what is half taken in is nobody's."""
    for name in (_DATABASE, _REGISTRY):
        if (work / name).exists():
            yield name, work / name
    with StudioDatabase(str(work / _DATABASE)).reading() as connection:
        known = {name: sorted(connection.execute(select(table.c.id)).scalars()) for name, table in FOLDERS.items()}
    for name, identifiers in known.items():
        for identifier in identifiers:
            folder = studio.root / name / identifier
            for path in sorted(path for path in folder.rglob("*") if path.is_file() and not _is_log(path)):
                yield path.relative_to(studio.root).as_posix(), _settled(path, work)


def _is_log(path: Path) -> bool:
    """Of a ledger that is written to: what it holds is in the copy."""
    return path.name.endswith((f"{_LEDGER}-wal", f"{_LEDGER}-shm"))


def _settled(path: Path, work: Path) -> Path:
    if path.suffix != _LEDGER:
        return path
    copy = work / f"{path.parent.name}{_LEDGER}"
    _LedgerFile(str(path)).copy_to(copy)
    return copy


def _put(archive: tarfile.TarFile, name: str, path: Path) -> dict[str, Any]:
    told = tarfile.TarInfo(name)
    told.size, told.mode = path.stat().st_size, 0o600
    with path.open("rb") as file:
        reader = _Digesting(file)
        archive.addfile(told, reader)
    return {"size": told.size, "sha256": reader.digest.hexdigest()}


class _Digesting:
    """A file that is summed up as it is read."""

    def __init__(self, file: Any) -> None:
        self._file, self.digest = file, hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        block: bytes = self._file.read(size)
        self.digest.update(block)
        return block


def restore(backup: Path, home: Path, database: str | None = None) -> BackupFacts:
    """A studio where there is none; whole or not at all. Every file has to be as the backup says it was."""
    if home.exists() and any(home.iterdir()):
        raise TargetError(f"{home}: is not empty", advice="restore into a new folder")
    with _workspace(home) as work:
        told = _unpacked(backup, work)
        kept = StudioDatabase(str(work / _DATABASE))
        kept.prepare()
        for name in FOLDERS:
            (work / name).mkdir(mode=0o700, exist_ok=True)
        if database is not None:
            moved = StudioDatabase(database)
            if moved.is_file or moved.begun:
                raise TargetError(f"{moved.label}: has to be a PostgreSQL database without a studio")
            _copy_database(kept, moved)
            (work / _DATABASE).unlink()
        if home.exists():
            home.rmdir()
        work.rename(home)
    return _facts(told)


def _unpacked(backup: Path, work: Path) -> dict[str, Any]:
    try:
        with tarfile.open(backup, "r:") as archive:
            told = _told_contents(archive)
            for name, facts in told["files"].items():
                _take_out(archive, name, facts, work)
    except (tarfile.TarError, OSError, KeyError, TypeError, ValueError, AttributeError):
        raise IntegrityError(f"{backup}: is no whole backup of a studio") from None
    return told


def _told_contents(archive: tarfile.TarFile) -> dict[str, Any]:
    contents = archive.extractfile(CONTENTS)
    told = json.loads(b"" if contents is None else contents.read())
    if told["format"] != FORMAT:
        raise IntegrityError("the backup is of another format", advice="restore it with the version that made it")
    return dict(told)


def _take_out(archive: tarfile.TarFile, name: str, facts: dict[str, Any], work: Path) -> None:
    """Only plain files, below the folder, with the content that was put in."""
    path = (work / name).resolve()
    if not path.is_relative_to(work.resolve()) or not archive.getmember(name).isreg():
        raise ValueError
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    file, digest = archive.extractfile(name), hashlib.sha256()
    with os.fdopen(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as written:
        while file is not None and (block := file.read(_BLOCK)):
            digest.update(block)
            written.write(block)
        written.flush()
        os.fsync(written.fileno())
    if digest.hexdigest() != facts["sha256"]:
        raise ValueError


@contextmanager
def _workspace(target: Path) -> Iterator[Path]:
    """Beside what is made, so that a rename finishes it; for its owner's eyes, and gone at the end."""
    target.absolute().parent.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix=".studio-", dir=target.absolute().parent))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _facts(told: dict[str, Any]) -> BackupFacts:
    files = told["files"].values()
    return BackupFacts(len(files), sum(one["size"] for one in files), told["taken"])
