"""Several tables of a database: foreign keys are found, people keep one pseudonym, and so they are written again."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import adbc_driver_postgresql.dbapi as adbc
import polars as pl
import pymysql
import pytest
from sqlalchemy.engine import make_url
from tests.servers import mariadb, mariadb_url, postgres, postgres_url

from shoal.errors import DataError, TargetError
from shoal.io import Target, open_source, open_target, parse_source, parse_target, write_all
from shoal.kernels.batch_streams import streamed
from shoal.policy.multi_table import MultiTablePolicy, any_from_text
from shoal.release.multi_table import run as job
from shoal.release.multi_table.run import check_tables, release_tables
from shoal.release.request import RunRequest
from shoal.release.run import Run
from shoal.schema.progress import Monitor

__all__ = ["mariadb", "mariadb_url", "postgres", "postgres_url"]

pytestmark = pytest.mark.requirement("D-01", "T-06")

TABLES = (
    "CREATE TABLE patients (id INTEGER PRIMARY KEY, name VARCHAR(40), age INTEGER)",
    "CREATE TABLE visits (visit INTEGER PRIMARY KEY, who INTEGER, ward VARCHAR(9), "
    "FOREIGN KEY (who) REFERENCES patients (id))",
    "INSERT INTO patients VALUES " + ", ".join(f"({100 + n}, 'Zyxwvut{n}', {20 + n % 5})" for n in range(30)),  # noqa: S608
    "INSERT INTO visits VALUES "  # noqa: S608
    + ", ".join(f"({n}, {'NULL' if n == 7 else 100 + n * 7 % 30}, 'W{n % 3}')" for n in range(90)),
)
POLICY = """\
shoal: 1
name: hospital
source: {{url: "{url}"}}
target: {{url: "{target}", if_exists: {if_exists}}}
tables:
  patients:
    attributes:
      id: {{role: direct, technique: {{pseudonymise: {{domain: patients}}}}}}
      name: suppress
      age: {{role: quasi}}
    target: {{table: people_out}}
  visits:
    attributes:
      visit: suppress
      who: {{role: direct, technique: {{pseudonymise: {{domain: patients}}}}}}
      ward: {{role: quasi}}
    target: {{table: visits_out}}
privacy: [{{k_anonymity: {{k: 3}}}}]
joined: {{accept: what becomes of the keys is tried here}}
"""


def connected(url: str) -> Any:
    place = make_url(url)
    if place.drivername == "sqlite":
        return sqlite3.connect(str(place.database))
    if place.drivername == "postgresql":
        return adbc.connect(url)
    named = {"user": place.username, "password": place.password or "", "database": place.database}
    return pymysql.connect(host=place.host, port=place.port or 0, **named)


def run(url: str, *statements: str) -> list[tuple[Any, ...]]:
    connection = connected(url)
    rows: list[tuple[Any, ...]] = []
    for statement in statements:
        cursor = connection.cursor()
        cursor.execute(statement)
        if statement.startswith("SELECT"):
            rows = [tuple(row) for row in cursor.fetchall()]
        cursor.close()
    connection.commit()
    connection.close()
    return rows


@pytest.fixture(
    params=[
        "sqlite",
        pytest.param("postgres_url", marks=pytest.mark.server),
        pytest.param("mariadb_url", marks=pytest.mark.server),
    ]
)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database with two tables; what an earlier test left is gone."""
    sqlite = f"sqlite:///{tmp_path}/clinic.db"
    found: str = sqlite if request.param == "sqlite" else request.getfixturevalue(request.param)
    gone = ("visits_out", "people_out", "other_out", "visits", "patients")
    run(found, *(f"DROP TABLE IF EXISTS {name}" for name in gone), *TABLES)
    return found


def policy(url: str, *, target: str | None = None, if_exists: str = "fail", more: str = "") -> MultiTablePolicy:
    found = any_from_text(POLICY.format(url=url, target=target or url, if_exists=if_exists) + more)
    assert isinstance(found, MultiTablePolicy)
    return found


def test_foreign_keys_are_found_and_people_are_the_same_everywhere(url: str, tmp_path: Path) -> None:
    whole = release_tables(policy(url), tmp_path / "out")
    assert [one.result().to_dict() for one in whole.references] == [
        {
            "from": "visits.who",
            "to": "patients.id",
            "kept": True,
            "orphans": 0,
            "left_out": 0,
            "found": "a foreign key of the database",
        }
    ]
    joined = "SELECT p.age, v.ward, COUNT(*) FROM {} v JOIN {} p ON v.who = p.id GROUP BY p.age, v.ward ORDER BY 1, 2"
    before, after = run(url, joined.format("visits", "patients")), run(url, joined.format("visits_out", "people_out"))
    assert [(str(age), ward, number) for age, ward, number in before] == [
        (str(age), ward, number) for age, ward, number in after
    ]
    assert run(url, "SELECT COUNT(*), COUNT(who), COUNT(DISTINCT who) FROM visits_out") == [(90, 89, 30)]
    ids = {str(key) for (key,) in run(url, "SELECT id FROM people_out")}
    assert len(ids) == 30
    assert not ids & {str(100 + n) for n in range(30)}


