"""Desks that answer callers: made by who owns a table, used by those whom they name, who see nothing of it.

An answer is yes or no to all that was said at once. Somebody who tries values is stopped: after three wrong answers
about one person nobody is answered about them for a day, and an account asks so often an hour and no more. Each
question is put down before it is answered: who asked, when, about which columns, and the answer; no value.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from fastapi import HTTPException
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import Connection, delete, func, insert, select

from shoal.errors import InputError
from shoal.randomness import now
from shoal.server.access.sessions import Principal
from shoal.server.callers.claim_index import ClaimIndex, plain
from shoal.server.jobs.job_queue import JobKind
from shoal.server.store.database import new_id
from shoal.server.store.tables import CALLER_QUESTIONS, DESKS, SOURCES
from shoal.server.web.parts import StudioParts
from shoal.server.web.shared_rows import SharedRows

HOUR: Final = 3600.0
DAY: Final = 24 * HOUR
WRONG_PER_PERSON: Final = 3
LONGEST: Final = 500
TOO_MANY: Final = "too many questions: ask again later"


class DeskRequest(BaseModel):
    model_config = ConfigDict(extra="forbid")

    source: str
    name: str = Field(min_length=1, max_length=100)
    person: str = Field(min_length=1, max_length=1000)
    """The column by which a caller names themselves, such as a patient number."""
    columns: list[str] = Field(min_length=1, max_length=50)
    """What they may be asked about."""
    at_least: int = Field(2, ge=1, le=50)
    """How many of these each question has to hold."""
    answered_by: list[str] = Field(min_length=1, max_length=100)
    """Names of accounts."""
    per_hour: int = Field(60, ge=1, le=3600)
    """Questions of one account."""


class CallerQuestion(BaseModel):
    model_config = ConfigDict(extra="forbid")

    person: str = Field(max_length=LONGEST)
    claims: dict[str, str] = Field(max_length=50)
    """What the caller says, by column."""


@dataclass(frozen=True)
class CallerDesks:
    parts: StudioParts

    def make(self, who: Principal, wanted: DeskRequest) -> dict[str, str]:
        """A worker reads the table once; until then the desk answers nobody."""
        self.parts.own(SOURCES, who, wanted.source)
        columns = list(dict.fromkeys(wanted.columns))
        if wanted.person in columns:
            raise InputError("holds the column that names the person", field="columns")
        if wanted.at_least > len(columns):
            raise InputError("are more than there are columns", field="at least")
        identifier, names = new_id(), sorted({one.strip().lower() for one in wanted.answered_by if one.strip()})
        if not names:
            raise InputError("names nobody", field="answered by")
        told = {"desk": identifier, "person": wanted.person, "columns": columns}
        with self.rows.making(self.parts.home.desk(identifier), names) as connection:
            job = self.parts.queue.add(connection, who.account.id, JobKind.DESK, wanted.source, told)
            row = {"id": identifier, "owner": who.account.id, "source": wanted.source, "name": wanted.name.strip()}
            kept = {"person": wanted.person, "columns": columns, "at_least": wanted.at_least, "answered_by": names}
            made = {**row, **kept, "per_hour": wanted.per_hour, "job": job, "created": now().timestamp()}
            connection.execute(insert(DESKS).values(**made))
        return {"desk": identifier, "job": job}

    @property
    def rows(self) -> SharedRows:
        return SharedRows(self.parts, DESKS, "answered_by")

    def of(self, who: Principal, *, most: int = 50, before: float | None = None) -> list[dict[str, Any]]:
        """Those that they own or answer at, the latest first."""
        return [self._told(who, row) for row in self.rows.of(who, most=most, before=before)]

    def get(self, who: Principal, desk: str) -> dict[str, Any]:
        return self._told(who, self.rows.row(who, desk))

    def _told(self, who: Principal, row: Mapping[str, Any]) -> dict[str, Any]:
        names = ("id", "name", "person", "columns", "at_least", "per_hour", "created")
        told = {name: row[name] for name in names}
        yours = self.rows.owns(who, row)
        owned = {name: row[name] for name in ("source", "answered_by", "job")} if yours else {}
        return {**told, **owned, "yours": yours, "ready": ClaimIndex(self.parts.home.desk(row["id"])).ready}

    def answer(self, who: Principal, desk: str, asked: CallerQuestion) -> bool:
        row = self.rows.row(who, desk)
        claims = {name: said for name, said in asked.claims.items() if said.strip()}
        if any(name not in row["columns"] for name in claims):
            raise InputError("holds a column that is not asked about here", field="claims")
        if len(claims) < row["at_least"] or not plain(asked.person):
            raise InputError(f"the person and {row['at_least']} or more of the rest have to be said", field="claims")
        if any(len(said) > LONGEST or not plain(said) for said in claims.values()):
            raise InputError("holds something that is too long, or says nothing", field="claims")
        index = ClaimIndex(self.parts.home.desk(desk))
        if not index.ready:
            raise HTTPException(409, "the table is not read yet: ask again in a moment")
        person, matches = index.who(asked.person), index.matches(asked.person, claims)
        with self.parts.home.database.transaction() as connection:
            self._refuse_too_many(connection, who, row, person)
            told = {"desk": desk, "account": who.account.name, "at": now().timestamp(), "person": person}
            connection.execute(insert(CALLER_QUESTIONS).values(**told, columns=sorted(claims), matched=matches))
        return matches

    def _refuse_too_many(self, connection: Connection, who: Principal, row: Mapping[str, Any], person: str) -> None:
        asked, moment = CALLER_QUESTIONS.c, now().timestamp()
        counted = select(func.count()).select_from(CALLER_QUESTIONS).where(asked.desk == row["id"])
        mine = counted.where(asked.account == who.account.name, asked.at > moment - HOUR)
        wrong = counted.where(asked.person == person, asked.at > moment - DAY, asked.matched.is_(False))
        if (
            connection.execute(mine).scalar_one() >= row["per_hour"]
            or connection.execute(wrong).scalar_one() >= WRONG_PER_PERSON
        ):
            raise HTTPException(429, TOO_MANY, {"Retry-After": str(int(HOUR))})

    def log(self, who: Principal, desk: str, *, most: int = 200, before: int | None = None) -> list[dict[str, Any]]:
        """For who owns the desk: what was asked and answered, the latest first; no value, and nobody by name."""
        self.parts.own(DESKS, who, desk)
        wanted = select(CALLER_QUESTIONS).where(CALLER_QUESTIONS.c.desk == desk)
        if before is not None:
            wanted = wanted.where(CALLER_QUESTIONS.c.number < before)
        with self.parts.home.database.reading() as connection:
            rows = connection.execute(wanted.order_by(CALLER_QUESTIONS.c.number.desc()).limit(most)).mappings()
            return [{name: row[name] for name in ("number", "at", "account", "columns", "matched")} for row in rows]

    def close(self, who: Principal, desk: str) -> None:
        """What it knew is gone; what was asked stays on the log of the database until the studio's end."""
        self.parts.own(DESKS, who, desk)
        with self.parts.home.database.transaction() as connection:
            connection.execute(delete(DESKS).where(DESKS.c.id == desk, DESKS.c.owner == who.account.id))
        shutil.rmtree(self.parts.home.desk(desk), ignore_errors=True)
