"""The copy of a hospital: what is in it, what is not, what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import inspect, text
from tests.database_copy.conftest import engine_of
from tests.database_copy.hospital import PATIENTS, POLICY, VISITS

from shoal.database_copy import CopyRequest, DatabaseCopy
from shoal.database_copy.account import CopyAccount
from shoal.errors import InputError
from shoal.policy.multi_table import MultiTablePolicy, any_from_text

Empty = Callable[[str], str]


def policy_of(text_of: str) -> MultiTablePolicy:
    policy = any_from_text(text_of)
    assert isinstance(policy, MultiTablePolicy)
    return policy


def copied(source: str, target: str, folder: Path, policy: str = POLICY, **options: Any) -> CopyAccount:
    given = {"output": folder / "account.json", "seed": 7, **options}
    return DatabaseCopy(CopyRequest(policy=policy_of(policy), source=source, target=target, **given)).execute()


def rows(url: str, query: str) -> list[tuple[Any, ...]]:
    engine = engine_of(url)
    with engine.connect() as connection:
        found = [tuple(row) for row in connection.execute(text(query))]
    engine.dispose()
    return found


@pytest.mark.requirement("D-01")
def test_every_table_is_copied_and_every_key_finds_its_record(
    kind: str, hospital: str, empty: Empty, tmp_path: Path
) -> None:
    target = empty(kind)
    account = copied(hospital, target, tmp_path)
    assert {one.table: one.rows for one in account.tables}["visits"] == VISITS
    before = rows(hospital, "SELECT p.income, v.id, v.at FROM visits v JOIN patients p ON p.id = v.patient ORDER BY v.at")
    after = rows(target, "SELECT p.income, v.id, v.at FROM visits v JOIN patients p ON p.id = v.patient ORDER BY v.at")
    assert len(after) == len(before) == VISITS
    assert [row[2] for row in after] == [row[2] for row in before]
    assert not {str(row[1]) for row in after} & {str(row[1]) for row in before}
    joined = "SELECT count(*) FROM dispensings d JOIN prescriptions p ON p.visit = d.visit AND p.line = d.line"
    assert rows(target, joined) == rows(hospital, joined)
    heads = "SELECT d.name, count(*) FROM departments d JOIN doctors h ON h.id = d.head GROUP BY d.name ORDER BY 1"
    assert rows(target, heads) == rows(hospital, heads)


@pytest.mark.requirement("D-01")
def test_what_is_not_named_to_be_changed_is_as_it_was(kind: str, hospital: str, empty: Empty, tmp_path: Path) -> None:
    target = empty(kind)
    copied(hospital, target, tmp_path)
    for query in (
        "SELECT code, title FROM diagnoses ORDER BY code",
        "SELECT picture, urgent, at FROM visits ORDER BY at",
        "SELECT line, drug, dose FROM prescriptions ORDER BY dose, line",
        "SELECT id, on_day FROM dispensings ORDER BY id",
        "SELECT * FROM settings ORDER BY 1",
        "SELECT id, name, part_of FROM clinics ORDER BY id",
        "SELECT id, after FROM referrals ORDER BY id",
    ):
        assert rows(target, query) == rows(hospital, query), query


@pytest.mark.requirement("D-01")
def test_nothing_of_what_is_hidden_is_anywhere_in_the_copy(
    kind: str, hospital: str, empty: Empty, tmp_path: Path
) -> None:
    target = empty(kind)
    account = copied(hospital, target, tmp_path)
    everything = str(
        [rows(target, f"SELECT * FROM {one.table}") for one in account.tables]  # noqa: S608  # our own names
    )
    for secret in ("Surname", "INS-0", "Doctor Number", "@hospital.example", "98765", "Street number"):
        assert secret not in everything
    told = (tmp_path / "account.json").read_text()
    assert "column patients.name (suppressed)" in json.loads(told)["not_copied"]
    assert not any(secret in told for secret in ("Surname", "INS-0", "98765", "blue"))


@pytest.mark.requirement("D-01")
def test_keys_and_references_are_there_and_hold(kind: str, hospital: str, empty: Empty, tmp_path: Path) -> None:
    target = empty(kind)
    copied(hospital, target, tmp_path)
    engines = engine_of(hospital), engine_of(target)
    old, new = (inspect(engine) for engine in engines)
    assert set(new.get_table_names()) == set(old.get_table_names())
    for table in old.get_table_names():
        assert new.get_pk_constraint(table)["constrained_columns"] == old.get_pk_constraint(table)["constrained_columns"]
        ends = [
            sorted((one["constrained_columns"], one["referred_table"]) for one in seen.get_foreign_keys(table))
            for seen in (old, new)
        ]
        assert ends[0] == ends[1], table
    assert any(one["column_names"] == ["town"] for one in new.get_indexes("patients"))
    for engine in engines:
        engine.dispose()


def test_the_same_seed_gives_the_same_bytes(kind: str, hospital: str, tmp_path: Path) -> None:
    for name in ("a", "b"):
        copied(hospital, str(tmp_path / f"{name}.sql"), tmp_path, output=tmp_path / f"{name}.json")
    copied(hospital, str(tmp_path / "c.sql"), tmp_path, output=tmp_path / "c.json", seed=8)
    first, second, other = ((tmp_path / f"{name}.sql").read_bytes() for name in "abc")
    assert first == second != other
    assert kind in {"sqlite", "postgres", "mariadb"}


def test_a_target_that_is_not_empty_is_refused(kind: str, hospital: str, empty: Empty, tmp_path: Path) -> None:
    target = empty(kind)
    copied(hospital, target, tmp_path)
    with pytest.raises(InputError, match="is not empty"):
        copied(hospital, target, tmp_path, output=tmp_path / "other.json")
    with pytest.raises(InputError, match="is not empty"):
        copied(hospital, hospital, tmp_path, output=tmp_path / "other.json")
    assert not list(tmp_path.glob(".*unfinished"))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("ALTER TABLE visits ADD COLUMN phone VARCHAR(20)", r"table 'visits': the policy doesn't name column.*'phone'"),
        ("CREATE TABLE letters (id INTEGER)", r"the policy doesn't name table\(s\) 'letters'"),
        ("DROP TABLE addresses", "there is no table 'addresses'"),
    ],
)
@pytest.mark.requirement("D-01")
def test_a_schema_that_the_policy_does_not_know_is_refused(
    kind: str, hospital: str, empty: Empty, tmp_path: Path, change: str, said: str
) -> None:
    engine = engine_of(hospital)
    with engine.begin() as connection:
        connection.execute(text(change))
    engine.dispose()
    with pytest.raises(InputError, match=said):
        copied(hospital, empty(kind), tmp_path)
    assert not (tmp_path / "account.json").exists()


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("{domain: insurance}", "{domain: insurance, format: {integer: {digits: 9}}}", "'insurance' has to be unique"),
        (
            "insurance: {role: direct, technique: {pseudonymise: {domain: insurance}}}",
            "insurance: {role: direct, technique: {mask: {keep_last: 2}}}",
            "'insurance' has to be unique, and mask may give two rows the same value",
        ),
        ("visit: {role: direct, technique: {pseudonymise: {domain: visits}}}\n      line", "visit: {role: direct, "
         "technique: {pseudonymise: {domain: others}}}\n      line", r"refers to visits.id \(a foreign key"),
        ("part_of: {role: insensitive}", "part_of: {role: insensitive, technique: permute}", "refers to clinics.id"),
        ("use_case: test-data", "use_case: test-data\nprivacy: [{k_anonymity: {k: 2}}]", "privacy models"),
        ("settings:", "settings:\n    shuffle_rows: true", "shuffle_rows changes which rows"),
    ],
)
def test_a_policy_that_would_break_keys_is_refused_before_the_run(
    hospital: str, tmp_path: Path, kind: str, empty: Empty, old: str, new: str, said: str
) -> None:
    assert old in POLICY
    with pytest.raises(InputError, match=said):
        copied(hospital, empty(kind), tmp_path, POLICY.replace(old, new))


def test_a_table_may_be_left_out_on_purpose(kind: str, hospital: str, empty: Empty, tmp_path: Path) -> None:
    start = POLICY.index("  referrals:")
    without = POLICY[:start] + POLICY[POLICY.index("  settings:") :]
    target = empty(kind)
    account = copied(hospital, target, tmp_path, without + "leave_out: [referrals]\n")
    assert "table referrals (left out)" in account.not_copied
    assert "referrals" not in {one.table for one in account.tables}


@pytest.mark.requirement("D-01")
def test_a_share_of_the_patients_comes_with_all_that_is_theirs(
    kind: str, hospital: str, empty: Empty, tmp_path: Path
) -> None:
    target = empty(kind)
    account = copied(hospital, target, tmp_path, sample=0.2)
    numbers = {one.table: one.rows for one in account.tables}
    assert 0 < numbers["patients"] < PATIENTS / 2
    assert account.of == "patients"
    visits = "SELECT p.id, count(*) FROM patients p JOIN visits v ON v.patient = p.id GROUP BY p.id"
    assert sorted(row[1] for row in rows(target, visits))[0] >= VISITS // PATIENTS
    assert sum(row[1] for row in rows(target, visits)) == numbers["visits"] < VISITS / 2
    orphans = "SELECT count(*) FROM dispensings d LEFT JOIN prescriptions p ON p.visit = d.visit AND p.line = d.line"
    assert rows(target, f"{orphans} WHERE p.visit IS NULL") == [(0,)]
    assert numbers["settings"] == 2
    assert numbers["diagnoses"] <= 5


def test_of_which_table_a_share_is_has_to_be_clear(kind: str, hospital: str, empty: Empty, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="of which table"):
        copied(hospital, empty(kind), tmp_path, POLICY.replace("    person: id\n", ""), sample=0.5)
    account = copied(hospital, empty(kind), tmp_path, sample=0.5, of="clinics", output=tmp_path / "b.json")
    assert account.of == "clinics"
