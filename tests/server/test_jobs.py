"""No job is lost and none is delivered twice, whoever dies."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, insert, select, update
from tests.server.conftest import PASSWORD, SETTINGS, Visitor, account

from shoal.errors import IntegrityError
from shoal.server import create_app
from shoal.server.home import StudioHome
from shoal.server.jobs import work
from shoal.server.jobs.job_queue import JobKind, JobQueue, JobState, LeaseLostError
from shoal.server.jobs.work import JobOutcome
from shoal.server.jobs.worker import Worker
from shoal.server.settings import SETTINGS as VARIABLE
from shoal.server.store.database import MIGRATIONS
from shoal.server.store.tables import JOBS, RELEASES, SCHEMA

pytestmark = pytest.mark.requirement("G-08")


@pytest.fixture
def studio(home: Path) -> StudioHome:
    return StudioHome.at(home, SETTINGS)


def add(studio: StudioHome, owner: str = "me", kind: JobKind = JobKind.INSPECT) -> str:
    with studio.database.transaction() as connection:
        return JobQueue(studio).add(connection, owner, kind, "0" * 32, {"choices": {}})


def job(studio: StudioHome, identifier: str) -> Any:
    with studio.database.reading() as connection:
        return connection.execute(select(JOBS).where(JOBS.c.id == identifier)).one()


def lose_leases(studio: StudioHome) -> None:
    with studio.database.transaction() as connection:
        connection.execute(update(JOBS).values(lease_until=0.0))


def test_a_job_is_claimed_once(studio: StudioHome):
    queue, identifier = JobQueue(studio), add(studio)
    first = queue.claim("one")
    assert first is not None
    assert first.id == identifier
    assert queue.claim("two") is None


def test_who_lost_the_lease_changes_nothing(studio: StudioHome):
    queue, identifier = JobQueue(studio), add(studio)
    first = queue.claim("one")
    assert first is not None
    lose_leases(studio)
    second = queue.claim("two")
    assert second is not None
    assert second.attempt == first.attempt + 1
    with pytest.raises(LeaseLostError):
        queue.beat(first)
    row = insert(RELEASES).values(id=identifier, owner="me", source="s", policy="p", created=0.0)
    with pytest.raises(LeaseLostError):
        queue.finish(first, {"by": "first"}, [row])
    with studio.database.reading() as connection:
        assert connection.execute(select(func.count()).select_from(RELEASES)).scalar_one() == 0
    queue.finish(second, {"by": "second"}, [row])
    assert job(studio, identifier).result == {"by": "second"}


def test_a_job_that_kills_its_workers_ends(studio: StudioHome):
    queue, identifier = JobQueue(studio), add(studio)
    for _ in range(SETTINGS.job_attempts):
        assert queue.claim("doomed") is not None
        queue.worker_died("doomed")
    assert queue.claim("next") is None
    assert job(studio, identifier).state == JobState.FAILED
    assert "unexpectedly" in job(studio, identifier).error["message"]


def test_what_is_given_back_counts_as_no_crash(studio: StudioHome):
    queue, identifier = JobQueue(studio), add(studio)
    for _ in range(SETTINGS.job_attempts + 2):
        claim = queue.claim("one")
        assert claim is not None
        queue.give_back(claim)
    assert job(studio, identifier).state == JobState.QUEUED


def test_jobs_of_one_person_are_limited(app: Any, manager: Visitor):
    answers = [manager.upload(f"{n}.csv", b"a\n1\n").status_code for n in range(SETTINGS.jobs_per_account + 1)]
    assert answers == [201] * SETTINGS.jobs_per_account + [422]
    other = account(app, "other", "data-manager")
    assert other.upload("x.csv", b"a\n1\n").status_code == 201


def test_cancel_reaches_work_that_waits_and_work_that_runs(studio: StudioHome, monkeypatch: pytest.MonkeyPatch):
    queue, waiting = JobQueue(studio), add(studio)
    assert queue.cancel("me", waiting)
    assert not queue.cancel("somebody", waiting)
    assert job(studio, waiting).state == JobState.CANCELLED
    running = add(studio)

    def endless(context: work.JobContext) -> JobOutcome:
        queue.cancel("me", running)
        while True:
            context.monitor.check()
            time.sleep(0.01)

    monkeypatch.setitem(work.WORK, JobKind.INSPECT, endless)  # type: ignore[call-overload]
    claim = queue.claim("one")
    assert claim is not None
    Worker(studio, "one").work(claim)
    assert job(studio, running).state == JobState.CANCELLED


def test_errors_say_no_value(studio: StudioHome, monkeypatch: pytest.MonkeyPatch):
    def broken(_: work.JobContext) -> JobOutcome:
        raise ValueError("Asha Rao, 34")

    monkeypatch.setitem(work.WORK, JobKind.INSPECT, broken)  # type: ignore[call-overload]
    identifier = add(studio)
    claim = JobQueue(studio).claim("one")
    assert claim is not None
    Worker(studio, "one").work(claim)
    assert job(studio, identifier).error == {"code": "SHOAL-900", "message": "our mistake (ValueError)"}


def test_retry_after_a_crash_between_folder_and_database(
    manager: Visitor, small: bytes, monkeypatch: pytest.MonkeyPatch
):
    """The folder is there, and the worker died before it could say so: the next one delivers the same folder."""
    source = manager.upload("people.csv", small).json()["source"]
    manager.work()
    manager.api("PUT", f"/sources/{source}/choices", json={"k": 3, "use_case": "internal-anonymised"})
    identifier = manager.api("POST", "/jobs", json={"kind": "run", "source": source}).json()["job"]
    studio, queue = manager.parts.home, manager.parts.queue
    claim = queue.claim("one")
    assert claim is not None
    worker = Worker(studio, "one")
    monkeypatch.setattr(worker.queue, "finish", lambda *_: (_ for _ in ()).throw(LeaseLostError()))
    worker.work(claim)
    data = studio.release(identifier) / "data.csv"
    written = (data.stat().st_ino, data.read_bytes())
    assert job(studio, identifier).state == JobState.RUNNING

    queue.worker_died("one")
    assert manager.finished(identifier)["state"] == "done"
    assert (data.stat().st_ino, data.read_bytes()) == written
    assert len(manager.api("GET", "/releases").json()["items"]) == 1
    assert [path.name for path in data.parent.parent.iterdir()] == [identifier]
    followed = manager.client.get(f"/api/v1/jobs/{identifier}/events")
    assert followed.headers["content-type"].startswith("text/event-stream")
    assert "event: PhaseStarted" in followed.text
    assert followed.text.endswith('event: ended\ndata: {"state": "done", "error": null}\n\n')
    numbers = [int(line[4:]) for line in followed.text.splitlines() if line.startswith("id: ")]
    rest = manager.client.get(f"/api/v1/jobs/{identifier}/events", headers={"Last-Event-ID": str(numbers[-2])})
    assert [int(line[4:]) for line in rest.text.splitlines() if line.startswith("id: ")] == numbers[-1:]


def test_who_is_out_follows_no_job_any_longer(
    app: Any, manager: Visitor, small: bytes, monkeypatch: pytest.MonkeyPatch
):
    """Not at the next request alone: a stream that is open ends, too."""
    made = manager.upload("people.csv", small).json()["job"]
    real, looks = manager.parts.queue.events, []

    def events(identifier: str, after: int) -> Any:
        looks.append(after)
        if len(looks) == 2:
            manager.parts.accounts.set_disabled(manager.parts.accounts.all()[0].id, disabled=True)
        return real(identifier, after)

    monkeypatch.setattr("shoal.server.api.jobs.POLL", 0.01)
    monkeypatch.setattr("shoal.server.api.jobs.LONGEST_LOOKS", 20)
    monkeypatch.setattr(manager.parts.queue, "events", events)
    assert "event: ended" not in manager.client.get(f"/api/v1/jobs/{made}/events").text
    assert len(looks) == 2
    assert manager.client.get(f"/api/v1/jobs/{made}/events").status_code == 401


SLOW_WORKER = """
import sys, time
from shoal.server.jobs import work, worker
from shoal.server.jobs.job_queue import JobKind
def slow(context):
    folder = context.home.root / "begun"
    (folder / f"{time.time_ns()}").touch()
    while (folder.parent / "hold").exists():
        context.monitor.check()
        time.sleep(0.02)
    (context.home.root / "delivered" / f"{context.claim.id}-{context.claim.attempt}").touch()
    return work.JobOutcome({"worked": True})
