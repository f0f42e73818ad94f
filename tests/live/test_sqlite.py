"""A SQLite file with each access checked: one role's version, and no other way to read."""

from __future__ import annotations

import datetime
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from shoal.errors import InputError, SourceError
from shoal.live.sqlite import masked_connection
from shoal.policy import Policy

pytestmark = [pytest.mark.requirement("L-01"), pytest.mark.requirement("L-03")]

POLICY = Policy.of(
    {
        "shoal": 1,
        "name": "people",
        "attributes": {
            "name": {"role": "direct", "technique": {"mask": {"keep_first": 1}}},
            "age": {"role": "quasi", "hierarchy": {"intervals": [10]}},
            "born": {"role": "insensitive", "technique": {"code": {"top": datetime.date(2000, 1, 1)}}},
            "phone": "suppress",
        },
    }
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "clinic.db"
    with sqlite3.connect(path) as owner:
        owner.execute("CREATE TABLE people (name TEXT, age INTEGER, born DATE, phone TEXT)")
        rows = [("Asha Rao", 34, "1990-02-03", "1"), ("Ravi", None, "2010-01-01", "2"), ("x", "Mei Tan", "soon", None)]
        owner.executemany("INSERT INTO people VALUES (?, ?, ?, ?)", rows)
        owner.execute("CREATE TABLE other (secret TEXT)")
    owner.close()
    return path


@pytest.fixture
def reader(file: Path) -> Iterator[sqlite3.Connection]:
    with masked_connection(file, {"people": POLICY}, levels={"age": 1}) as connection:
        yield connection


def test_what_is_seen(reader: sqlite3.Connection) -> None:
    """What is no value of its column is seen by nobody."""
    seen = [("A*******", "30-39", "1990-02-03"), ("R***", None, "2000-01-01"), ("*", None, None)]
    assert reader.execute("SELECT * FROM people").fetchall() == seen
    assert reader.execute("SELECT count(*), max(name) FROM people").fetchall() == [(3, "R***")]
    joined = "SELECT a.name, b.age FROM people AS a JOIN people AS b USING (name) WHERE a.name LIKE 'A%'"
    assert reader.execute(joined).fetchall() == [("A*******", "30-39")]
    assert reader.execute("WITH p AS (SELECT * FROM people) SELECT 1 FROM p WHERE name = 'Asha Rao'").fetchall() == []


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT * FROM main.people",
        "SELECT phone FROM main.people",
        "EXPLAIN SELECT * FROM main.people",
        "SELECT * FROM other",
        "SELECT * FROM main.sqlite_master",
        "SELECT sql FROM temp.sqlite_master",
        "SELECT * FROM pragma_table_info('people')",
        "PRAGMA table_info(people)",
        "ATTACH 'clinic.db' AS again",
        "VACUUM INTO 'copy.db'",
        "CREATE TEMP TABLE mine AS SELECT * FROM main.people",
        "CREATE TEMP TRIGGER t INSTEAD OF UPDATE ON people BEGIN SELECT 1; END",
        "DROP VIEW temp.people",
        "UPDATE people SET name = 'x'",
        "DELETE FROM main.people",
        "SELECT shoal_people_0('x')",
        "SELECT load_extension('x')",
        "SELECT 1 FROM people AS p WHERE EXISTS (SELECT 1 FROM main.people AS m WHERE m.name LIKE 'Asha%')",
    ],
)
def test_no_other_way(reader: sqlite3.Connection, statement: str) -> None:
    with pytest.raises(sqlite3.DatabaseError) as error:
        reader.execute(statement).fetchall()
    assert "Asha" not in str(error.value)


def test_a_position_tells_nothing(reader: sqlite3.Connection) -> None:
    assert {row[0] for row in reader.execute("SELECT rowid FROM people")} <= {None}


def test_what_the_policy_doesnt_know_is_refused(file: Path) -> None:
    with sqlite3.connect(file) as owner:
        owner.execute("ALTER TABLE people ADD COLUMN email TEXT")
    owner.close()
    with pytest.raises(InputError, match="email"), masked_connection(file, {"people": POLICY}, levels={"age": 1}):
        pass
    with pytest.raises(SourceError, match="no table"), masked_connection(file, {"staff": POLICY}):
        pass
    with pytest.raises(SourceError, match="no such file"), masked_connection(file.with_name("x.db"), {}):
        pass
