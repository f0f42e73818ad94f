"""Registries with people of all roles, on SQLite and on a real PostgreSQL server."""

from __future__ import annotations

import datetime
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.servers import postgres, postgres_url
from tests.support.commands import Call, in_process
from tests.support.server_tables import without_tables

import shoal as library
from shoal.govern import registry as registry_module
from shoal.govern.record_kinds import RecordState
from shoal.govern.registry import GovernanceRegistry
from shoal.govern.registry_tables import registry_tables
from shoal.govern.rights import role_rights

__all__ = ["postgres", "postgres_url"]

START = datetime.datetime(2026, 3, 2, 9, 0, tzinfo=datetime.UTC)
Do = Callable[..., RecordState]


class Clock:
    """The registry's clock, as a test sets it."""

    def __init__(self) -> None:
        self.moment = START

    def pass_days(self, days: float) -> None:
        self.moment += datetime.timedelta(days=days)

    def __call__(self) -> datetime.datetime:
        return self.moment


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(registry_module, "now", made)
    return made


@pytest.fixture
def file_place(tmp_path: Path) -> str:
    return str(tmp_path / "registry.db")


@pytest.fixture
def server_place(postgres_url: str) -> Iterator[str]:
    with without_tables(postgres_url, registry_tables()[0]):
        yield postgres_url


@pytest.fixture(params=["file_place", pytest.param("server_place", marks=pytest.mark.server)])
def place(request: pytest.FixtureRequest) -> str:
    found: str = request.getfixturevalue(request.param)
    return found


def staffed(place: str) -> GovernanceRegistry:
    """One person of each role, called by it, trained; ``devi`` administers."""
    made = GovernanceRegistry.create(place, "devi")
    for role in role_rights():
        made.perform("person", "admit", role, {"roles": [role]}, by="devi")
        made.perform("person", "train", role, {"topic": "handling data breach", "marks": 80}, by="devi")
    return made


@pytest.fixture(scope="session")
def staffed_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As it was at the start, to be copied."""
    path = tmp_path_factory.mktemp("staffed") / "registry.db"
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(registry_module, "now", Clock())
        with staffed(str(path)):
            pass
    return path


@pytest.fixture
def registry(staffed_file: Path, file_place: str, clock: Clock) -> Iterator[GovernanceRegistry]:
    copied(str(staffed_file), Path(file_place))
    with GovernanceRegistry.open(file_place) as made:
        yield made


def copied(place: str, copy: Path) -> str:
    """A registry in another file, through SQLite, which may still have a part of it in its log."""
    source, target = sqlite3.connect(place), sqlite3.connect(copy)
    source.backup(target)
    target.close()
    source.close()
    return str(copy)


@pytest.fixture
def do(registry: GovernanceRegistry) -> Do:
    """``do("manager", "request.submit", "R-1", purpose=…)``"""

    def perform(by: str, act: str, identifier: str, **given: Any) -> RecordState:
        kind, _, name = act.partition(".")
        return registry.perform(kind, name, identifier, given, by=by)

    return perform


FORM = {
    "seeker": "Institute, 1 Main Street",
    "wanted": "admissions",
    "purpose": "diabetes by age",
    "until": "2026-12-31",
}
AGREEMENT = {"sha256": "a" * 64, "signatories": ["Director", "Dean"]}


def open_project(do: Do, **given: Any) -> None:
    do("chief-investigator", "project.open", "hospital", **{"use_case": "external-sharing", **given})


def complete_steps(do: Do, *, but: int | None = None) -> None:
    for step in range(1, 16):
        if step != but:
            do("chief-investigator", "project.complete", "hospital", step=step, note="done")


def enter_release(do: Do, **given: Any) -> None:
    figures = {"k": 5, "attacked": True, "data_sha256": "b" * 64, **given}
    do("data-manager", "release.enter", "2026-q1", project="hospital", **figures)


GONE = ("P-3", "P-40", "P-77")


@pytest.fixture
def patients(tmp_path: Path) -> Path:
    """Two records each; who withdrew is alone in a ward of their own."""
    rows = [
        {"id": f"P-{place}", "age": 20 + place % 3, "ward": f"gone {place}" if f"P-{place}" in GONE else "north"}
        for place in range(100)
        for _ in range(2)
    ]
    pl.DataFrame(rows).write_csv(tmp_path / "patients.csv")
    pl.DataFrame(rows).write_parquet(tmp_path / "patients.parquet")
    return tmp_path / "patients.csv"


@pytest.fixture
def shoal(tmp_path: Path, patients: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Call:
    monkeypatch.chdir(tmp_path)
    for name, value in {"SHOAL_VAULT_PASSPHRASE": "a long enough phrase", "SHOAL_VAULT_PERSON": "asha"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    call = in_process(monkeypatch, capfd)
    for line in (
        "vault init",
        "register init --administrator devi",
        "register person admit asha --roles chief-investigator --by devi",
        "register project open hospital --use-case external-sharing --by asha",
        "register person admit chan --roles data-manager --by devi",
        "register person train chan --topic breaches --marks 85 --by devi",
    ):
        assert call(*line.split()).code == 0, line
    return call


@pytest.fixture(scope="session")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("certificates")
    table = folder / "people.csv"
    pl.DataFrame({"name": [f"n{i}" for i in range(40)], "age": [20 + i % 4 for i in range(40)]}).write_csv(table)
    policy = {
        "shoal": 1,
        "name": "people",
        "attributes": {"name": {"role": "direct"}, "age": {"role": "quasi"}},
        "privacy": [{"k_anonymity": {"k": 5}}],
    }
    library.anonymise(table, policy, output=folder / "release")
    return folder / "release"
