"""Plan, apply, diff, check and remove on real servers: whole or not at all, and without a trace afterwards."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from sqlalchemy.exc import DBAPIError
from tests.live.conftest import ANALYST, LEVELS, PASSPHRASE, PEOPLE, House

from shoal.errors import InputError, TargetError
from shoal.live.operations import Live

pytestmark = [pytest.mark.requirement("L-01"), pytest.mark.server]

VIEW = "shoal_analyst.patients"
SEEN = "SELECT name, email, age, born, postal, salary, region FROM shoal_analyst.patients ORDER BY name"
CATALOGUE = {
    "postgresql": (
        "SELECT nspname, nspacl::text FROM pg_namespace WHERE nspname NOT LIKE 'pg_%' ORDER BY 1",
        "SELECT relname, relkind, relacl::text FROM pg_class WHERE oid > 16384 ORDER BY 1, 2",
        "SELECT classid::regclass::text, deptype FROM pg_shdepend WHERE deptype <> 'o' ORDER BY 1",
        "SELECT proname FROM pg_proc WHERE oid > 16384",
        "SELECT description FROM pg_description WHERE objoid > 16384",
    ),
    "mariadb": (
        "SELECT schema_name, schema_comment FROM information_schema.schemata ORDER BY 1",
        "SELECT table_schema, table_name FROM information_schema.tables WHERE table_schema LIKE 'shoal%' ORDER BY 1, 2",
        "SELECT * FROM mysql.db ORDER BY 1, 2, 3",
        "SELECT * FROM mysql.tables_priv ORDER BY 1, 2, 3, 4",
        "SELECT * FROM mysql.global_priv ORDER BY 1, 2",
    ),
}
DYING = """
import os, signal, sys
from sqlalchemy import Engine, event
from shoal.live.operations import Live
from shoal.vault import Passphrase, Vault

left = int(sys.argv[4])

@event.listens_for(Engine, "before_cursor_execute")
def die(connection, cursor, statement, *others):
    global left
    left -= statement.lstrip().upper().startswith(("CREATE", "GRANT", "REVOKE", "INSERT", "DELETE", "COMMENT"))
    if not left:
        os.kill(os.getpid(), signal.SIGKILL)

