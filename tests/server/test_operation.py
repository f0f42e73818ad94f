"""What operators rely on: PostgreSQL as the studio's database, several processes, backup and restore."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import tarfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from sqlalchemy import create_engine, make_url, select, text
from tests.server import browsing
from tests.server.conftest import PASSWORD, SETTINGS, Visitor, account, csrf_in, signed_in
from tests.servers import postgres, postgres_url

from shoal.errors import IntegrityError, SourceError, TargetError
from shoal.server import create_app
from shoal.server.backup import back_up, restore
from shoal.server.home import StudioHome
from shoal.server.jobs.job_queue import JobKind, JobQueue
from shoal.server.store.tables import JOBS

pytestmark = pytest.mark.requirement("G-08")
__all__ = ["postgres", "postgres_url"]


@pytest.fixture
def database(postgres_url: str) -> Iterator[str]:
    """A database of its own, which is gone afterwards."""
    name = f"studio_{os.getpid()}_{time.monotonic_ns()}"
    server = create_engine(make_url(postgres_url).set(drivername="postgresql+psycopg"), isolation_level="AUTOCOMMIT")
    with server.connect() as connection:
        connection.execute(text(f"CREATE DATABASE {name}"))
    yield make_url(postgres_url).set(database=name).render_as_string(hide_password=False)
    with server.connect() as connection:
        connection.execute(text(f"DROP DATABASE {name} WITH (FORCE)"))
    server.dispose()


def released(visitor: Visitor, content: bytes) -> str:
    source = visitor.upload("people.csv", content).json()["source"]
    visitor.work()
    visitor.api("PUT", f"/sources/{source}/choices", json={"k": 3, "use_case": "internal-anonymised"})
    job = visitor.api("POST", "/jobs", json={"kind": "run", "source": source, "seed": 7}).json()["job"]
    assert visitor.finished(job)["state"] == "done"
    return str(job)


@pytest.mark.server
def test_studio_on_postgresql_makes_the_same_release(database: str, small: bytes, tmp_path: Path):
    app = create_app(tmp_path / "home", SETTINGS.model_copy(update={"database": database}))
    visitor = account(app, "meera", "administrator", "data-manager")
    here = released(visitor, small)
    file = account(create_app(tmp_path / "file", SETTINGS), "meera", "data-manager")
    there = released(file, small)
    data = [one.api("GET", f"/releases/{job}/files/data.csv").content for one, job in ((visitor, here), (file, there))]
    assert data[0] == data[1]
    assert not (tmp_path / "home" / "studio.sqlite").exists()
    assert create_app(tmp_path / "home", app.state.parts.home.settings).state.parts.accounts.exist


@pytest.mark.server
@pytest.mark.parametrize("on_server", [False, True])
def test_many_workers_claim_each_job_once(database: str, tmp_path: Path, on_server: bool):
    settings = SETTINGS.model_copy(update={"database": database if on_server else None, "jobs_per_account": 100})
    studio = StudioHome.at(tmp_path / "home", settings)
    queue, claimed, jobs = JobQueue(studio), [], 24
    with studio.database.transaction() as connection:
        for _ in range(jobs):
            queue.add(connection, "me", JobKind.INSPECT, "0" * 32, {})

    def work(name: str) -> None:
        while (claim := JobQueue(studio).claim(name)) is not None:
            claimed.append(claim.id)
            JobQueue(studio).finish(claim, {})

    threads = [threading.Thread(target=work, args=(f"worker-{number}",)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(claimed) == sorted(set(claimed))
    assert len(claimed) == jobs


@contextmanager
def serving(home: Path, *options: str) -> Iterator[tuple[str, str]]:
    """By the command: the address, and the token of the first visit."""
    with browsing.serving(home, *options, end=signal.SIGTERM) as studio:
        yield studio.address, studio.token


def first_visit(address: str, token: str) -> tuple[httpx2.Client, str]:
    client = httpx2.Client(base_url=address, follow_redirects=True, trust_env=False, timeout=60)
    form = {"csrf": csrf_in(client.get("/setup").text), "token": token, "name": "meera"}
    page = client.post("/setup", data={**form, "password": PASSWORD, "again": PASSWORD})
    return client, csrf_in(page.text)


def test_several_processes_are_one_studio(home: Path, small: bytes):
    """What one of them knows, all know; their figures are those of all; their one worker does the jobs."""
    with serving(home, "--processes", "2") as (address, token), ExitStack() as closing:
        client, csrf = first_visit(address, token)
        closing.callback(client.close)
        headers = {"X-CSRF-Token": csrf}
        made = client.post("/api/v1/sources", params={"name": "people.csv"}, content=small, headers=headers).json()
        for _ in range(10 * browsing.PATIENCE):
            state = client.get(f"/api/v1/jobs/{made['job']}", headers={"Connection": "close"}).json()["state"]
            if state not in ("queued", "running"):
                break
            time.sleep(0.1)
        assert state == "done"
        for _ in range(40):
            assert client.get("/api/v1/me", headers={"Connection": "close"}).status_code == 200
        told = client.get("/metrics").text
        counted = re.search(r'shoal_http_requests_total\{method="GET",route="/api/v1/me",status="200"\} ([\d.]+)', told)
        assert counted is not None, told[:2000]
        assert float(counted.group(1)) == 40


def test_backup_and_restore_of_a_studio_at_work(app: Any, manager: Visitor, home: Path, small: bytes, tmp_path: Path):
    job = released(manager, small)
    data = manager.api("GET", f"/releases/{job}/files/data.csv").content
    manager.post("/govern/begin")
    left = home / "uploads" / ("f" * 32)
    left.mkdir()
    (left / "half.csv").write_bytes(b"half")
    session = manager.client.cookies[app.state.parts.session_cookie]

    facts = back_up(home, tmp_path / "backup.tar")
    assert facts.files > 5
    assert (tmp_path / "backup.tar").stat().st_mode & 0o077 == 0
    restored = tmp_path / "again"
    assert restore(tmp_path / "backup.tar", restored) == facts
    assert sorted(path.name for path in tmp_path.iterdir()) == ["again", "backup.tar", "home"]

    other = create_app(restored, SETTINGS)
    assert other.state.parts.sessions.who(session) is None, "everybody signs in anew"
    visitor = signed_in(other, "meera")
    assert visitor.api("GET", f"/releases/{job}/files/data.csv").content == data
    assert visitor.api("POST", "/govern/verify").json()["intact"]
    assert not (restored / "uploads" / ("f" * 32)).exists()
    assert restored.stat().st_mode & 0o077 == 0
    with pytest.raises(TargetError, match="not empty"):
        restore(tmp_path / "backup.tar", restored)
    with pytest.raises(TargetError, match="exists already"):
        back_up(home, tmp_path / "backup.tar")
    with pytest.raises(SourceError, match="no such studio"):
        back_up(tmp_path / "nowhere", tmp_path / "other.tar")


@pytest.mark.server
def test_studio_moves_to_postgresql_and_back_by_its_backup(
    app: Any, manager: Visitor, home: Path, small: bytes, tmp_path: Path, database: str
):
    job = released(manager, small)
    back_up(home, tmp_path / "backup.tar")
    restore(tmp_path / "backup.tar", tmp_path / "team", database)
    on_server = SETTINGS.model_copy(update={"database": database})
    visitor = signed_in(create_app(tmp_path / "team", on_server), "meera")
    assert visitor.api("GET", f"/releases/{job}").status_code == 200
    visitor.upload("more.csv", small)
    back_up(tmp_path / "team", tmp_path / "second.tar", database)
    restore(tmp_path / "second.tar", tmp_path / "home-again")
    back = signed_in(create_app(tmp_path / "home-again", SETTINGS), "meera")
    assert len(back.api("GET", "/sources").json()["items"]) == 2
    with pytest.raises(TargetError, match="without a studio"):
        restore(tmp_path / "second.tar", tmp_path / "third", database)
    with back.parts.home.database.reading() as connection:
        assert len(connection.execute(select(JOBS)).all()) == 3


def altered(backup: Path, change: Any) -> Path:
    """The backup with one member changed by somebody."""
    target = backup.with_name("altered.tar")
    with tarfile.open(backup) as source, tarfile.open(target, "w") as written:
        for member in source.getmembers():
            file = source.extractfile(member)
            name, content = change(member.name, b"" if file is None else file.read())
            if name is not None:
                told = tarfile.TarInfo(name)
                told.size = len(content)
                written.addfile(told, io.BytesIO(content))
    return target


def test_backup_that_was_changed_is_refused(manager: Visitor, home: Path, small: bytes, tmp_path: Path):
    manager.upload("people.csv", small)
    backup = tmp_path / "backup.tar"
    back_up(home, backup)

    def escaping(name: str, content: bytes) -> tuple[str, bytes]:
        if name != "contents.json":
            return name, content
        told = json.loads(content)
        told["files"]["../escaped"] = {"size": 0, "sha256": ""}
        return name, json.dumps(told).encode()

    changes = (
        lambda name, content: (name, content[:-1] + b"x" if name.endswith(".csv") else content),
        lambda name, content: (None if name.endswith(".csv") else name, content),
        lambda name, content: (None if name == "contents.json" else name, content),
        escaping,
    )
    for change in changes:
        with pytest.raises(IntegrityError, match="no whole backup"):
            restore(altered(backup, change), tmp_path / "again")
        assert not (tmp_path / "again").exists()
        assert not (tmp_path / "escaped").exists()
    for content in (b"", b"no backup", backup.read_bytes()[:3000]):
        (tmp_path / "cut.tar").write_bytes(content)
        with pytest.raises(IntegrityError):
            restore(tmp_path / "cut.tar", tmp_path / "again")
