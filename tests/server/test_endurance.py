"""What a studio has to bear: kill -9 at many moments, people who browse while jobs run, a large upload.

Each is tried shortly, and at length where there is time for it.
"""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import repeat
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest
from benchmarks import serving as serving_benchmark
from sqlalchemy import func, select
from tests.server.conftest import SETTINGS, Visitor, account
from tests.server.test_operation import database, first_visit, serving
from tests.servers import postgres, postgres_url
from tests.support.event_loops import in_own_loop

from shoal.govern.registry import GovernanceRegistry
from shoal.results.release_folder import ReleaseFolder
from shoal.server import ServerSettings, create_app
from shoal.server.home import StudioHome
from shoal.server.jobs.job_queue import OPEN_STATES, JobState
from shoal.server.settings import HOME
from shoal.server.settings import SETTINGS as VARIABLE
from shoal.server.store.tables import JOBS, RELEASES

pytestmark = pytest.mark.requirement("G-08")
__all__ = ["database", "postgres", "postgres_url"]

KILLS = int(os.environ.get("SHOAL_KILLS", "100"))
FEW_KILLS = 2
MOST_MEGABYTES = 200
LITTLE_MORE = 48
"""Megabytes that a server may take for an upload of whatever size, in the short test."""
MEGABYTE = 1024 * 1024
BLOCK = b"1234567,female,34,Pune,asthma\n" * 35_000


def children(process: int) -> list[int]:
    told = Path(f"/proc/{process}/task/{process}/children").read_text(encoding="ascii")
    return [int(one) for one in told.split()]