work.WORK[JobKind.INSPECT] = slow
worker.main(sys.argv[1:])
"""


def start_worker(studio: StudioHome, name: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", SLOW_WORKER, str(studio.root), name]
    told = os.environ | {VARIABLE: SETTINGS.model_dump_json()}
    return subprocess.Popen(command, stdin=subprocess.PIPE, env=told)


def wait_for(condition: Any, what: str) -> None:
    for _ in range(6000):
        if condition():
            return
        time.sleep(0.02)
    pytest.fail(f"never came: {what}")


def test_worker_killed_at_work_and_worker_whose_server_is_gone(studio: StudioHome):
    for name in ("begun", "delivered"):
        (studio.root / name).mkdir()
    (studio.root / "hold").touch()
    queue, identifier = JobQueue(studio), add(studio)
    begun = studio.root / "begun"

    killed = start_worker(studio, "killed")
    wait_for(lambda: len(list(begun.iterdir())) == 1, "the first attempt")
    killed.kill()
    killed.communicate()
    queue.worker_died("killed")

    orphaned = start_worker(studio, "orphaned")
    wait_for(lambda: len(list(begun.iterdir())) == 2, "the second attempt")
    orphaned.communicate()
    assert orphaned.returncode == 0
    assert job(studio, identifier).state == JobState.QUEUED, "given back when the server's end of the pipe closed"

    (studio.root / "hold").unlink()
    last = start_worker(studio, "last")
    wait_for(lambda: job(studio, identifier).state == JobState.DONE, "the end of the job")
    last.communicate()
    assert len(list((studio.root / "delivered").iterdir())) == 1
    assert job(studio, identifier).crashes == 1


def test_server_killed_and_started_again(home: Path, small: bytes):
    """A whole server by its command: kill -9 while its worker is at a job; the next server's worker finishes it."""
    studio = StudioHome.at(home, SETTINGS)
    app = create_app(home, SETTINGS)
    visitor = account(app, "meera", "data-manager")
    made = visitor.upload("people.csv", small).json()
    command = [sys.executable, "-m", "shoal", "serve", "--port", "0", "--home", str(home), "--workers", "1"]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_for(lambda: job(studio, made["job"]).state != JobState.QUEUED, "a worker of the first server")
    os.kill(server.pid, signal.SIGKILL)
    server.wait()
    again = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_for(lambda: job(studio, made["job"]).state == JobState.DONE, "the job's end")
    again.send_signal(signal.SIGTERM)
    assert again.wait() in (0, 143)
    assert json.loads((home / "uploads" / made["source"] / "profile.json").read_text())["rows"] == 60


def test_schema_has_a_version_and_goes_up_by_steps(studio: StudioHome):
    database, done = studio.database, []
    now = 1 + len(MIGRATIONS)
    assert database.version == now
    database.prepare([*MIGRATIONS, lambda _: done.append("first"), lambda _: done.append("second")])
    assert (database.version, done) == (now + 2, ["first", "second"])
    with pytest.raises(IntegrityError, match="newer version"):
        database.prepare()

    def broken(connection: Any) -> None:
        connection.execute(update(SCHEMA).values(version=99))
        raise ValueError

    with pytest.raises(ValueError):
        database.prepare([*MIGRATIONS, broken, broken, broken])
    assert database.version == now + 2


def test_home_is_for_its_owner(studio: StudioHome):
    assert studio.root.stat().st_mode & 0o077 == 0
    assert (studio.root / "studio.sqlite").stat().st_mode & 0o077 == 0
    assert PASSWORD not in (studio.root / "studio.sqlite").read_text(encoding="latin-1")
