"""The login of a database: sealed while its job may need it, and gone with the job, however that ends."""

from __future__ import annotations

import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import delete, func, insert, select
from tests.server.conftest import SETTINGS, Visitor, account, signed_in
from tests.servers import free_port

from shoal.errors import Cancelled, IntegrityError
from shoal.server import create_app
from shoal.server.backup import back_up, restore
from shoal.server.home import StudioHome
from shoal.server.jobs import work
from shoal.server.jobs.job_queue import JobClaim, JobKind, JobQueue
from shoal.server.jobs.worker import Worker
from shoal.server.store.tables import JOB_SECRETS, JOBS

pytestmark = pytest.mark.requirement("G-08")

LOGIN = "kelp forest, tide 73"
NAME = "reader_of_tables"


@pytest.fixture
def visitor(home: Path) -> Visitor:
    """Of a studio that knows one database, where nobody answers."""
    server = f"postgresql://127.0.0.1:{free_port()}"
    return account(create_app(home, SETTINGS.model_copy(update={"table_servers": (server,)})), "meera", "data-manager")


def asked(visitor: Visitor) -> str:
    """The source that is to be fetched."""
    server = visitor.parts.home.settings.table_servers[0]
    wanted = {"server": server, "database": "d", "user": NAME, "password": LOGIN, "table": "t"}
    made = visitor.post("/sources/from-database", wanted)
    assert made.status_code == 303, made.text
    return str(made.headers["location"]).removeprefix("/sources/")


def kept(studio: StudioHome) -> int:
    with studio.database.reading() as connection:
        return int(connection.execute(select(func.count()).select_from(JOB_SECRETS)).scalar_one())


def plain_in(folder: Path, *words: str) -> list[str]:
    found = [path for path in folder.rglob("*") if path.is_file()]
    return [path.name for path in found if any(one.encode() in path.read_bytes() for one in (LOGIN, *words))]


def claimed(visitor: Visitor) -> JobClaim:
    claim = visitor.parts.queue.claim("one")
    assert claim is not None
    return claim


def test_login_is_sealed_while_it_waits_and_read_by_the_worker_alone(visitor: Visitor, home: Path):
    source = asked(visitor)
    studio = visitor.parts.home
    assert (kept(studio), plain_in(home, NAME)) == (1, [])
    assert not list((home / "uploads" / source / "data").iterdir())
    assert (home / "server-key").stat().st_mode & 0o077 == 0
    job = visitor.api("GET", f"/sources/{source}").json()["inspection"]
    told = visitor.api("GET", f"/jobs/{job}").text + visitor.client.get(f"/sources/{source}").text
    assert LOGIN not in told
    assert NAME not in told
    claim = claimed(visitor)
    assert LOGIN in str(visitor.parts.queue.secret(claim))
    assert LOGIN not in repr(claim)


def fails(visitor: Visitor, _: str) -> None:
    visitor.work()


def breaks(visitor: Visitor, _: str) -> None:
    def broken(_: work.JobContext) -> work.JobOutcome:
        raise ValueError(LOGIN)

    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(work.WORK, JobKind.FETCH, broken)  # type: ignore[call-overload]
        visitor.work()


def is_cancelled_while_it_waits(visitor: Visitor, source: str) -> None:
    job = visitor.api("GET", f"/sources/{source}").json()["inspection"]
    assert visitor.api("POST", f"/jobs/{job}/cancel").status_code == 202


def is_cancelled_at_work(visitor: Visitor, _: str) -> None:
    def stopped(_: work.JobContext) -> work.JobOutcome:
        raise Cancelled

    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(work.WORK, JobKind.FETCH, stopped)  # type: ignore[call-overload]
        visitor.work()


def kills_its_workers(visitor: Visitor, _: str) -> None:
    for _attempt in range(SETTINGS.job_attempts):
        claimed(visitor)
        assert kept(visitor.parts.home) == 1, "the next attempt needs it"
        visitor.parts.queue.worker_died("one")
    assert visitor.parts.queue.claim("one") is None


def is_cancelled_and_its_worker_dies(visitor: Visitor, source: str) -> None:
    claimed(visitor)
    job = visitor.api("GET", f"/sources/{source}").json()["inspection"]
    visitor.api("POST", f"/jobs/{job}/cancel")
    visitor.parts.queue.worker_died("one")
    assert visitor.parts.queue.claim("two") is None


