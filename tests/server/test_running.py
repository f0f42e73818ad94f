"""A studio that runs as operators run it: under gunicorn, asked to end while it works, watched by its log, updated."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest
from sqlalchemy import delete, func, insert, select
from tests.server.conftest import PASSWORD, SETTINGS, account, csrf_in, signed_in
from tests.server.test_operation import database, first_visit
from tests.servers import free_port, postgres, postgres_url

from shoal.server import create_app
from shoal.server.home import StudioHome
from shoal.server.jobs.job_queue import JobState
from shoal.server.settings import HOME
from shoal.server.settings import SETTINGS as VARIABLE
from shoal.server.store.database import MIGRATIONS, StudioDatabase
from shoal.server.store.tables import (
    ACCOUNTS,
    CALLER_QUESTIONS,
    DATASETS,
    DESKS,
    IDENTITIES,
    JOB_SECRETS,
    JOBS,
    METADATA,
    RELEASES,
    SCHEMA,
    SIGN_IN_FLOWS,
    SIGN_INS,
    TEXTS,
)

pytestmark = pytest.mark.requirement("G-08")
__all__ = ["database", "postgres", "postgres_url"]

ROOT = Path(__file__).parents[2]
NEW_WITH = ((TEXTS,), (DATASETS, DESKS, CALLER_QUESTIONS, IDENTITIES, SIGN_IN_FLOWS), (SIGN_INS,), (JOB_SECRETS,))
"""The tables that each step of the database has brought."""


@contextmanager
def running(command: list[str], port: int, folder: Path, **environment: str) -> Iterator[tuple[str, Path, Any]]:
    """Its address, what it wrote, and its process; it has to end well when it is asked to."""
    folder.mkdir(exist_ok=True)
    out, err = folder / "out", folder / "err"
    with out.open("wb") as said, err.open("wb") as logged:
        process = subprocess.Popen(command, stdout=said, stderr=logged, env=os.environ | environment, cwd=ROOT)
    address = f"http://127.0.0.1:{port}"
    try:
        until_ready(address, process, err)
        yield address, folder, process
        process.send_signal(signal.SIGTERM)
        assert process.wait(120) in (0, 143, -15), err.read_text(encoding="utf-8")[-2000:]
    finally:
        process.kill()
        process.wait()


def until_ready(address: str, process: subprocess.Popen[bytes], err: Path) -> None:
    while process.poll() is None:
        with suppress(httpx2.HTTPError):
            if httpx2.get(f"{address}/readyz", trust_env=False).status_code == 200:
                return
        time.sleep(0.1)
    pytest.fail(err.read_text(encoding="utf-8")[-2000:])


def serve(home: Path, port: int, *options: str) -> list[str]:
    command = [sys.executable, "-m", "shoal", "serve", "--port", str(port), "--home", str(home), "--workers", "1"]
    return [*command, *options]


def token_in(folder: Path) -> str:
    found = re.search(r"account: (\w+)", (folder / "out").read_text(encoding="utf-8"))
    assert found is not None
    return found.group(1)


def ended(client: httpx2.Client, job: str) -> str:
    while (state := client.get(f"/api/v1/jobs/{job}", headers={"Connection": "close"}).json()["state"]) in (
        JobState.QUEUED,
        JobState.RUNNING,
    ):
        time.sleep(0.1)
    return str(state)


def test_studio_under_gunicorn_with_two_processes(home: Path, small: bytes, tmp_path: Path):
    port = free_port()
    command = [sys.executable, "-m", "gunicorn", "--config", str(ROOT / "deploy" / "gunicorn.conf.py")]
    told = {HOME: str(home), VARIABLE: json.dumps({"workers": 1, "password_cost": "cheapest"})}
    told |= {"SHOAL_STUDIO_BIND": f"127.0.0.1:{port}", "WEB_CONCURRENCY": "2"}
    with running(command, port, tmp_path / "told", **told) as (address, folder, process), ExitStack() as closing:
        client, csrf = first_visit(address, token_in(folder))
        closing.callback(client.close)
        sent = client.post(
            "/api/v1/sources", params={"name": "people.csv"}, content=small, headers={"X-CSRF-Token": csrf}
        )
        assert sent.status_code == 201, sent.text
        assert ended(client, sent.json()["job"]) == "done"
        assert "server" not in client.get("/", headers={"Connection": "close"}).headers
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text(encoding="ascii").split()
        assert len(children) == 3, "two that answer, one that works"
    assert not [one for one in children if Path(f"/proc/{one}").exists()], "nobody is left behind"
    log = (folder / "err").read_text(encoding="utf-8")
    assert "people.csv" not in log


def test_asked_to_end_while_a_job_and_an_upload_run(home: Path, table: bytes, tmp_path: Path):
    """The upload is broken off and leaves nothing; the job is given back, and done by the next server."""
    app = create_app(home, SETTINGS)
    visitor = account(app, "meera", "data-manager")
    source = visitor.upload("hospital.csv", table * 4).json()["source"]
    visitor.work()
    job = visitor.api("POST", "/jobs", json={"kind": "run", "source": source}).json()["job"]
    studio, port = StudioHome.at(home, SETTINGS), free_port()

    def row() -> Any:
        with studio.database.reading() as connection:
            return connection.execute(select(JOBS).where(JOBS.c.id == job)).one()

    with ExitStack() as closing, running(serve(home, port), port, tmp_path / "first") as (address, _, _):
        closing.callback(begun_upload(address).close)
        while row().state == JobState.QUEUED:
            time.sleep(0.05)
    assert [path.name for path in (home / "uploads").iterdir()] == [source]
    assert row().state in (JobState.QUEUED, JobState.DONE), (tmp_path / "first" / "err").read_text(encoding="utf-8")
    assert row().crashes == 0
    with running(serve(home, port), port, tmp_path / "second"):
        while row().state != JobState.DONE:
            assert row().state in (JobState.QUEUED, JobState.RUNNING)
            time.sleep(0.1)
    with studio.database.reading() as connection:
        assert connection.execute(select(func.count()).select_from(RELEASES)).scalar_one() == 1
    assert [path.name for path in (home / "releases").iterdir()] == [job]


def begun_upload(address: str) -> http.client.HTTPConnection:
    """Of which the second half does not come."""
    with httpx2.Client(base_url=address, trust_env=False, timeout=60) as client:
        form = {"csrf": csrf_in(client.get("/sign-in").text), "name": "meera", "password": PASSWORD}
        assert client.post("/sign-in", data=form).status_code == 303
        csrf = csrf_in(client.get("/").text)
        cookies = "; ".join(f"{name}={value}" for name, value in client.cookies.items())
    link = http.client.HTTPConnection(urlsplit(address).netloc, timeout=60)
    link.putrequest("POST", "/api/v1/sources?name=half.csv")
    for name, value in (("Cookie", cookies), ("X-CSRF-Token", csrf), ("Content-Length", "2000000")):
        link.putheader(name, value)
    link.endheaders(b"a,b\n" + b"1,2\n" * 250_000)
    return link


PLANTED = {
    "name": "Zebulon Quagmire",
    "mail": "zebulon.quagmire@example.org",
    "number": "QX-770-4411",
    "file": "zebulons-admission.csv",
    "column": "quagmire_column",
    "word": "Tide-forest 99 kelp",
}
"""Values that stand nowhere else, put into every place of a journey that takes one."""


def test_log_of_a_whole_journey_holds_no_value(home: Path, tmp_path: Path):
    port = free_port()
    server = f"postgresql://127.0.0.1:{free_port()}"
    rows = "".join(f"{PLANTED['name']} {n},{PLANTED['number']}{n},{20 + n % 40}\n" for n in range(120))
    table = f"name,{PLANTED['column']},age\n{rows}".encode()
    with running(serve(home, port, "--table-server", server), port, tmp_path / "told") as (address, folder, _):
        client, csrf = first_visit(address, token_in(folder))
        try:
            journey(client, csrf, table, server)
        finally:
            client.close()
    log = (folder / "err").read_text(encoding="utf-8")
    lines = [json.loads(line) for line in log.splitlines()]
    assert len([one for one in lines if one["event"] == "request"]) > 20
    for what, value in PLANTED.items():
        assert value.lower() not in log.lower(), what
        assert value.split()[0].lower() not in log.lower(), what


def journey(client: httpx2.Client, csrf: str, table: bytes, server: str) -> None:
    told, headers = PLANTED, {"X-CSRF-Token": csrf}

    def api(method: str, path: str, **more: Any) -> Any:
        return client.request(method, f"/api/v1{path}", headers=headers, **more)

    source = api("POST", "/sources", params={"name": told["file"]}, content=table).json()
    assert ended(client, source["job"]) == "done"
    choices = {"k": 3, "use_case": "internal-anonymised", "roles": {told["column"]: "direct", "name": "direct"}}
    api("PUT", f"/sources/{source['source']}/choices", json=choices)
    ended(client, api("POST", "/jobs", json={"kind": "run", "source": source["source"]}).json()["job"])
    api("PUT", f"/sources/{source['source']}/choices", json={"roles": {f"{told['column']}-gone": "quasi"}})
    ended(client, api("POST", "/policies", json={"source": source["source"]}).json()["job"])
    broken = api("POST", "/sources", params={"name": told["file"]}, content=f'"{told["name"]}\0'.encode()).json()
    ended(client, broken["job"])
    text = api("POST", "/texts", json={"name": told["name"], "text": f"Dear {told['name']}, {told['mail']}"}).json()
    ended(client, text["job"])
    api("PUT", f"/texts/{text['text']}/choices", json={"deny": [told["number"]]})
    desk = {"source": source["source"], "name": told["name"], "person": told["column"], "columns": ["age", "name"]}
    opened = api("POST", "/desks", json={**desk, "answered_by": ["meera"]}).json()
    ended(client, opened["job"])
    claims = {"age": "34", "name": told["name"]}
    asked = {"person": told["number"], "claims": claims}
    assert api("POST", f"/desks/{opened['desk']}/questions", json=asked).status_code == 200
    wanted = {"server": server, "database": "d", "user": "u", "password": told["word"], "table": told["column"]}
    fetched = client.post("/sources/from-database", data={"csrf": csrf, **wanted})
    assert fetched.status_code == 200
    api("POST", "/accounts", json={"name": told["mail"], "password": told["word"], "roles": ["tester"]})
    api("POST", "/tokens", json={"name": told["name"], "scopes": [told["mail"]]})
    for path in (f"/jobs/{told['mail']}", f"/nowhere/{told['number']}", f"/sign-in?next=/{told['number']}"):
        client.get(path)
    client.get("/", headers={"Referer": f"http://x/{told['number']}", "User-Agent": told["name"]})
    client.get("/api/v1/me", headers={"Authorization": f"Bearer {told['word']}"})
    client.post("/sign-in", data={"csrf": "x", "name": told["mail"], "password": told["word"]})


@pytest.mark.parametrize("version", range(1, len(MIGRATIONS) + 1))
def test_database_of_an_earlier_version_is_brought_up_to_date(home: Path, version: int):
    """What stood in it stands in it, and who had an account signs in."""
    created = create_app(home, SETTINGS)
    account(created, "meera", "data-manager")
    as_it_was(created.state.parts.home.database, version)
    visitor = signed_in(create_app(home, SETTINGS), "meera")
    assert visitor.parts.home.database.version == len(MIGRATIONS) + 1
    assert visitor.api("POST", "/texts", json={"text": "Dear Asha,"}).status_code == 201
    assert visitor.api("GET", "/desks").json() == {"items": [], "next": None}


@pytest.mark.server
def test_database_of_the_first_version_on_postgresql_is_brought_up_to_date(home: Path, database: str):
    settings = SETTINGS.model_copy(update={"database": database})
    created = create_app(home, settings)
    account(created, "meera", "data-manager")
    as_it_was(created.state.parts.home.database, 1)
    visitor = signed_in(create_app(home, settings), "meera")
    assert visitor.parts.home.database.version == len(MIGRATIONS) + 1
    assert visitor.api("GET", "/datasets").status_code == 200


def as_it_was(database: StudioDatabase, version: int) -> None:
    """The tables that came with later steps are not there yet."""
    assert len(NEW_WITH) == len(MIGRATIONS)
    with database.transaction() as connection:
        METADATA.drop_all(connection, [table for step in NEW_WITH[version - 1 :] for table in step])
        connection.execute(delete(SCHEMA))
        connection.execute(insert(SCHEMA).values(version=version))
        assert connection.execute(select(func.count()).select_from(ACCOUNTS)).scalar_one() == 1
