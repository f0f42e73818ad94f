"""What a copy is not begun with: all of it is known before anything is written."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.database_copy.conftest import Empty
from tests.database_copy.hospital import POLICY
from tests.database_copy.runs import copied, execute, rows

from shoal.errors import InputError

INSURANCE = "insurance: {role: direct, technique: {pseudonymise: {domain: insurance}}}"
VISIT = "visit: {role: direct, technique: {pseudonymise: {domain: visits}}}\n      line"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("ALTER TABLE visits ADD COLUMN phone VARCHAR(20)", r"table 'visits': the policy doesn't name column.*'phone'"),
        ("CREATE TABLE letters (id INTEGER)", r"the policy doesn't name table\(s\) 'letters'"),
        ("DROP TABLE addresses", "there is no table 'addresses'"),
    ],
)
@pytest.mark.requirement("D-01")
def test_a_schema_that_the_policy_does_not_know(
    small: str, empty: Empty, tmp_path: Path, change: str, said: str
) -> None:
    execute(small, change)
    with pytest.raises(InputError, match=said):
        copied(small, empty("sqlite"), tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("{domain: insurance}", "{domain: insurance, format: {integer: {digits: 9}}}", "'insurance' has to be unique"),
        (
            INSURANCE,
            "insurance: {role: direct, technique: {mask: {keep_last: 2}}}",
            "'insurance' has to be unique, and mask may give two rows the same value",
        ),
        (VISIT, VISIT.replace("domain: visits", "domain: others"), r"refers to visits.id \(a foreign key"),
        ("part_of: {role: insensitive}", "part_of: {role: insensitive, technique: permute}", "refers to clinics.id"),
        ("use_case: test-data", "use_case: test-data\nprivacy: [{k_anonymity: {k: 2}}]", "privacy models"),
        ("  settings:", "  settings:\n    shuffle_rows: true", "shuffle_rows changes which rows"),
        ("{domain: mails, format: email}", "{domain: mails, method: random}", "random pseudonyms need a vault"),
        ("  clinics:\n", "  clinics:\n    source: {url: 'sqlite:///x.db', query: SELECT 1}\n", "a query is no table"),
    ],
)
def test_a_policy_that_would_break_keys(
    small: str, empty: Empty, tmp_path: Path, old: str, new: str, said: str
) -> None:
    assert old in POLICY
    with pytest.raises(InputError, match=said):
        copied(small, empty("sqlite"), tmp_path, POLICY.replace(old, new))
    assert not list(tmp_path.iterdir())


def test_everything_is_said_at_once(small: str, empty: Empty, tmp_path: Path) -> None:
    execute(small, "CREATE TABLE letters (id INTEGER)", "ALTER TABLE visits ADD COLUMN phone VARCHAR(20)")
    with pytest.raises(InputError, match=r"'phone'.*'letters'"):
        copied(small, empty("sqlite"), tmp_path)


def test_a_table_is_left_out_on_purpose_only(small: str, empty: Empty, tmp_path: Path) -> None:
    without = POLICY[: POLICY.index("  referrals:")] + POLICY[POLICY.index("  settings:") :]
    account = copied(small, empty("sqlite"), tmp_path, without + "leave_out: [referrals]\n")
    assert "table referrals (left out)" in account.not_copied
    assert "referrals" not in {one.table for one in account.tables}


def test_of_which_table_a_share_is_has_to_be_clear(small: str, empty: Empty, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="of which table"):
        copied(small, empty("sqlite"), tmp_path, POLICY.replace("    person: id\n", ""), sample=0.5)
    state = tmp_path / ".account.json.unfinished"
    assert not state.exists()


def test_what_may_hold_a_value_is_listed_and_not_copied(empty: Empty, tmp_path: Path) -> None:
    source, target = empty("sqlite"), empty("sqlite")
    execute(
        source,
        "CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT, age INTEGER CHECK (age >= 0),"
        " kind TEXT DEFAULT 'Smith', CONSTRAINT known CHECK (kind IN ('a', 'Jones')))",
        "CREATE VIEW adults AS SELECT id, age FROM people WHERE age >= 18",
        "CREATE VIEW smiths AS SELECT id FROM people WHERE name = 'Smith'",
        "CREATE TRIGGER told AFTER INSERT ON people BEGIN SELECT 1; END",
        "INSERT INTO people VALUES (1, 'Asha', 30, 'a'), (2, 'Ravi', 12, 'Jones')",
    )
    policy = """
shoal: 1
name: people
tables:
  people:
    attributes:
      id: {role: insensitive}
      name: {role: direct, technique: {pseudonymise: {domain: names}}}
      age: {role: quasi}
      kind: {role: insensitive}
"""
    account = copied(source, target, tmp_path, policy)
    assert account.views == ("adults",)
    assert rows(target, "SELECT * FROM adults") == [(1, 30)]
    (declared,) = rows(target, "SELECT sql FROM sqlite_master WHERE name = 'people'")
    assert "CHECK (age >= 0)" in declared[0]
    assert "Smith" not in declared[0]
    assert "Jones" not in declared[0]
    lost = " ".join(account.not_copied)
    for what in ("default of column kind", "check known", "view smiths (its definition holds a text)", "trigger told"):
        assert what in lost
