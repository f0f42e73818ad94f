"""What PostgreSQL has more of: types, numbering, comments, views, schemas, row rules."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.database_copy.conftest import Empty
from tests.database_copy.runs import copied, execute, rows

from shoal.errors import InputError

pytestmark = pytest.mark.server

MADE = (
    "CREATE SCHEMA clinic",
    "CREATE TYPE clinic.mood AS ENUM ('sad', 'glad')",
    """CREATE TABLE clinic.people (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, code uuid NOT NULL UNIQUE, about jsonb, moods clinic.mood[],
        mood clinic.mood, weight numeric, born date, seen timestamptz, span interval, address inet, photo bytea,
        rate double precision, "Odd Name" text, age int CHECK (age >= 0), tag char(4))""",
    "CREATE INDEX aged ON clinic.people (age)",
    'CREATE INDEX lowered ON clinic.people (lower("Odd Name"))',
    "COMMENT ON TABLE clinic.people IS 'Who comes to the clinic'",
    "COMMENT ON COLUMN clinic.people.age IS 'e.g. \"Asha, 30\"'",
    "CREATE VIEW clinic.grown AS SELECT id, age FROM clinic.people WHERE age >= 18",
    "CREATE VIEW clinic.grown_twice AS SELECT count(*) AS n FROM clinic.grown",
    """INSERT INTO clinic.people (code, about, moods, mood, weight, born, seen, span, address, photo, rate, "Odd Name",
        age, tag) VALUES
        ('0b8f3c1e-7a4b-4c55-9d5e-1f2a3b4c5d6e', '{"a": [1, "x\\ty"]}', '{sad,glad}', 'glad', 71.250, '1980-02-29',
         '2024-05-01 10:00:00.123456+02', '1 day 02:03', '10.0.0.1/8', '\\x00ff', 'NaN',
         E'tab\\t, line\\n, \\\\ end', 30,
         'ab'),
        ('1b8f3c1e-7a4b-4c55-9d5e-1f2a3b4c5d6e', NULL, NULL, NULL, 'NaN', 'infinity', '-infinity', NULL, NULL, NULL,
         0.1, '', 40, NULL)""",
)
OTHERS = (
    "about", "moods", "mood", "weight", "born", "seen", "span", "address", "photo", "rate", "Odd Name", "age", "tag",
)  # fmt: skip
POLICY = """
shoal: 1
name: people
tables:
  people:
    attributes:
      id: {role: insensitive}
      code: {role: direct, technique: {pseudonymise: {domain: codes}}}
OTHERS
""".replace("OTHERS", "\n".join(f"      {name}: {{role: insensitive}}" for name in OTHERS))


@pytest.mark.requirement("D-01")
def test_values_of_every_type_are_as_they_were(empty: Empty, tmp_path: Path) -> None:
    source, target = empty("postgres"), empty("postgres")
    execute(source, *MADE)
    account = copied(source, target, tmp_path, POLICY, schema_name="clinic")
    columns = 'id, about, moods, mood, weight, born, seen, span, address, photo, rate, "Odd Name", age, tag'
    query = "SELECT {columns} FROM {place}"
    texts = ", ".join(f"{name}::text" for name in columns.split(", "))
    before = rows(source, query.format(columns=texts, place="clinic.people ORDER BY age"))
    assert rows(target, query.format(columns=texts, place="people ORDER BY age")) == before
    assert account.views == ("grown", "grown_twice")
    assert rows(target, "SELECT n FROM grown_twice") == [(2,)]
    assert rows(target, "SELECT obj_description('people'::regclass)") == [("Who comes to the clinic",)]
    assert rows(target, "SELECT col_description('people'::regclass, 14)") == [(None,)]
    lost = " ".join(account.not_copied)
    assert "comment of column age" in lost
    assert "index lowered" in lost
    execute(target, "INSERT INTO people (code, age) VALUES ('made', 50)")
    assert rows(target, "SELECT id FROM people WHERE age = 50") == [(3,)]


def test_it_goes_to_a_schema_that_is_there_and_empty(empty: Empty, tmp_path: Path) -> None:
    place = empty("postgres")
    execute(place, *MADE)
    with pytest.raises(InputError, match="no schema 'copy'"):
        copied(place, place, tmp_path, POLICY, schema_name="clinic", target_schema="copy")
    execute(place, "CREATE SCHEMA copy")
    copied(place, place, tmp_path, POLICY, schema_name="clinic", target_schema="copy", restart=True)
    assert rows(place, "SELECT count(*) FROM copy.people") == [(2,)]
    viewed = "SELECT DISTINCT table_schema FROM information_schema.view_table_usage WHERE view_schema = 'copy'"
    assert rows(place, viewed) == [("copy",)]


def test_rows_that_a_rule_hides_stop_it(empty: Empty, tmp_path: Path) -> None:
    source = empty("postgres")
    execute(source, *MADE, "ALTER TABLE clinic.people ENABLE ROW LEVEL SECURITY")
    execute(source, "ALTER TABLE clinic.people FORCE ROW LEVEL SECURITY", "DROP ROLE IF EXISTS reader")
    execute(
        source,
        "CREATE ROLE reader LOGIN PASSWORD 'reading'",
        "GRANT USAGE ON SCHEMA clinic TO reader",
        "GRANT SELECT ON clinic.people TO reader",
    )
    address = source.replace(source.partition("//")[2].partition("@")[0], "reader:reading")
    with pytest.raises(InputError, match=r"the user has no right|SQLSTATE"):
        copied(address, str(tmp_path / "copy.sql"), tmp_path, POLICY, schema_name="clinic")
    assert not (tmp_path / "copy.sql").exists()
    execute(source, "DROP OWNED BY reader", "DROP ROLE reader")