def memory_of(process: int) -> float:
    """Of one process, in megabytes, as it stands now."""
    lines = Path(f"/proc/{process}/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024


class DyingStudio:
    """A server with two workers that is started again whenever it was killed."""

    def __init__(self, home: Path, database: str | None) -> None:
        settings = {"workers": 2, "password_cost": "cheapest", "lease_seconds": 4, "beat_seconds": 0.5}
        settings["database"] = database
        told = ServerSettings.model_validate({**settings, "jobs_per_account": 500, "job_attempts": 1000})
        self.environment = os.environ | {HOME: str(home), VARIABLE: told.model_dump_json()}
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.address = f"http://127.0.0.1:{self.port}"
        self.process: subprocess.Popen[bytes] | None = None

    def stand(self) -> int:
        """The server's process: another one, where the last was killed."""
        if self.process is None or self.process.poll() is not None:
            factory = ["shoal.server.application:studio_process", "--factory", "--port", str(self.port)]
            self.process = subprocess.Popen(
                [sys.executable, "-m", "uvicorn", *factory], env=self.environment, stderr=subprocess.DEVNULL
            )
            for _ in range(600):
                with suppress(httpx2.HTTPError):
                    if httpx2.get(f"{self.address}/readyz", trust_env=False).status_code == 200:
                        break
                time.sleep(0.1)
        return self.process.pid

    def kill(self, chance: random.Random) -> None:
        server = self.stand()
        workers = children(server)
        victim = server if chance.random() < 0.4 or not workers else chance.choice(workers)
        with suppress(ProcessLookupError):
            os.kill(victim, signal.SIGKILL)
        if victim == server and self.process is not None:
            self.process.wait()

    def end(self) -> None:
        self.stand()
        assert self.process is not None
        self.process.terminate()
        self.process.wait(60)


@contextmanager
def steady_acts(address: str, token: str) -> Iterator[list[str]]:
    """Somebody who opens one project after the other; what was answered with success is noted."""
    ended, noted = threading.Event(), []

    def act() -> None:
        number = 0
        headers = {"Authorization": f"Bearer {token}", "Connection": "close"}
        while not ended.wait(0.2):
            number += 1
            path = f"{address}/api/v1/govern/records/project/p-{number}/open"
            body = {"use_case": "external-sharing", "title": "one of many"}
            with suppress(httpx2.HTTPError):
                if httpx2.post(path, json=body, headers=headers, trust_env=False).status_code == 200:
                    noted.append(f"p-{number}")

    thread = threading.Thread(target=act)
    thread.start()
    try:
        yield noted
    finally:
        ended.set()
        thread.join()


@pytest.mark.parametrize("kills", [FEW_KILLS, pytest.param(KILLS, marks=pytest.mark.slow)])
def test_server_and_workers_killed_at_random_moments(home: Path, small: bytes, kills: int):
    """No job is lost, no release is delivered twice, what was answered stands, and the registry's chain is whole."""
    bears_kills(home, small, kills, None)


@pytest.mark.server
@pytest.mark.parametrize("kills", [FEW_KILLS, pytest.param(KILLS, marks=pytest.mark.slow)])
def test_server_and_workers_of_a_studio_on_postgresql_killed(home: Path, small: bytes, kills: int, database: str):
    bears_kills(home, small, kills, database)


def bears_kills(home: Path, small: bytes, kills: int, database: str | None) -> None:
    seed = int(os.environ.get("SHOAL_SEED", "20"))
    chance = random.Random(seed)  # moments, not secrets
    app = create_app(home, SETTINGS.model_copy(update={"jobs_per_account": 500, "database": database}))
    visitor, asha = account(app, "meera", "administrator", "data-manager"), account(app, "asha", "chief-investigator")
    visitor.post("/govern/begin")
    told = {"identifier": "asha", "roles": "chief-investigator"}
    assert visitor.post("/govern/new/person/admit", told).status_code == 303
    token = asha.api("POST", "/tokens", json={"name": "acts", "scopes": ["govern.act"], "days": 1}).json()["token"]
    source = visitor.upload("people.csv", small).json()["source"]
    visitor.work()
    visitor.api("PUT", f"/sources/{source}/choices", json={"k": 3, "use_case": "internal-anonymised"})
    studio = DyingStudio(home, database)
    jobs: list[str] = []
    try:
        studio.stand()
        with steady_acts(studio.address, token) as opened:
            for number in range(kills):
                if number % 2 == 0:
                    jobs.append(_asked(visitor, source))
                time.sleep(chance.uniform(0.0, 3.0))
                studio.kill(chance)
            studio.stand()
            _wait_until_idle(studio, visitor)
    finally:
        studio.end()
    states = [visitor.api("GET", f"/jobs/{job}").json()["state"] for job in jobs]
    assert states == [JobState.DONE] * len(jobs), (seed, states)
    _each_delivered_once(visitor.parts.home, jobs)
    with GovernanceRegistry.open(home / "registry.db") as registry:
        registry.verify()
        known = set(registry.states("project"))
    assert opened
    assert set(opened) <= known, (seed, set(opened) - known)


def _asked(visitor: Visitor, source: str) -> str:
    made = visitor.api("POST", "/jobs", json={"kind": "run", "source": source, "seed": 7})
    assert made.status_code in {201, 202}, made.text
    return str(made.json()["job"])


def _wait_until_idle(studio: DyingStudio, visitor: Visitor) -> None:
    waiting = select(func.count()).select_from(JOBS).where(JOBS.c.state.in_(OPEN_STATES))
    for _ in range(6000):
        with visitor.parts.home.database.reading() as connection:
            if connection.execute(waiting).scalar_one() == 0:
                return
        studio.stand()
        time.sleep(0.2)
    pytest.fail("jobs wait for ever")


def _each_delivered_once(home: StudioHome, jobs: list[str]) -> None:
    with home.database.reading() as connection:
        rows = list(connection.execute(select(RELEASES.c.id)).scalars())
    assert sorted(rows) == sorted(jobs)
    folders = {path.name for path in (home.root / "releases").iterdir() if not path.name.startswith(".")}
    assert folders == set(jobs)
    for job in jobs:
        assert ReleaseFolder.at(str(home.release(job))).manifest is not None


@pytest.mark.parametrize("megabytes", [128, pytest.param(2048, marks=pytest.mark.slow)])
def test_large_upload_comes_in_through_a_small_server(home: Path, megabytes: int):
    """As a stream to the disk: neither the body nor the file is ever held."""
    blocks = megabytes * MEGABYTE // len(BLOCK)
    with serving(home) as (address, token):
        client, csrf = first_visit(address, token)
        server = _server_of(address)
        before, highest, ended = memory_of(server), [0.0], threading.Event()

        def watch() -> None:
            while not ended.wait(0.05):
                highest[0] = max(highest[0], memory_of(server))

        watching = threading.Thread(target=watch)
        watching.start()
        try:
            made = _sent(address, client, csrf, blocks)
        finally:
            ended.set()
            watching.join()
        assert (home / "uploads" / made["source"] / "data" / "big.csv").stat().st_size == blocks * len(BLOCK)
        client.post(f"/api/v1/jobs/{made['job']}/cancel", headers={"X-CSRF-Token": csrf})
        client.close()
    told = f"{before:.0f} MB before, {highest[0]:.0f} MB at most"
    assert highest[0] < MOST_MEGABYTES, told
    assert highest[0] - before < LITTLE_MORE, told


def _sent(address: str, client: httpx2.Client, csrf: str, blocks: int) -> dict[str, Any]:
    link = http.client.HTTPConnection(urlsplit(address).netloc, timeout=1200)
    cookies = "; ".join(f"{name}={value}" for name, value in client.cookies.items())
    headers = {"Cookie": cookies, "X-CSRF-Token": csrf, "Content-Length": str(blocks * len(BLOCK))}
    link.request("POST", "/api/v1/sources?name=big.csv", repeat(BLOCK, blocks), headers)
    answer = link.getresponse()
    told = answer.read()
    link.close()
    assert answer.status == 201, told
    return dict(json.loads(told))


def _server_of(address: str) -> int:
    """The process of ours that listens at this address."""
    port = urlsplit(address).port
    for one in children(os.getpid()):
        command = Path(f"/proc/{one}/cmdline").read_bytes().split(b"\0")
        if b"serve" in command and str(port).encode() in command:
            return one
    raise AssertionError("no server")


PEOPLE, LOOKS, JOBS_AT_ONCE = 12, 7, 4


def test_many_people_browse_while_jobs_run(home: Path):
    """No answer is an error, and what the servers hold does not grow from one round to the next.

    How long it takes, with two hundred people for thirty minutes: `python -m benchmarks.serving --minutes 30`.
    """
    source, release, secrets = serving_benchmark.prepared(home, PEOPLE, 300)
    with serving_benchmark.standing(home, 2) as (address, process):
        load = serving_benchmark.Load(address, 0.0, source, release)
        held = [in_own_loop(_round(load, secrets, process)) for _ in range(3)]
    assert load.errors == []
    assert len(load.taken) == 3 * PEOPLE * LOOKS
    assert held[2] < held[1] * serving_benchmark.MOST_GROWTH, held


async def _round(load: serving_benchmark.Load, secrets: list[str], process: int) -> float:
    """Everybody looks at some pages, and jobs are asked for beside it; what the servers hold afterwards."""
    async with httpx2.AsyncClient(base_url=load.address, trust_env=False, timeout=600) as client:

        async def browse(number: int) -> None:
            for look in range(LOOKS):
                path = serving_benchmark.PATHS[(number + look) % len(serving_benchmark.PATHS)]
                await load.look(client, path, {"Cookie": f"shoal-session={secrets[number]}"})

        asked = (load.ask_for_job(client, secrets[0]) for _ in range(JOBS_AT_ONCE))
        await asyncio.gather(*map(browse, range(PEOPLE)), *asked)
    return sum(map(serving_benchmark.memory_of, serving_benchmark.answering(process)))
