"""The copy of a hospital: what is in it and what is not, on each kind of database."""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from sqlalchemy import inspect, make_url
from tests.database_copy.conftest import Empty, engine_of
from tests.database_copy.hospital import PATIENTS, VISITS
from tests.database_copy.runs import copied, rows
from tests.servers import postgres_programs

from shoal.database_copy.account import CopyAccount
from shoal.errors import InputError

UNCHANGED = (
    "SELECT code, title FROM diagnoses ORDER BY code",
    "SELECT picture, urgent, at FROM visits ORDER BY at",
    "SELECT line, drug, dose FROM prescriptions ORDER BY dose, line",
    "SELECT id, on_day FROM dispensings ORDER BY id",
    "SELECT * FROM settings ORDER BY 1",
    "SELECT id, name, part_of FROM clinics ORDER BY id",
    "SELECT id, after FROM referrals ORDER BY id",
)
JOINED = (
    "SELECT count(*) FROM visits v JOIN patients p ON p.id = v.patient",
    "SELECT count(*) FROM dispensings d JOIN prescriptions p ON p.visit = d.visit AND p.line = d.line",
    "SELECT d.name, count(*) FROM departments d JOIN doctors h ON h.id = d.head GROUP BY d.name ORDER BY 1",
    "SELECT v.at, x.code FROM visit_diagnoses x JOIN visits v ON v.id = x.visit ORDER BY 1, 2",
)


@dataclass(frozen=True)
class Done:
    source: str
    target: str
    folder: Path
    account: CopyAccount


@pytest.fixture(scope="module")
def done(kind: str, hospital: str, empty: Empty, tmp_path_factory: pytest.TempPathFactory) -> Done:
    target, folder = empty(kind), tmp_path_factory.mktemp("copy")
    return Done(hospital, target, folder, copied(hospital, target, folder))


@pytest.mark.requirement("D-01")
def test_every_table_is_copied_and_every_key_finds_its_record(done: Done) -> None:
    numbers = {one.table: one.rows for one in done.account.tables}
    assert len(numbers) == 12
    assert numbers["visits"] == VISITS
    for query in JOINED:
        assert rows(done.target, query) == rows(done.source, query), query
    ids = "SELECT id FROM visits"
    assert not {str(row[0]) for row in rows(done.target, ids)} & {str(row[0]) for row in rows(done.source, ids)}


@pytest.mark.requirement("D-01")
def test_what_is_not_named_to_be_changed_is_as_it_was(done: Done) -> None:
    for query in UNCHANGED:
        assert rows(done.target, query) == rows(done.source, query), query


@pytest.mark.requirement("D-01")
def test_nothing_of_what_is_hidden_is_anywhere_in_the_copy(done: Done) -> None:
    everything = str([rows(done.target, f"SELECT * FROM {one.table}") for one in done.account.tables])  # noqa: S608
    told = (done.folder / "account.json").read_text()
    for secret in ("Surname", "INS-0", "Doctor Number", "@hospital.example", "98765", "Street number"):
        assert secret not in everything
        assert secret not in told
    assert "blue" not in told
    assert "column patients.name (suppressed)" in json.loads(told)["not_copied"]
    assert [path.name for path in done.folder.iterdir()] == ["account.json"]


@pytest.mark.requirement("D-01")
def test_keys_and_references_are_there_and_hold(done: Done) -> None:
    engines = engine_of(done.source), engine_of(done.target)
    old, new = (inspect(engine) for engine in engines)
    assert set(new.get_table_names()) == set(old.get_table_names())
    for table in old.get_table_names():
        keys = [seen.get_pk_constraint(table)["constrained_columns"] for seen in (old, new)]
        assert keys[0] == keys[1]
        ends = [
            sorted((one["constrained_columns"], one["referred_table"]) for one in seen.get_foreign_keys(table))
            for seen in (old, new)
        ]
        assert ends[0] == ends[1], table
    assert any(one["column_names"] == ["town"] for one in new.get_indexes("patients"))
    for engine in engines:
        engine.dispose()


def test_a_target_that_is_not_empty_is_refused(done: Done, tmp_path: Path) -> None:
    for place in (done.target, done.source):
        with pytest.raises(InputError, match="is not empty"):
            copied(done.source, place, tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.requirement("D-01")
def test_a_file_of_sql_makes_the_same_copy_and_the_same_seed_the_same_bytes(
    done: Done, kind: str, empty: Empty, tmp_path: Path
) -> None:
    for name in ("a", "b"):
        copied(done.source, str(tmp_path / f"{name}.sql"), tmp_path, output=tmp_path / f"{name}.json")
    assert (tmp_path / "a.sql").read_bytes() == (tmp_path / "b.sql").read_bytes()
    restored = empty(kind)
    _run_sql(restored, tmp_path / "a.sql")
    for one in done.account.tables:
        query = f"SELECT * FROM {one.table}"  # noqa: S608  # our own names
        assert sorted(map(repr, rows(restored, query))) == sorted(map(repr, rows(done.target, query))), one.table


def _run_sql(url: str, path: Path) -> None:
    """By the database's own client."""
    place = make_url(url)
    server = ["-h", str(place.host), f"-P{place.port}", "-u", str(place.username), f"-p{place.password}"]
    commands = {
        "sqlite": ["sqlite3", "-bail", str(place.database)],
        "postgresql": [str(postgres_programs() / "psql"), "-q", "-v", "ON_ERROR_STOP=1", url],
        "mariadb": ["mariadb", *server, str(place.database)],
    }
    command = commands[place.drivername]
    if shutil.which(command[0]) is None:
        pytest.skip(f"NO {command[0]} HERE, SO THIS IS NOT TESTED")
    with path.open("rb") as file:
        ran = subprocess.run(command, stdin=file, capture_output=True, check=False)
    assert ran.returncode == 0, ran.stderr.decode()


@pytest.mark.requirement("D-01")
def test_a_share_of_the_patients_comes_with_all_that_is_theirs(
    done: Done, kind: str, empty: Empty, tmp_path: Path
) -> None:
    target = empty(kind)
    account = copied(done.source, target, tmp_path, sample=0.2)
    numbers = {one.table: one.rows for one in account.tables}
    assert 0 < numbers["patients"] < PATIENTS / 2
    assert account.of == "patients"
    visits = "SELECT p.id, count(*) FROM patients p JOIN visits v ON v.patient = p.id GROUP BY p.id"
    found = [row[1] for row in rows(target, visits)]
    assert len(found) == numbers["patients"]
    assert min(found) >= VISITS // PATIENTS
    assert sum(found) == numbers["visits"] < VISITS / 2
    assert numbers["settings"] == 2
    assert rows(target, "SELECT count(*) FROM referrals r JOIN patients p ON p.id = r.patient") == [
        (numbers["referrals"],)
    ]
