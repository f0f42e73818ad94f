"""A table of a database server that the operator named, taken in as a source.

Nobody types an address: who fetches picks one of the servers, so a form leads to no other. Name and password are kept
beside the upload until the table is there, or can't be had, and are shown to nobody.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from pydantic import BaseModel, ConfigDict, Field, SecretStr

from shoal.errors import InputError

LOGIN: Final = "login.json"
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

    def kept(self) -> dict[str, Any]:
        return {**self.model_dump(), "password": self.password.get_secret_value()}

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


def fetch(folder: Path, most: int) -> tuple[int, str]:
    """The table as a file of the upload: its size and checksum. The login is gone afterwards, whatever came of it."""
    from shoal.errors import ShoalError

    login, path = folder / LOGIN, folder / "data" / TABLE
    if not path.exists():
        if not login.exists():
            raise InputError("the login is not kept any more: ask for the table again")
        try:
            _write(TableWish.model_validate_json(login.read_text(encoding="utf-8")), path, most)
        except ShoalError:
            login.unlink(missing_ok=True)
            raise
    login.unlink(missing_ok=True)
    return path.stat().st_size, _checksum(path)


def _write(wish: TableWish, path: Path, most: int) -> None:
    from shoal.io import explained
    from shoal.io.frames import source_at

    source, part = source_at(wish.setting), path.with_suffix(".part")
    with explained(source):
        source.scan().sink_parquet(part)
    if part.stat().st_size > most:
        part.unlink()
        raise InputError("the table would take more room than you have", advice="delete an upload first")
    part.replace(path)


def _checksum(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()
