"""A table of a database server that the operator named, taken in as a source.

Nobody types an address: who fetches picks one of the servers, so a form leads to no other. Name and password are the
secret of the job that fetches, and gone with its end or as soon as the table is there; they are shown to nobody.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Final
from urllib.parse import quote

from pydantic import BaseModel, ConfigDict, Field, SecretStr

from shoal.errors import InputError

TABLE: Final = "table.parquet"
_KINDS: Final = ("postgresql", "mysql", "mariadb")
_BLOCK: Final = 1024 * 1024


class TableWish(BaseModel):
    """Which table of which server, and as whom."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    server: str = Field(max_length=300)
    """One of those that the operator named."""
    database: str = Field(min_length=1, max_length=100, pattern=r"^[\w.-]+$")
    user: str = Field(min_length=1, max_length=100)
    password: SecretStr = Field(max_length=300)
    table: str = Field(min_length=1, max_length=100)
    db_schema: str = Field("", max_length=100)

    @property
    def secret(self) -> str:
        """As JSON, with the password."""
        return json.dumps({**self.model_dump(), "password": self.password.get_secret_value()})

    @property
    def setting(self) -> dict[str, str]:
        """As a policy names a source."""
        kind, _, place = self.server.partition("://")
        user, password = quote(self.user, safe=""), quote(self.password.get_secret_value(), safe="")
        told = {"url": f"{kind}://{user}:{password}@{place}/{self.database}", "table": self.table}
        return told | ({"schema": self.db_schema} if self.db_schema else {})


def checked_server(address: str) -> str:
    """
    >>> checked_server("postgresql://db.example.org:5432")
    'postgresql://db.example.org:5432'
    """
    kind, separator, place = address.partition("://")
    if kind not in _KINDS or not separator or not place or set(place) & set("/@?#"):
        raise InputError(f"has to be {' or '.join(_KINDS)}://host:port, without a user", field="table server")
    return address


def fetch(folder: Path, login: str | None, most: int) -> tuple[int, str]:
    """The table as a file of the upload, unless an attempt before this one has left it: its size and checksum."""
    path = folder / "data" / TABLE
    if not path.exists():
        if login is None:
            raise InputError("the login is not kept any more: ask for the table again")
        _write(TableWish.model_validate_json(login), path, most)
    return path.stat().st_size, _checksum(path)


def _write(wish: TableWish, path: Path, most: int) -> None:
    from shoal.io import explained
    from shoal.io.frames import source_at

    source, part = source_at(wish.setting), path.with_suffix(".part")
    try:
        with explained(source):
            source.scan().sink_parquet(part)
        if part.stat().st_size > most:
            raise InputError("the table would take more room than you have", advice="delete an upload first")
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def _checksum(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()
