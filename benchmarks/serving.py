"""The studio under load: people who browse while jobs run; `python -m benchmarks.serving --minutes 30` takes long."""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import httpx2

from benchmarks.result import Result, print_results
from shoal.server import ServerSettings, create_app
from shoal.server.access.sessions import Principal

PEOPLE, JOBS, MINUTES = 200, 4, 2.0
PAUSE = (4.0, 12.0)
"""Seconds that somebody looks at a page, at random between."""
PATHS = ("/", "/sources/{source}", "/sources/{source}/know", "/sources/{source}/choose", "/texts", "/account",
         "/releases/{release}", "/api/v1/jobs", "/api/v1/releases")  # fmt: skip
MOST_MILLISECONDS, MOST_GROWTH = 300, 1.2


@dataclass
class Load:
    address: str
    until: float
    source: str
    release: str
    milliseconds: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    async def browse(self, client: httpx2.AsyncClient, secret: str, number: int) -> None:
        chance = random.Random(number)  # which page is looked at next
        await asyncio.sleep(chance.uniform(0, PAUSE[1]))
        while time.monotonic() < self.until:
            path = chance.choice(PATHS).format(source=self.source, release=self.release)
            await self.look(client, path, {"Cookie": f"shoal-session={secret}"})
            await asyncio.sleep(chance.uniform(*PAUSE))

    async def look(self, client: httpx2.AsyncClient, path: str, headers: dict[str, str]) -> None:
        started = time.perf_counter()
        try:
            answer = await client.get(path, headers=headers)
        except httpx2.HTTPError as error:
            self.errors.append(type(error).__name__)
            return
        self.milliseconds.append(1000 * (time.perf_counter() - started))
        if answer.status_code != 200:
            self.errors.append(f"{answer.status_code} of {path}")

    async def keep_jobs(self, client: httpx2.AsyncClient, secret: str) -> None:
        """Four at once, all the time."""
        cookie = {"Cookie": f"shoal-session={secret}"}
        page = (await client.get("/", headers=cookie)).text
        found = re.search(r'name="csrf" value="([^"]+)"', page)
        headers = {**cookie, "X-CSRF-Token": found.group(1) if found else ""}
        while time.monotonic() < self.until:
            told = {"kind": "run", "source": self.source}
            await client.post("/api/v1/jobs", json=told, headers=headers)  # refused while four wait or run
            await asyncio.sleep(2)


def memory_of(process: int) -> float:
    lines = Path(f"/proc/{process}/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024


def _prepared(home: Path) -> tuple[str, str, list[str]]:
    """A source, a release of it, and the sessions of people who all have the same account."""
    from starlette.testclient import TestClient

    from shoal.examples import hospital
    from shoal.server.jobs.job_queue import JobQueue
    from shoal.server.jobs.worker import Worker

    settings = ServerSettings(workers=0, password_cost="cheapest", host_names=("testserver",))  # noqa: S106
    app = create_app(home, settings)
    parts = app.state.parts
    person = parts.accounts.create("meera", "-".join(("Reef", "lantern", "41", "oak")), ["data-manager"])
    secret = parts.sessions.open(person)
    who: Principal = parts.sessions.who(secret)
    client = TestClient(app, cookies={"shoal-session": secret}, headers={"X-CSRF-Token": who.csrf or ""})
    content = hospital.table(people=500).write_csv().encode()
    source = client.post("/api/v1/sources?name=hospital.csv", content=content).json()["source"]
    worker = Worker(parts.home, "first")
    _work(worker, JobQueue(parts.home))
    release = client.post("/api/v1/jobs", json={"kind": "run", "source": source}).json()["job"]
    _work(worker, JobQueue(parts.home))
    return source, release, [secret, *(parts.sessions.open(person) for _ in range(PEOPLE - 1))]


def _work(worker: object, queue: object) -> None:
    while (claim := queue.claim("first")) is not None:  # type: ignore[attr-defined]
        worker.work(claim)  # type: ignore[attr-defined]


async def _loaded(load: Load, secrets: list[str], process: int) -> list[float]:
    memory: list[float] = []

    async def watch() -> None:
        while time.monotonic() < load.until:
            memory.append(memory_of(process))
            await asyncio.sleep(2)

    limits = httpx2.Limits(max_connections=PEOPLE, max_keepalive_connections=PEOPLE, keepalive_expiry=3)
    async with httpx2.AsyncClient(base_url=load.address, trust_env=False, timeout=60, limits=limits) as client:
        browsing = (load.browse(client, secret, number) for number, secret in enumerate(secrets))
        await asyncio.gather(*browsing, load.keep_jobs(client, secrets[0]), watch())
    return memory


def measured(minutes: float) -> list[Result]:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        source, release, secrets = _prepared(home)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = str(free.getsockname()[1])
        command = [sys.executable, "-m", "shoal", "serve", "--port", port, "--home", str(home), "--workers", "2"]
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=os.environ
        ) as process:
            try:
                address = f"http://127.0.0.1:{port}"
                _wait_until_ready(address)
                load = Load(address, time.monotonic() + 60 * minutes, source, release)
                memory = asyncio.run(_loaded(load, secrets, process.pid))
            finally:
                process.terminate()
                process.wait(60)
    return _results(load, memory, minutes)


def _wait_until_ready(address: str) -> None:
    for _ in range(600):
        try:
            if httpx2.get(f"{address}/readyz", trust_env=False).status_code == 200:
                return
        except httpx2.HTTPError:
            time.sleep(0.1)
    raise TimeoutError(address)


def _results(load: Load, memory: list[float], minutes: float) -> list[Result]:
    name = f"studio, {PEOPLE} people who browse and {JOBS} jobs, {minutes:g} minutes"
    taken = statistics.quantiles(load.milliseconds, n=20)
    quarter = max(1, len(memory) // 4)
    early, late = statistics.median(memory[quarter : 2 * quarter]), statistics.median(memory[-quarter:])
    wrong = f"{len(load.errors)} of {len(load.milliseconds)}"
    return [
        Result(f"{name}: a page, median", f"{taken[9]:.0f} ms", "", taken[9], None, "ms"),
        Result(f"{name}: a page, 95 of 100", f"{taken[18]:.0f} ms", "", taken[18], MOST_MILLISECONDS, "ms"),
        Result(f"{name}: errors", wrong, "", len(load.errors), 0, ""),
        Result(f"{name}: memory, late by early", f"{late:.0f} MB", f"{early:.0f} MB", late / early, MOST_GROWTH),
    ]


def run(_folder: Path, _rows: int) -> list[Result]:
    return measured(MINUTES)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=MINUTES)
    print_results(measured(parser.parse_args().minutes))


if __name__ == "__main__":
    main()
