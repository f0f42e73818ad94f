"""What routes work with, made once for each application."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from fastapi import HTTPException
from sqlalchemy import Table, select

from shoal.server.access.accounts import Accounts
from shoal.server.access.passwords import PasswordKeeper
from shoal.server.access.sessions import Principal, SessionRegister, TokenRegister
from shoal.server.access.single_sign_on import SingleSignOn
from shoal.server.governance.registry_desk import RegistryDesk
from shoal.server.home import IDENTIFIER, StudioHome
from shoal.server.jobs.job_queue import JobQueue


@dataclass
class StudioParts:
    home: StudioHome
    accounts: Accounts = field(init=False)
    sessions: SessionRegister = field(init=False)
    tokens: TokenRegister = field(init=False)
    single_sign_on: SingleSignOn = field(init=False)
    queue: JobQueue = field(init=False)
    desk: RegistryDesk = field(init=False)

    def __post_init__(self) -> None:
        self.accounts = Accounts(self.home, PasswordKeeper(self.home.settings.password_cost))
        self.sessions, self.tokens = SessionRegister(self.home), TokenRegister(self.home)
        self.single_sign_on = SingleSignOn(self.home)
        self.queue = JobQueue(self.home)
        self.desk = RegistryDesk(self.home.registry, self.home.root / "releases")

    @property
    def session_cookie(self) -> str:
        return "__Host-shoal-session" if self.home.settings.secure else "shoal-session"

    @property
    def visit_cookie(self) -> str:
        return "__Host-shoal-visit" if self.home.settings.secure else "shoal-visit"

    def own(self, table: Table, principal: Principal, identifier: str) -> dict[str, Any]:
        """A row of theirs; of anybody else's, or of none, nothing is told but that it is not there."""
        row = self.own_if_there(table, principal, identifier)
        if row is None:
            raise HTTPException(404, "there is nothing here")
        return row

    def own_if_there(self, table: Table, principal: Principal, identifier: str) -> dict[str, Any] | None:
        """None where it was deleted, or is not theirs."""
        if not IDENTIFIER.fullmatch(identifier):
            return None
        mine = (table.c.id == identifier, table.c.owner == principal.account.id)
        with self.home.database.reading() as connection:
            row = connection.execute(select(table).where(*mine)).mappings().first()
        return None if row is None else dict(row)

    def own_names(self, table: Table, principal: Principal, identifiers: Iterable[str]) -> dict[str, str]:
        """Of those that are there."""
        mine = (table.c.id.in_(set(identifiers)), table.c.owner == principal.account.id)
        with self.home.database.reading() as connection:
            return {row.id: row.name for row in connection.execute(select(table.c.id, table.c.name).where(*mine))}

    def all_own(
        self,
        table: Table,
        principal: Principal,
        *,
        most: int = 50,
        before: float | None = None,
        kinds: Iterable[str] | None = None,
    ) -> list[Any]:
        """The latest first; a page more begins ``before`` the last one's time. ``kinds`` leaves out rows of others."""
        mine = select(table).where(table.c.owner == principal.account.id)
        if before is not None:
            mine = mine.where(table.c.created < before)
        if kinds is not None:
            mine = mine.where(table.c.kind.in_(list(kinds)))
        with self.home.database.reading() as connection:
            rows = connection.execute(mine.order_by(table.c.created.desc()).limit(most)).mappings()
            return [dict(row) for row in rows]

    def found_in(self, source: str, name: str) -> Any:
        """What the inspection of a source left: its profile, its first rows; None before it is done."""
        path = self.home.upload(source) / f"{name}.json"
        return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None
