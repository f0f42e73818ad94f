"""Jobs in a table of the database. One is claimed by a transaction, held by a lease that its worker renews, and given
to another when the lease has run out; what a worker says that has lost its job is not heard.

A claim has a number that grows with every claim of the job: who comes with an older one changes nothing.

What a job needs and nobody is told, such as a login, is sealed with the server's key, which is in no backup, and is
gone with the transaction that ends the job, however it ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sqlalchemy import ColumnElement, Connection, Insert, Row, Select, and_, delete, func, insert, or_, select, update

from shoal.crypto.aead import seal, unseal
from shoal.crypto.keys import Key
from shoal.errors import InputError
from shoal.randomness import now
from shoal.server.home import StudioHome
from shoal.server.store.database import new_id
from shoal.server.store.tables import EVENTS, JOB_SECRETS, JOBS

GAVE_UP = {"code": "SHOAL-900", "message": "the worker ended unexpectedly, several times"}


class JobState(StrEnum):
    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


OPEN_STATES = (JobState.QUEUED, JobState.RUNNING)


class JobKind(StrEnum):
    """What a worker can be asked for."""

    INSPECT = "inspect"
    SUGGEST = "suggest"
    CHECK = "check"
    EXPLORE = "explore"
    RUN = "run"
    MEASURE = "measure"
    COMPOSE = "compose"
    SCRUB = "scrub"
    SYNTH = "synth"
    DESK = "desk"
    QUERY = "query"
    LEVELS = "levels"
    EXPLAIN = "explain"
    FETCH = "fetch"


class LeaseLostError(Exception):
    """The job is somebody else's by now."""


@dataclass(frozen=True)
class JobClaim:
    """A job in a worker's hand."""

    id: str
    attempt: int
    owner: str
    kind: JobKind
    source: str
    request: Mapping[str, Any]