Live.of(sys.argv[1], Vault.open(sys.argv[2], Passphrase("anita", sys.argv[3]))).apply()
"""


def everything(house: House) -> list[Any]:
    return [house.ask(question) for question in CATALOGUE[house.kind]]


def test_each_role_sees_its_own_version(house: House) -> None:
    house.live().apply()
    assert house.ask(SEEN, "analyst") == [
        ("A*******", "****@example.org", "30-39", "1990", "411xxx", 1200.0, "north"),
        ("M******", "**************", "<18", None, "460xxx", None, "north"),
        ("R********", None, "90+", "1934", "403xxx", 100000.0, "south"),
        ("Ü*******"[:7], "*****@example.org", "40-49", "1980", "411xxx", 800.0, "north"),
    ]
    told = house.ask("SELECT * FROM shoal_doctor.patients ORDER BY id", "doctor")
    assert told == [(one[0], one[1], one[3], one[7]) for one in PEOPLE]
    assert house.ask("SELECT count(*) FROM patients") == [(len(PEOPLE),)]
    for role, place in (("doctor", VIEW), ("analyst", "shoal_doctor.patients"), ("analyst", "shoal.patients")):
        with pytest.raises(DBAPIError):
            house.ask(f"SELECT * FROM {place}", role)


@pytest.mark.requirement("L-04")
def test_a_pseudonym_is_that_of_a_run(house: House) -> None:
    import polars as pl

    import shoal

    house.live().apply()
    policy = shoal.Policy.of(
        {**ANALYST, "attributes": {**ANALYST["attributes"], "*": "suppress"}, "solve": {"levels": LEVELS}}
    )
    names = [*ANALYST["attributes"]]
    table = pl.DataFrame([dict(zip(names, one, strict=True)) for one in PEOPLE])
    table = table.with_columns(pl.col("born").str.to_date())
    released = shoal.anonymise(table, policy, vault=house.vault).data
    live = house.ask("SELECT id, name, age FROM shoal_analyst.patients ORDER BY name", "analyst")
    assert live == sorted(released.select("id", "name", "age").rows(), key=lambda row: row[1])


def test_applying_twice_changes_nothing_and_removing_leaves_no_trace(house: House) -> None:
    before = everything(house)
    live = house.live()
    assert "CREATE" in live.plan().sql
    assert everything(house) == before
    assert live.diff().differences
    assert live.apply().differences
    there = everything(house)
    assert live.apply().differences == ()
    assert live.diff().whole
    assert live.check().whole
    assert everything(house) == there
    assert live.remove()
    assert everything(house) == before
    assert not live.remove()


def test_the_migration_and_its_inverse_are_files_for_the_servers_own_client(house: House) -> None:
    before, live = everything(house), house.live(policy="doctor.yaml", levels={})
    plan = live.plan()
    _run_script(house, plan.sql)
    assert live.diff().whole
    _run_script(house, plan.inverse)
    assert everything(house) == before


def _run_script(house: House, script: str) -> None:
    """A file for a client, statement by statement; no text of these policies holds a line that ends one."""
    with house.engine().connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        for statement in script.split(";\n"):
            if statement.strip():
                connection.exec_driver_sql(statement.replace("%", "%%"), ())


def test_no_key_stands_in_a_plan(house: House) -> None:
    key = house.vault.key("patients", "pseudonymise").material
    plan = house.live().plan()
    assert key.hex() not in plan.sql + plan.inverse
    assert "apply puts them in" in plan.sql


DRIFTS = {
    "another view": ("CREATE OR REPLACE VIEW {view} AS SELECT {same} FROM patients", "changed"),
    "no view": ("DROP VIEW {view}", "missing"),
    "one more view": ("CREATE VIEW shoal_analyst.everyone AS SELECT * FROM patients", "extra"),
}


@pytest.mark.parametrize("drift", DRIFTS)
def test_drift_is_found_and_mended(house: House, drift: str) -> None:
    live = house.live()
    live.apply()
    statement, what = DRIFTS[drift]
    if house.is_postgres and what == "changed":
        house.own(f"ALTER VIEW {VIEW} SET (security_barrier = false)")
    else:
        house.own(statement.format(view=VIEW, same="name"))
    state = live.check()
    assert not state.whole
    assert any(one.endswith(what) for one in state.differences)
    live.apply()
    assert live.check().whole


def test_another_purpose_or_policy_is_a_difference(house: House) -> None:
    house.live().apply()
    changed = house.live(rows={"patients": "region = 'south'"})
    assert changed.diff().differences == (f"{house.role('analyst')}.patients: changed",)
    changed.apply()
    assert [row[0] for row in house.ask(SEEN, "analyst")] == ["R********"]


def test_a_new_column_is_seen_by_nobody_and_check_says_so(house: House) -> None:
    live = house.live()
    live.apply()
    house.own("ALTER TABLE patients ADD COLUMN phone varchar(20)")
    state = live.check()
    assert not state.whole
    assert "the policy doesn't name column 'phone'" in state.problems[0]
    assert len(house.ask("SELECT * FROM shoal_analyst.patients", "analyst")[0]) == len(ANALYST["attributes"])
    with pytest.raises(InputError, match="phone"):
        live.apply()


@pytest.mark.requirement("L-03")
def test_a_role_that_reads_the_table_itself_gets_no_views(house: House) -> None:
    role = "analyst" if house.is_postgres else "analyst@'%'"
    house.own(f"GRANT SELECT ON {'public' if house.is_postgres else 'shoal'}.patients TO {role}")
    live = house.live()
    with pytest.raises(InputError, match="rights of its own"):
        live.apply()
    assert live.diff().ways_around
    with pytest.raises(DBAPIError):
        house.ask(SEEN, "analyst")


@pytest.mark.requirement("L-03")
def test_a_right_given_later_is_found(house: House) -> None:
    live = house.live()
    live.apply()
    role = "analyst" if house.is_postgres else "analyst@'%'"
    house.own(f"GRANT SELECT (age) ON {'public' if house.is_postgres else 'shoal'}.patients TO {role}")
    assert live.check().ways_around


def test_time_limits(house: House) -> None:
    for limits in ({"until": "2020-12-31"}, {"since": "2999-01-01"}):
        live = house.live(**limits)
        assert live.apply().whole or live.check().whole
        assert house.ask(SEEN, "analyst") == []
    assert house.live(until="2020-12-31").diff().expired == (house.role("analyst"),)
    house.live(since="2020-01-01", until="2999-12-30").apply()
    assert len(house.ask(SEEN, "analyst")) == len(PEOPLE)


@pytest.mark.parametrize(
    ("rule", "names"),
    [
        ("region = 'north' AND NOT (age < 18)", "AÜ"),
        ("age BETWEEN 30 AND 50 OR diagnosis IN ('asthma')", "ARÜ"),
        ("diagnosis IS NULL OR born >= '1990-01-01'", "AM"),
        ("region = 'NORTH' OR region = 'north '", ""),
        ("salary > 777.77 AND NOT born IS NULL", "AR"),
    ],
)
def test_rows_by_rule(house: House, rule: str, names: str) -> None:
    house.live(rows={"patients": rule}).apply()
    assert "".join(row[0][0] for row in house.ask(SEEN, "analyst")) == names


def test_what_others_made_is_not_touched(house: House) -> None:
    made = "SCHEMA" if house.is_postgres else "DATABASE"
    house.own(f"CREATE {made} shoal_analyst")
    try:
        with pytest.raises(TargetError, match="not of this live file"):
            house.live().apply()
        assert not house.live().remove()
    finally:
        house.own(f"DROP {made} shoal_analyst")


def test_a_role_that_left_the_live_file_sees_nothing(house: House) -> None:
    house.live().apply()
    path = house.write()
    file = yaml.safe_load(path.read_text())
    file["roles"].pop(house.role("analyst"))
    path.write_text(yaml.safe_dump(file))
    live = Live.of(path, house.vault)
    assert any("extra" in one for one in live.diff().differences)
    live.apply()
    assert live.check().whole
    with pytest.raises(DBAPIError):
        house.ask(SEEN, "analyst")
    assert house.ask("SELECT count(*) FROM shoal_doctor.patients", "doctor") == [(len(PEOPLE),)]


@pytest.mark.parametrize("statements", [3, 6, 9])
def test_a_killed_apply_leaves_all_or_nothing(house: House, vault_file: Path, statements: int) -> None:
    command = [sys.executable, "-c", DYING, str(house.write()), str(vault_file), PASSPHRASE, str(statements)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == -signal.SIGKILL, done.stderr
    with pytest.raises(DBAPIError):
        house.ask(SEEN, "analyst")
    live = house.live()
    live.apply()
    assert live.check().whole
    assert len(house.ask(SEEN, "analyst")) == len(PEOPLE)
