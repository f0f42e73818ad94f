"""``shoal copy`` at the command line."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest
from tests.support.commands import Call

POLICY = """
shoal: 1
name: practice
use_case: test-data
source: {url: "sqlite:///PLACE/practice.db"}
tables:
  patients:
    person: id
    attributes:
      id: {role: direct, technique: {pseudonymise: {domain: patients}}}
      name: suppress
  visits:
    attributes:
      patient: {role: direct, technique: {pseudonymise: {domain: patients}}}
      reason: {role: insensitive}
"""


@pytest.fixture
def practice(tmp_path: Path) -> Path:
    with sqlite3.connect(tmp_path / "practice.db") as database:
        database.executescript(
            "CREATE TABLE patients (id INTEGER PRIMARY KEY, name TEXT);"
            "CREATE TABLE visits (patient INTEGER REFERENCES patients(id), reason TEXT);"
            "INSERT INTO patients VALUES (1, 'Asha'), (2, 'Ravi');"
            "INSERT INTO visits VALUES (1, 'cough'), (2, 'check-up'), (2, 'fever');"
        )
    database.close()
    (tmp_path / "policy.yaml").write_text(POLICY.replace("PLACE", str(tmp_path)))
    return tmp_path


def test_it_says_what_it_does_and_does_it(practice: Path, call: Call) -> None:
    given = ("copy", str(practice / "policy.yaml"), "--to", f"sqlite:///{practice}/copy.db")
    account = ("--output", str(practice / "account.json"))
    planned = call(*given, *account, "--dry-run")
    assert planned.code == 0
    assert "not copied: column patients.name (suppressed)" in planned.stdout
    assert not (practice / "copy.db").exists()
    ended = call(*given, *account)
    assert ended.code == 0, ended.stderr
    assert "5 rows in 2 tables" in ended.stdout
    assert json.loads((practice / "account.json").read_text())["kind"] == "copy"
    with sqlite3.connect(practice / "copy.db") as copy:
        joined = "SELECT count(*) FROM visits v JOIN patients p ON p.id = v.patient"
        assert copy.execute(joined).fetchone() == (3,)
        assert copy.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall() == [
            ("patients",),
            ("visits",),
        ]
    copy.close()


def test_for_machines(practice: Path, call: Call) -> None:
    given = ("copy", str(practice / "policy.yaml"), "--to", str(practice / "copy.sql"), "--json", "--seed", "1")
    planned = call(*given, "-o", str(practice / "a.json"), "--dry-run").found
    assert [one["table"] for one in planned["tables"]] == ["patients", "visits"]
    found = call(*given, "-o", str(practice / "a.json"), "--dialect", "postgresql", "--sample", "50%").found
    assert found["sample"] == {"of": "patients", "share": 0.5}
    assert "COPY patients" in (practice / "copy.sql").read_text()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("--sample", "many"), "--sample: is a share"),
        (("--of", "visits"), "--of: goes with a share"),
        (("--dialect", "postgres"), "--dialect: there is none called 'postgres'; did you mean 'postgresql'?"),
        (("--sample", "1%", "--of", "patient"), "--of: there is no table 'patient'; did you mean 'patients'?"),
        (("--from", "sqlite:///nowhere.db"), "there is no such database file"),
        (("--from", "files/"), "not a database's address"),
    ],
)
def test_wrong_input_is_one_clear_line(practice: Path, call: Call, given: tuple[str, ...], said: str) -> None:
    ended = call("copy", str(practice / "policy.yaml"), "--to", str(practice / "copy.sql"), *given)
    assert ended.code == 2
    assert said in ended.stderr
    assert len(ended.stderr.strip().splitlines()) == 1


def test_it_has_to_be_said_where_it_goes(practice: Path, call: Call) -> None:
    ended = call("copy", str(practice / "policy.yaml"))
    assert ended.code == 2
    assert "--to: say where the copy goes" in ended.stderr
