"""Rows that their owner shares with the accounts that they name: desks for callers, datasets for analysts."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Final

from fastapi import HTTPException
from sqlalchemy import Connection, Table, select

from shoal.errors import InputError
from shoal.server.access.sessions import Principal
from shoal.server.home import IDENTIFIER
from shoal.server.store.tables import ACCOUNTS
from shoal.server.web.parts import StudioParts

_AT_ONCE: Final = 200
LONGEST: Final = 200
"""Of the part of a message that repeats what was given."""


@dataclass(frozen=True)
class SharedRows:
    parts: StudioParts
    table: Table
    shared_with: str
    """The column of names of accounts, which is a field of the request, too."""

    def row(self, who: Principal, identifier: str) -> dict[str, Any]:
        """Of anybody else's, or of none, nothing is told but that it is not there."""
        if IDENTIFIER.fullmatch(identifier):
            with self.parts.home.database.reading() as connection:
                row = connection.execute(select(self.table).where(self.table.c.id == identifier)).mappings().first()
            if row is not None and self.lets_in(who, dict(row)):
                return dict(row)
        raise HTTPException(404, "there is nothing here")

    def of(self, who: Principal, *, most: int, before: float | None = None) -> list[dict[str, Any]]:
        """Theirs, and those that name them; the latest first, and a page more ``before`` the last one's time."""
        wanted = select(self.table).order_by(self.table.c.created.desc())
        if before is not None:
            wanted = wanted.where(self.table.c.created < before)
        with self.parts.home.database.reading() as connection:
            rows = connection.execute(wanted, execution_options={"yield_per": _AT_ONCE}).mappings()
            return list(islice((row for row in map(dict, rows) if self.lets_in(who, row)), most))

    def owns(self, who: Principal, row: Mapping[str, Any]) -> bool:
        return bool(row["owner"] == who.account.id)

    def names(self, who: Principal, row: Mapping[str, Any]) -> bool:
        return who.account.name in row[self.shared_with]

    def lets_in(self, who: Principal, row: Mapping[str, Any]) -> bool:
        return self.owns(who, row) or self.names(who, row)

    @contextmanager
    def making(self, folder: Path, names: Sequence[str]) -> Iterator[Connection]:
        """A transaction with a folder of its own, which is gone again where the row does not come about."""
        folder.mkdir(mode=0o700, parents=True)
        try:
            with self.parts.home.database.transaction() as connection:
                self._refuse_unknown(connection, names)
                yield connection
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise

    def _refuse_unknown(self, connection: Connection, names: Sequence[str]) -> None:
        known = set(connection.execute(select(ACCOUNTS.c.name).where(ACCOUNTS.c.name.in_(names))).scalars())
        if unknown := [name for name in names if name not in known]:
            told = ", ".join(unknown)[:LONGEST]
            raise InputError(f"names no account: {told}", field=self.shared_with.replace("_", " "))
