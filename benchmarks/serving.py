"""The studio under load: people who browse while jobs run; `python -m benchmarks.serving --minutes 30` takes long.

People, the server and its jobs share the machine. What a page costs is therefore told twice: as people wait for it, and
as processor time of the processes that answer, which other work on the machine changes least.
"""

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
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import httpx2

from benchmarks.result import Result, print_results
from shoal.server import ServerSettings, create_app
from shoal.server.access.sessions import Principal

PEOPLE, JOBS, MINUTES, PROCESSES = 200, 4, 2.0, 2
PAUSE = (4.0, 12.0)
"""Seconds that somebody looks at a page, at random between."""
PATHS = ("/", "/sources/{source}", "/sources/{source}/know", "/sources/{source}/choose", "/texts", "/account",
         "/releases/{release}", "/jobs/{release}", "/govern", "/query", "/callers", "/api/v1/jobs",
         "/api/v1/releases")  # fmt: skip
MOST_MILLISECONDS, MOST_GROWTH = 300, 1.2
WATCHED_EVERY = 2.0
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass
class Load:
    address: str
    until: float
    source: str
    release: str
    pause: tuple[float, float] = PAUSE
    milliseconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    """By page."""
    errors: list[str] = field(default_factory=list)
    megabytes: list[float] = field(default_factory=list)
    """Of the processes that answer, now and then."""
    seconds: float = 0.0
    """Of the processor, that these processes took meanwhile."""
    jobs: int = 0

    @property
    def taken(self) -> list[float]:
        return [one for some in self.milliseconds.values() for one in some]

    @property
    def growth(self) -> float:
        """Late by early, after a first quarter in which everything is opened for the first time."""
        quarter = max(1, len(self.megabytes) // 4)
        early, late = self.megabytes[quarter : 2 * quarter] or self.megabytes, self.megabytes[-quarter:]
        return statistics.median(late) / statistics.median(early)

    async def browse(self, client: httpx2.AsyncClient, secret: str, number: int) -> None:
        chance = random.Random(number)  # which page is looked at next
        await asyncio.sleep(chance.uniform(0, self.pause[1]))
        while time.monotonic() < self.until:
            await self.look(client, chance.choice(PATHS), {"Cookie": f"shoal-session={secret}"})
            await asyncio.sleep(chance.uniform(*self.pause))

    async def look(self, client: httpx2.AsyncClient, path: str, headers: dict[str, str]) -> None:
        started = time.perf_counter()
        try:
            answer = await client.get(path.format(source=self.source, release=self.release), headers=headers)
        except httpx2.HTTPError as error:
            self.errors.append(type(error).__name__)
            return
        self.milliseconds[path].append(1000 * (time.perf_counter() - started))
        if answer.status_code != 200:
            self.errors.append(f"{answer.status_code} of {path}")

    async def keep_jobs(self, client: httpx2.AsyncClient, secret: str) -> None:
        """Four at once, all the time."""
        while time.monotonic() < self.until:
            await self.ask_for_job(client, secret)
            await asyncio.sleep(WATCHED_EVERY)

    async def ask_for_job(self, client: httpx2.AsyncClient, secret: str) -> None:
        """Which is refused while as many wait or run as one person may have."""
        cookie = {"Cookie": f"shoal-session={secret}"}
        try:
            found = re.search(r'name="csrf" value="([^"]+)"', (await client.get("/account", headers=cookie)).text)
            headers = {**cookie, "X-CSRF-Token": found.group(1) if found else ""}
            told = {"kind": "run", "source": self.source}
            answer = await client.post("/api/v1/jobs", json=told, headers=headers)
        except httpx2.HTTPError as error:
            self.errors.append(type(error).__name__)
            return
        self.jobs += answer.status_code == 202
        if answer.status_code not in (202, 422):
            self.errors.append(f"{answer.status_code} of a job")

    async def watch(self, server: int) -> None:
        before = processor_seconds(server)
        while time.monotonic() < self.until:
            self.megabytes.append(sum(map(memory_of, answering(server))))
            await asyncio.sleep(WATCHED_EVERY)
        self.seconds = processor_seconds(server) - before


def answering(server: int) -> list[int]:
    """The processes that answer requests: the server, and those that it has started for it."""
    told = Path(f"/proc/{server}/task/{server}/children").read_text(encoding="ascii")
    commands = {int(one): Path(f"/proc/{one}/cmdline").read_bytes() for one in told.split()}
    return [server, *(one for one, command in commands.items() if b"shoal.server.jobs.worker" not in command)]


def memory_of(process: int) -> float:
    lines = Path(f"/proc/{process}/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024


def processor_seconds(server: int) -> float:
    told = [
        Path(f"/proc/{one}/stat").read_text(encoding="ascii").rpartition(")")[2].split() for one in answering(server)
    ]
    return sum(int(one[11]) + int(one[12]) for one in told) / _TICKS


def prepared(home: Path, people: int = PEOPLE, records: int = 500) -> tuple[str, str, list[str]]:
    """A source, a release of it, and the sessions of people who all have the same account."""
    from starlette.testclient import TestClient

    from shoal.examples import hospital
    from shoal.server.jobs.job_queue import JobQueue
    from shoal.server.jobs.worker import Worker

    settings = ServerSettings(workers=0, password_cost="cheapest", host_names=("testserver",))  # noqa: S106
    app = create_app(home, settings)
    parts = app.state.parts
    person = parts.accounts.create(
        "meera", "-".join(("Reef", "lantern", "41", "oak")), ["administrator", "data-manager"]
    )
    parts.desk.begin("meera")
    secret = parts.sessions.open(person)
    who: Principal = parts.sessions.who(secret)
    client = TestClient(app, cookies={"shoal-session": secret}, headers={"X-CSRF-Token": who.csrf or ""})
    content = hospital.table(people=records).write_csv().encode()
    source = client.post("/api/v1/sources?name=hospital.csv", content=content).json()["source"]
    worker = Worker(parts.home, "first")
    _work(worker, JobQueue(parts.home))
    release = client.post("/api/v1/jobs", json={"kind": "run", "source": source}).json()["job"]
    _work(worker, JobQueue(parts.home))
    return source, release, [secret, *(parts.sessions.open(person) for _ in range(people - 1))]


def _work(worker: object, queue: object) -> None:
    while (claim := queue.claim("first")) is not None:  # type: ignore[attr-defined]
        worker.work(claim)  # type: ignore[attr-defined]


async def put_under(load: Load, secrets: list[str], process: int) -> None:
    people = len(secrets)
    limits = httpx2.Limits(max_connections=people, max_keepalive_connections=people, keepalive_expiry=3)
    async with httpx2.AsyncClient(base_url=load.address, trust_env=False, timeout=60, limits=limits) as client:
        browsing = (load.browse(client, secret, number) for number, secret in enumerate(secrets))
        await asyncio.gather(*browsing, load.keep_jobs(client, secrets[0]), load.watch(process))


@contextmanager
def standing(home: Path, processes: int) -> Iterator[tuple[str, int]]:
    """A whole studio by its command: its address, and its process."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    command = [sys.executable, "-m", "shoal", "serve", "--port", port, "--home", str(home)]
    command += ["--workers", "2", "--processes", str(processes)]
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, text=True, env=os.environ
    ) as process:
        try:
            address = f"http://127.0.0.1:{port}"
            _wait_until_ready(address)
            yield address, process.pid
        finally:
            process.terminate()
            process.wait(60)


def measured(minutes: float, processes: int = PROCESSES) -> Load:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        source, release, secrets = prepared(home)
        with standing(home, processes) as (address, process):
            load = Load(address, time.monotonic() + 60 * minutes, source, release)
            asyncio.run(put_under(load, secrets, process))
    return load


def _wait_until_ready(address: str) -> None:
    for _ in range(600):
        with suppress(httpx2.HTTPError):
            if httpx2.get(f"{address}/readyz", trust_env=False).status_code == 200:
                return
        time.sleep(0.1)
    raise TimeoutError(address)


def _results(load: Load, minutes: float) -> list[Result]:
    name = f"studio, {PEOPLE} people who browse and {JOBS} jobs, {minutes:g} minutes"
    taken = statistics.quantiles(load.taken, n=20)
    first, last = (f"{one:.0f} MB" for one in (load.megabytes[len(load.megabytes) // 4], load.megabytes[-1]))
    wrong, each = f"{len(load.errors)} of {len(load.taken)}", 1000 * load.seconds / len(load.taken)
    return [
        Result(f"{name}: a page, median", f"{taken[9]:.0f} ms", "", taken[9], None, "ms"),
        Result(f"{name}: a page, 95 of 100", f"{taken[18]:.0f} ms", "", taken[18], MOST_MILLISECONDS, "ms"),
        Result(f"{name}: errors", wrong, "", len(load.errors), 0, ""),
        Result(f"{name}: processor time of a page", f"{each:.1f} ms", "", each, None, "ms"),
        Result(f"{name}: memory, late by early", last, first, load.growth, MOST_GROWTH),
        Result(f"{name}: jobs that were begun", str(load.jobs), "", load.jobs, None, ""),
    ]


def run(_folder: Path, _rows: int) -> list[Result]:
    return _results(measured(MINUTES), MINUTES)


def print_pages(load: Load) -> None:
    """The slowest first."""
    by_page = {path: statistics.quantiles(some, n=20) for path, some in load.milliseconds.items() if len(some) > 1}
    for path, taken in sorted(by_page.items(), key=lambda one: -one[1][18]):
        print(f"{path:30} median {taken[9]:6.0f} ms, 95 of 100 {taken[18]:6.0f} ms")
    if load.errors:
        print(f"errors: {', '.join(sorted(set(load.errors)))}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=MINUTES)
    parser.add_argument("--processes", type=int, default=PROCESSES)
    told = parser.parse_args()
    load = measured(told.minutes, told.processes)
    print_results(_results(load, told.minutes))
    print_pages(load)


if __name__ == "__main__":
    main()