def loses_its_source(visitor: Visitor, source: str) -> None:
    assert visitor.api("DELETE", f"/sources/{source}").status_code == 204


@pytest.mark.parametrize(
    "end",
    [
        fails,
        breaks,
        is_cancelled_while_it_waits,
        is_cancelled_at_work,
        kills_its_workers,
        is_cancelled_and_its_worker_dies,
        loses_its_source,
    ],
)
def test_login_is_gone_when_its_job(visitor: Visitor, home: Path, end: Callable[[Visitor, str], None]):
    end(visitor, asked(visitor))
    assert (kept(visitor.parts.home), plain_in(home)) == (0, [])


def test_login_outlives_a_restart(visitor: Visitor):
    """A worker that is asked to end gives the job back; the next one can do it."""
    asked(visitor)
    visitor.parts.queue.give_back(claimed(visitor))
    again = StudioHome.at(visitor.parts.home.root, visitor.parts.home.settings)
    claim = JobQueue(again).claim("two")
    assert claim is not None
    assert LOGIN in str(JobQueue(again).secret(claim))


def test_login_is_forgotten_once_the_table_is_there(visitor: Visitor, monkeypatch: pytest.MonkeyPatch):
    asked(visitor)
    seen = []

    def fetched(folder: Path, login: str | None, _: int) -> tuple[int, str]:
        (folder / "data" / "table.parquet").write_bytes(b"none")
        return 4, str(login)[:0]

    def looked_at(job: work.JobContext) -> work.JobOutcome:
        seen.append(kept(job.home))
        return work.JobOutcome({})

    monkeypatch.setattr("shoal.server.jobs.table_fetching.fetch", fetched)
    monkeypatch.setattr(work, "inspect", looked_at)
    visitor.work()
    assert seen == [0]


def test_no_backup_holds_it_and_what_is_restored_asks_again(visitor: Visitor, home: Path, tmp_path: Path):
    source = asked(visitor)
    with visitor.parts.home.database.reading() as connection:
        sealed = connection.execute(select(JOB_SECRETS.c.sealed)).scalar_one()
    key = (home / "server-key").read_text(encoding="ascii")
    back_up(home, tmp_path / "backup.tar")
    content = (tmp_path / "backup.tar").read_bytes()
    assert not any(one.encode() in content for one in (LOGIN, NAME, sealed, key))
    with tarfile.open(tmp_path / "backup.tar") as archive:
        assert "server-key" not in archive.getnames()
    restore(tmp_path / "backup.tar", tmp_path / "again")
    again = signed_in(create_app(tmp_path / "again", visitor.parts.home.settings), "meera")
    again.work()
    assert "ask for the table again" in again.client.get(f"/sources/{source}").text


def test_sealed_login_opens_for_its_own_job_alone(visitor: Visitor):
    asked(visitor)
    studio, claim = visitor.parts.home, claimed(visitor)
    with studio.database.transaction() as connection:
        sealed = connection.execute(select(JOB_SECRETS.c.sealed)).scalar_one()
        connection.execute(delete(JOB_SECRETS))
        connection.execute(insert(JOB_SECRETS).values(job="f" * 32, sealed=sealed))
    moved = JobClaim("f" * 32, claim.attempt, claim.owner, claim.kind, claim.source, {})
    with pytest.raises(IntegrityError):
        visitor.parts.queue.secret(moved)
    (studio.root / "server-key").write_text("none")
    with pytest.raises(IntegrityError, match="is no key"):
        _ = StudioHome(studio.root).key


def test_homes_that_begin_together_have_one_key(home: Path):
    first = StudioHome.at(home, SETTINGS).key
    assert StudioHome.at(home, SETTINGS).key == first


def test_worker_says_nothing_of_the_login(visitor: Visitor, caplog: pytest.LogCaptureFixture):
    asked(visitor)
    with caplog.at_level("DEBUG"):
        Worker(visitor.parts.home, "one").work(claimed(visitor))
    with visitor.parts.home.database.reading() as connection:
        row = connection.execute(select(JOBS)).one()
    assert LOGIN not in f"{caplog.text} {row}"
    assert NAME not in caplog.text