def test_a_foreign_key_whose_ends_would_come_apart_is_refused(url: str, tmp_path: Path) -> None:
    text = POLICY.format(url=url, target=url, if_exists="fail").replace("domain: patients}}", "domain: others}}", 1)
    apart = any_from_text(text)
    assert isinstance(apart, MultiTablePolicy)
    with pytest.raises(
        DataError, match=r"visits\.who refers to patients\.id \(a foreign key of the database\)"
    ) as said:
        check_tables(apart, None)
    assert "domain must be the same at both ends" in str(said.value)
    let_go = any_from_text(text + "references: [{from: visits.who, to: patients.id, keep: false}]\n")
    assert isinstance(let_go, MultiTablePolicy)
    assert [one.keep for one in check_tables(let_go, None)] == [False]


def test_a_foreign_key_in_a_column_that_the_policy_does_not_know_is_that_column_s_problem(url: str) -> None:
    text = POLICY.format(url=url, target=url, if_exists="fail")
    unknown = any_from_text("".join(line for line in text.splitlines(keepends=True) if "who:" not in line))
    assert isinstance(unknown, MultiTablePolicy)
    with pytest.raises(DataError, match="who"):
        check_tables(unknown, None)


def test_views_and_tables_elsewhere_refer_to_nothing(url: str, tmp_path: Path) -> None:
    run(url, "CREATE VIEW seen AS SELECT * FROM visits")
    try:
        view, visits, patients = (
            open_source(parse_source({"url": url, "table": name})) for name in ("seen", "visits", "patients")
        )
        assert visits.refers_to(patients) == [("who", "id")]  # type: ignore[attr-defined]
        assert patients.refers_to(visits) == []  # type: ignore[attr-defined]
        assert view.refers_to(patients) == []  # type: ignore[attr-defined]
        assert visits.refers_to(view) == []  # type: ignore[attr-defined]
        query = open_source(parse_source({"url": url, "query": "SELECT id FROM patients"}))
        assert visits.refers_to(query) == []  # type: ignore[attr-defined]
    finally:
        run(url, "DROP VIEW seen")


def test_nothing_is_written_to_the_database_until_every_table_is_good(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = job.Run

    def second_fails(request: RunRequest, monitor: Monitor) -> Run:
        if request.folder.name == "visits":
            raise KeyboardInterrupt
        return whole(request, monitor)

    monkeypatch.setattr(job, "Run", second_fails)
    with pytest.raises(KeyboardInterrupt):
        release_tables(policy(url), tmp_path / "out")
    monkeypatch.undo()
    assert not (tmp_path / "out").exists()
    release_tables(policy(url), tmp_path / "out")  # if a table were there, `fail` would refuse it


def test_tables_arrive_in_a_database_together_or_not_at_all(url: str) -> None:
    run(url, "CREATE TABLE people_out (old INTEGER)", "INSERT INTO people_out VALUES (1)")
    run(url, "CREATE TABLE other_out (x INTEGER)", "INSERT INTO other_out VALUES (1)")

    def target(table: str, if_exists: str) -> Target:
        return open_target(parse_target({"url": url, "table": table, "if_exists": if_exists}))

    def breaks() -> Iterator[pl.DataFrame]:
        yield pl.DataFrame({"x": [2]})
        raise DataError("in the middle")

    good, broken = pl.LazyFrame({"x": [2, 3]}), streamed(breaks, pl.Schema({"x": pl.Int64}))
    people, others, visits = (
        target("people_out", "replace"),
        target("other_out", "append"),
        target("visits_out", "fail"),
    )
    for order in (
        [(people, good), (others, good), (visits, broken)],
        [(visits, good), (people, good), (others, broken)],
    ):
        with pytest.raises(DataError, match="in the middle"):
            write_all(order)
        assert run(url, "SELECT old FROM people_out") == run(url, "SELECT x FROM other_out") == [(1,)]
        target("visits_out", "fail")  # it is not there
    write_all([(people, good), (others, good), (visits, good)])
    assert (
        run(url, "SELECT x FROM people_out ORDER BY 1")
        == run(url, "SELECT x FROM visits_out ORDER BY 1")
        == [(2,), (3,)]
    )
    assert run(url, "SELECT x FROM other_out ORDER BY 1") == [(1,), (2,), (3,)]


def test_a_table_that_is_there_already_stops_the_run_before_it_begins(url: str, tmp_path: Path) -> None:
    run(url, "CREATE TABLE visits_out (x INTEGER)")
    with pytest.raises(TargetError, match="exists already"):
        release_tables(policy(url), tmp_path / "out")
    assert not (tmp_path / "out").exists()
    release_tables(policy(url, if_exists="replace"), tmp_path / "out")
    assert run(url, "SELECT COUNT(*) FROM visits_out") == [(90,)]


def test_a_file_and_a_database_can_belong_together(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/clinic.db"
    run(url, *TABLES)
    rows = [f"{n},{100 + n % 30},bill {n}" for n in range(40)]
    (tmp_path / "bills.csv").write_text("bill,patient,text\n" + "\n".join(rows) + "\n")
    text = f"""\
shoal: 1
name: both
tables:
  patients:
    source: "{url}#patients"
    person: id
    attributes: {{id: {{role: direct, technique: {{pseudonymise: {{domain: p}}}}}}, "*": suppress}}
  bills:
    source: {tmp_path}/bills.csv
    person: patient
    attributes: {{patient: {{role: direct, technique: {{pseudonymise: {{domain: p}}}}}}, "*": suppress}}
"""
    several = any_from_text(text)
    assert isinstance(several, MultiTablePolicy)
    whole = release_tables(several, tmp_path / "out")
    assert [(str(one.reference), one.orphans) for one in whole.references] == [("bills.patient → patients.id", 0)]
    assert whole.references[0].reference.reason == "all its values are there, each once, and both name the person"