class JobQueue:
    def __init__(self, home: StudioHome) -> None:
        self._home, self._database, self._settings = home, home.database, home.settings

    def add(  # noqa: PLR0913, PLR0917  # whose it is, what it is, and what it is told
        self,
        connection: Connection,
        owner: str,
        kind: JobKind,
        source: str,
        request: Mapping[str, Any],
        secret: str | None = None,
    ) -> str:
        """Within a transaction of the caller, so that the job and what it is about come together."""
        waiting = select(func.count()).select_from(JOBS).where(JOBS.c.owner == owner, JOBS.c.state.in_(OPEN_STATES))
        if connection.execute(waiting).scalar_one() >= self._settings.jobs_per_account:
            raise InputError(
                f"{self._settings.jobs_per_account} jobs of yours wait or run already", advice="wait, or cancel one"
            )
        identifier = new_id()
        made = {"id": identifier, "owner": owner, "kind": kind, "source": source, "request": dict(request)}
        connection.execute(insert(JOBS).values(**made, state=JobState.QUEUED, created=now().timestamp()))
        if secret is not None:
            sealed = seal(self._sealing, secret.encode(), identifier.encode()).hex()
            connection.execute(insert(JOB_SECRETS).values(job=identifier, sealed=sealed))
        return identifier

    @property
    def _sealing(self) -> Key:
        return self._home.key.derive("secrets of jobs")

    def secret(self, claim: JobClaim) -> str | None:
        """None once it is not needed any more."""
        mine = select(JOB_SECRETS.c.sealed).where(JOB_SECRETS.c.job == claim.id)
        with self._database.reading() as connection:
            sealed = connection.execute(mine).scalar()
        return None if sealed is None else unseal(self._sealing, bytes.fromhex(sealed), claim.id.encode()).decode()

    def forget_secret(self, claim: JobClaim) -> None:
        with self._database.transaction() as connection:
            _forget_secrets(connection, JOB_SECRETS.c.job == claim.id)

    def forget_secrets_about(self, connection: Connection, source: str) -> None:
        """Within a transaction of the caller that takes away what the jobs are about."""
        about = select(JOBS.c.id).where(JOBS.c.source == source)
        _forget_secrets(connection, JOB_SECRETS.c.job.in_(about))

    def claim(self, worker: str) -> JobClaim | None:
        moment = now().timestamp()
        lost = and_(JOBS.c.state == JobState.RUNNING, JOBS.c.lease_until < moment)
        ready = select(JOBS).where(or_(JOBS.c.state == JobState.QUEUED, lost)).order_by(JOBS.c.created).limit(1)
        while self._any(ready):
            with self._database.transaction() as connection:
                row = connection.execute(ready).first()
                if row is None:
                    return None
                crashes = row.crashes + (row.state == JobState.RUNNING)
                ended = self._ended_unclaimed(row, crashes)
                taken = ended or {
                    "state": JobState.RUNNING,
                    "worker": worker,
                    "attempt": row.attempt + 1,
                    "started": moment,
                    "lease_until": moment + self._settings.lease_seconds,
                }
                connection.execute(update(JOBS).where(JOBS.c.id == row.id).values(**taken, crashes=crashes))
                if ended is not None:
                    _forget_secrets(connection, JOB_SECRETS.c.job == row.id)
            if ended is None:
                return JobClaim(row.id, row.attempt + 1, row.owner, JobKind(row.kind), row.source, row.request)
        return None

    def _any(self, wanted: Select[Any]) -> bool:
        """Seen by reading: who finds nothing to do keeps nobody from writing."""
        with self._database.reading() as connection:
            return connection.execute(wanted).first() is not None

    def _ended_unclaimed(self, row: Row[Any], crashes: int) -> dict[str, Any] | None:
        finished = now().timestamp()
        if row.cancel:
            return {"state": JobState.CANCELLED, "finished": finished}
        if crashes >= self._settings.job_attempts:
            return {"state": JobState.FAILED, "finished": finished, "error": GAVE_UP}
        return None

    def beat(self, claim: JobClaim) -> bool:
        """The lease is renewed; whether the job is to be cancelled."""
        with self._database.transaction() as connection:
            self._change(connection, claim, lease_until=now().timestamp() + self._settings.lease_seconds)
            return bool(connection.execute(select(JOBS.c.cancel).where(JOBS.c.id == claim.id)).scalar_one())

    def note(self, claim: JobClaim, kind: str, body: Mapping[str, Any]) -> None:
        with self._database.transaction() as connection:
            connection.execute(insert(EVENTS).values(job=claim.id, at=now().timestamp(), kind=kind, body=dict(body)))

    def finish(self, claim: JobClaim, result: Mapping[str, Any], rows: Iterable[Insert] = ()) -> None:
        """Done, with what it leaves in the database: all of it or nothing, and once."""
        with self._database.transaction() as connection:
            self._change(
                connection, claim, state=JobState.DONE, result=dict(result), finished=now().timestamp(), error=None
            )
            for row in rows:
                connection.execute(row)

    def fail(self, claim: JobClaim, error: Mapping[str, Any]) -> None:
        with self._database.transaction() as connection:
            self._change(
                connection, claim, state=JobState.FAILED, error=dict(error), finished=now().timestamp(), result=None
            )

    def end_cancelled(self, claim: JobClaim) -> None:
        with self._database.transaction() as connection:
            self._change(connection, claim, state=JobState.CANCELLED, finished=now().timestamp())

    def give_back(self, claim: JobClaim) -> None:
        """Another worker begins it anew; it counts as no failure."""
        with self._database.transaction() as connection:
            self._change(connection, claim, state=JobState.QUEUED, lease_until=None, worker=None)

    def worker_died(self, worker: str) -> None:
        """What it held need not wait for the end of its lease."""
        with self._database.transaction() as connection:
            held = and_(JOBS.c.worker == worker, JOBS.c.state == JobState.RUNNING)
            connection.execute(update(JOBS).where(held).values(lease_until=0.0))

    def cancel(self, owner: str, identifier: str) -> bool:
        """Whether there is such a job of theirs. One that waits ends at once, one that runs when its worker hears."""
        mine = and_(JOBS.c.id == identifier, JOBS.c.owner == owner)
        with self._database.transaction() as connection:
            row = connection.execute(select(JOBS).where(mine)).first()
            if row is None:
                return False
            if row.state == JobState.QUEUED:
                ended = {"cancel": True, "state": JobState.CANCELLED, "finished": now().timestamp()}
                connection.execute(update(JOBS).where(mine).values(**ended))
                _forget_secrets(connection, JOB_SECRETS.c.job == identifier)
            elif row.state == JobState.RUNNING:
                connection.execute(update(JOBS).where(mine).values(cancel=True))
        return True

    def events(self, identifier: str, after: int = 0, most: int = 500) -> list[dict[str, Any]]:
        wanted = select(EVENTS).where(EVENTS.c.job == identifier, EVENTS.c.number > after)
        with self._database.reading() as connection:
            rows = connection.execute(wanted.order_by(EVENTS.c.number).limit(most)).mappings()
            return [dict(row) for row in rows]

    def counts(self) -> dict[str, int]:
        with self._database.reading() as connection:
            rows = connection.execute(select(JOBS.c.state, func.count()).group_by(JOBS.c.state))
            return dict.fromkeys(map(str, JobState), 0) | {str(state): count for state, count in rows}

    def _change(self, connection: Connection, claim: JobClaim, **values: Any) -> None:
        held: ColumnElement[bool] = and_(
            JOBS.c.id == claim.id, JOBS.c.attempt == claim.attempt, JOBS.c.state == JobState.RUNNING
        )
        if connection.execute(update(JOBS).where(held).values(**values)).rowcount != 1:
            raise LeaseLostError
        if values.get("state", JobState.RUNNING) not in OPEN_STATES:
            _forget_secrets(connection, JOB_SECRETS.c.job == claim.id)


def _forget_secrets(connection: Connection, which: ColumnElement[bool]) -> None:
    connection.execute(delete(JOB_SECRETS).where(which))
