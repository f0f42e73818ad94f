"""The home folder of a studio: its database, what was uploaded, what was released. For its owner's eyes only.

studio.sqlite       accounts, sessions, jobs; no table's rows. For teams in PostgreSQL instead
registry.db         the registry, as `shoal register` knows it, once somebody has begun it
setup-token         until the first account is made
signing-key.pem     what certificates of releases are signed with, once there is one
uploads/ID/         a source as it came, what was found in it, its first rows
texts/ID/           a text as it was given, what was found in it, and without it
datasets/ID/        the budget of a dataset that is asked
desks/ID/           what callers may be asked about, as keyed digests
releases/ID/        a release folder, as `shoal run` writes it
"""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Final

from sqlalchemy import select

from shoal.errors import BugError, TargetError
from shoal.server.settings import ServerSettings
from shoal.server.store.database import StudioDatabase
from shoal.server.store.tables import DESKS, SOURCES, TEXTS

IDENTIFIER: Final = re.compile("[0-9a-f]{32}")
_PRIVATE: Final = 0o700


@dataclass(frozen=True)
class StudioHome:
    root: Path
    settings: ServerSettings = field(default_factory=ServerSettings)

    @classmethod
    def at(cls, root: Path, settings: ServerSettings | None = None) -> StudioHome:
        """Made where it is missing; a database of an older version is brought up to date."""
        home = cls(root.absolute(), settings or ServerSettings())
        try:
            for folder in (
                home.root,
                *(home.root / name for name in ("uploads", "texts", "releases", "desks", "datasets")),
            ):
                folder.mkdir(mode=_PRIVATE, parents=True, exist_ok=True)
        except OSError as error:
            raise TargetError(f"{root}: can't be made ({error.strerror})") from None
        home.database.prepare()
        return home

    @cached_property
    def database(self) -> StudioDatabase:
        return StudioDatabase(self.settings.database or str(self.root / "studio.sqlite"))

    @property
    def setup_token(self) -> Path:
        return self.root / "setup-token"

    @property
    def registry(self) -> Path:
        return self.root / "registry.db"

    @property
    def signing_key(self) -> Path:
        return self.root / "signing-key.pem"

    @property
    def vault_state(self) -> Path:
        """What this studio has seen of the vault, so that an older copy of it is refused."""
        return self.root / "vault-state"

    def upload(self, source: str) -> Path:
        return self.root / "uploads" / _checked(source)

    def explanation(self, source: str, release: str, row: int) -> Path:
        """Of a record of a release: it has values of the source, and goes with it."""
        return self.upload(source) / f"explained-{_checked(release)}-{int(row)}.json"

    def text(self, text: str) -> Path:
        return self.root / "texts" / _checked(text)

    def release(self, job: str) -> Path:
        return self.root / "releases" / _checked(job)

    def desk(self, desk: str) -> Path:
        return self.root / "desks" / _checked(desk)

    def dataset(self, dataset: str) -> Path:
        return self.root / "datasets" / _checked(dataset)

    def forget_upload(self, source: str) -> None:
        shutil.rmtree(self.upload(source), ignore_errors=True)

    def sweep_uploads(self) -> None:
        """What a server that was killed had taken in only in part: nobody's, and as telling as the rest."""
        for name, table in (("uploads", SOURCES), ("texts", TEXTS), ("desks", DESKS)):
            with self.database.reading() as connection:
                known = set(connection.execute(select(table.c.id)).scalars())
            for folder in (self.root / name).iterdir():
                if folder.name not in known:
                    shutil.rmtree(folder, ignore_errors=True)


def _checked(identifier: str) -> str:
    """Identifiers become paths, so nothing else may pass for one."""
    if not IDENTIFIER.fullmatch(identifier):
        raise BugError("an identifier that is none")
    return identifier
