"""A studio without processes: its jobs are worked on by the test that waits for them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from shoal.examples import hospital
from shoal.server import ServerSettings, create_app
from shoal.server.jobs.job_queue import JobQueue
from shoal.server.jobs.worker import Worker
from shoal.server.web.parts import StudioParts

PASSWORD = "Reef-lantern 41 oak"  # noqa: S105  # of accounts that live as long as a test
SETTINGS = ServerSettings.model_validate(
    {"workers": 0, "password_cost": "cheapest", "host_names": ("testserver",), "beat_seconds": 0.05}
)
PEOPLE = 400


@dataclass
class Visitor:
    """A browser that is signed in."""

    client: TestClient
    parts: StudioParts
    csrf: str = ""

    def post(self, path: str, data: dict[str, Any] | None = None, **more: Any) -> Any:
        return self.client.post(path, data={"csrf": self.csrf, **(data or {})}, follow_redirects=False, **more)

    def api(self, method: str, path: str, **more: Any) -> Any:
        headers = {"X-CSRF-Token": self.csrf, **more.pop("headers", {})}
        return self.client.request(method, f"/api/v1{path}", headers=headers, **more)

    def upload(self, name: str, content: bytes | Iterator[bytes], **more: Any) -> Any:
        return self.api("POST", "/sources", params={"name": name}, content=content, **more)

    def work(self) -> None:
        """Everything that waits, as a worker would."""
        worker = Worker(self.parts.home, "test")
        while (claim := JobQueue(self.parts.home).claim("test")) is not None:
            worker.work(claim)

    def finished(self, job: str) -> dict[str, Any]:
        self.work()
        told: dict[str, Any] = self.api("GET", f"/jobs/{job}").json()
        return told


def csrf_in(page: str) -> str:
    found = re.search(r'name="csrf" value="([^"]+)"', page)
    assert found is not None
    return found.group(1)


def signed_in(app: Any, name: str, password: str = PASSWORD) -> Visitor:
    client = TestClient(app, raise_server_exceptions=True)
    token = csrf_in(client.get("/sign-in").text)
    answer = client.post("/sign-in", data={"csrf": token, "name": name, "password": password}, follow_redirects=False)
    assert answer.status_code == 303, answer.text
    return Visitor(client, app.state.parts, csrf_in(client.get("/").text))


def account(app: Any, name: str, *roles: str) -> Visitor:
    app.state.parts.accounts.create(name, PASSWORD, list(roles))
    return signed_in(app, name)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def app(home: Path) -> Any:
    return create_app(home, SETTINGS)


@pytest.fixture
def manager(app: Any) -> Visitor:
    return account(app, "meera", "administrator", "data-manager")


@pytest.fixture(scope="session")
def table(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("hospital") / "hospital.csv"
    hospital.write(path, people=PEOPLE)
    return path.read_bytes()


@pytest.fixture(scope="session")
def small() -> bytes:
    """Sixty people of whom little is known: for what is about jobs, not about tables."""
    rows = "".join(f"{20 + number % 3},{'FM'[number % 2]},{'abc'[number % 3]}\n" for number in range(60))
    return f"age,sex,ward\n{rows}".encode()


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory, table: bytes) -> Iterator[tuple[Visitor, dict[str, Any]]]:
    """One release for tests that only look."""
    app = create_app(tmp_path_factory.mktemp("studio") / "home", SETTINGS)
    visitor = account(app, "meera", "administrator", "data-manager")
    source = visitor.upload("hospital.csv", table).json()["source"]
    visitor.work()
    visitor.api("PUT", f"/sources/{source}/choices", json={"k": 5})
    job = visitor.api("POST", "/jobs", json={"kind": "run", "source": source, "seed": 7}).json()["job"]
    told = visitor.finished(job)
    assert told["state"] == "done", told
    yield visitor, told
