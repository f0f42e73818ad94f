"""What routes work with, made once for each application."""

from __future__ import annotations

import json
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
        if IDENTIFIER.fullmatch(identifier):
            mine = (table.c.id == identifier, table.c.owner == principal.account.id)
            with self.home.database.reading() as connection:
                row = connection.execute(select(table).where(*mine)).mappings().first()
            if row is not None:
                return dict(row)
        raise HTTPException(404, "there is nothing here")

    def all_own(self, table: Table, principal: Principal, *, most: int = 50, before: float | None = None) -> list[Any]:
        """The latest first; a page more begins ``before`` the last one's time."""
        mine = select(table).where(table.c.owner == principal.account.id)
        if before is not None:
            mine = mine.where(table.c.created < before)
        with self.home.database.reading() as connection:
            rows = connection.execute(mine.order_by(table.c.created.desc()).limit(most)).mappings()
            return [dict(row) for row in rows]

    def found_in(self, source: str, name: str) -> Any:
        """What the inspection of a source left: its profile, its first rows; None before it is done."""
        path = self.home.upload(source) / f"{name}.json"
        return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None
