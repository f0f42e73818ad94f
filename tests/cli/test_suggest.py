"""``shoal suggest`` as users call it: what it writes, `shoal run` takes."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import polars as pl
import pytest
from tests.cli.conftest import Call

from shoal.examples import hospital
from shoal.policy.multi_table import MultiTablePolicy, load_any
from shoal.scan.policy_suggestion import without_password

pytestmark = pytest.mark.requirement("G-02", "D-04")


@pytest.fixture(autouse=True)
def tables(tmp_path: Path) -> None:
    folder = tmp_path / "clinic"
    folder.mkdir()
    people = hospital.table(people=120).cast(pl.String)
    people.write_csv(tmp_path / "patients.csv")
    people.select("patient_id", "age", "sex").unique("patient_id").write_csv(folder / "patients.csv")
    visits = people.select(pl.col("patient_id"), pl.col("admitted"), pl.col("diagnosis"))
    pl.concat([visits, visits.head(40)]).write_csv(folder / "visits.csv")


def test_what_is_suggested_runs_and_meets_its_k(call: Call, tmp_path: Path) -> None:
    ended = call("suggest", "patients.csv", "-o", "policy.yaml", "--use-case", "external-sharing")
    assert ended.code == 0
    assert "shoal run policy.yaml" in ended.stdout
    assert call("check", "policy.yaml").code == 0
    ran = call("run", "policy.yaml", "--output", "release", "--json")
    assert ran.code == 0
    assert ran.found["risk"]["k"] >= 5


@pytest.mark.parametrize(
    "label",
    ["write to asha@clinic.in", "call +91 98450 12345 first", "seen by Dr Asha Rao", "PAN ACUPA7085R on file"],
)
def test_labels_that_name_people_are_left_out(call: Call, tmp_path: Path, label: str) -> None:
    labels = [label, "seen at the desk", "sent home the same day", "comes again next week"]
    rows = "".join(f"{20 + n % 9},{labels[n % 4]}\n" for n in range(200))
    (tmp_path / "visits.csv").write_text("age,remark\n" + rows, encoding="utf-8")
    assert call("suggest", "visits.csv", "-o", "policy.yaml").code == 0
    assert call("run", "policy.yaml", "-o", "out").code == 0
    assert "remark" not in (tmp_path / "out" / "data.csv").read_text(encoding="utf-8")
    profiled = call("profile", "visits.csv", "--json").found["columns"][1]
    assert (profiled["role"], profiled["technique"]) == ("direct", "suppress")


def test_without_a_file_it_is_printed(call: Call, tmp_path: Path) -> None:
    ended = call("suggest", "patients.csv")
    assert ended.stdout.startswith("# A policy to start from: sharing with an outside party.")
    (tmp_path / "policy.yaml").write_text(ended.stdout)
    assert call("check", "policy.yaml").code == 0


def test_paths_are_as_seen_from_the_policy(call: Call, tmp_path: Path) -> None:
    (tmp_path / "policies").mkdir()
    assert call("suggest", "patients.csv", "-o", "policies/policy.yaml").code == 0
    assert "\nsource: ../patients.csv\n" in (tmp_path / "policies" / "policy.yaml").read_text().replace('"', "")
    assert call("check", "policies/policy.yaml").code == 0


def test_json_has_the_choices_with_reasons(call: Call) -> None:
    found = call("suggest", "patients.csv", "--use-case", "retention", "--json").found
    assert found["attributes"]["aadhaar"]["technique"] == "suppress"
    assert "Aadhaar" in found["attributes"]["aadhaar"]["reason"]
    assert found["attributes"]["bill"]["technique"] == {"noise": {"multiplicative": {"sd": 0.05}}}


def test_a_folder_is_a_policy_of_several_tables_that_nothing_joins(call: Call, tmp_path: Path) -> None:
    """Data that leaves the house has no keys left, and its policy runs as it is."""
    told = call("suggest", "clinic", "-o", "policy.yaml")
    assert told.code == 0
    assert "could be joined by patients.patient_id, visits.patient_id: as keys they are taken out" in told.stdout
    policy = load_any(tmp_path / "policy.yaml")
    assert isinstance(policy, MultiTablePolicy)
    assert policy.tables["visits"].person == "patient_id"
    ran = call("run", "policy.yaml", "--output", "release", "--json")
    assert ran.code == 0
    assert not [one for one in ran.found["references"] if one["kept"]]
    joined = ran.found["joined"]
    assert (joined["required"], joined["met"], joined["keys"]) == (5, True, [])
    assert "patient_id" not in pl.read_csv(tmp_path / "release" / "visits" / "data.csv").columns
    assert call("measure", "release", "--policy", "policy.yaml", "--require", "joined_k=5").code == 0


def test_tables_stay_joinable_inside_or_where_that_is_asked(call: Call, tmp_path: Path) -> None:
    assert call("suggest", "clinic", "-o", "inside.yaml", "--use-case", "internal-anonymised").code == 0
    assert call("suggest", "clinic", "-o", "asked.yaml", "--keep-joinable").code == 0
    assert '# joined: {accept: "who gets the tables' in (tmp_path / "asked.yaml").read_text()
    stopped = call("run", "asked.yaml", "--output", "release")
    assert stopped.code == 2
    assert "joined by patients.patient_id, visits.patient_id, the tables leave k = " in stopped.stderr
    assert not (tmp_path / "release").exists()
    ran = call("run", "inside.yaml", "--output", "release", "--json")
    assert ran.code == 0
    (kept,) = [one for one in ran.found["references"] if one["kept"]]
    assert (kept["from"], kept["to"], kept["orphans"]) == ("visits.patient_id", "patients.patient_id", 0)
    released = pl.read_csv(tmp_path / "release" / "visits" / "data.csv")
    original = pl.read_csv(tmp_path / "clinic" / "visits.csv")
    assert not set(released["patient_id"]) & set(original["patient_id"])


def test_tables_in_the_same_order_are_shuffled(call: Call, tmp_path: Path) -> None:
    (tmp_path / "pairs").mkdir()
    people = pl.DataFrame({"person_id": [f"P{n:04}" for n in range(40)], "age": [30 + n % 2 for n in range(40)]})
    people.write_csv(tmp_path / "pairs" / "people.csv")
    towns = people.select("person_id", town=pl.Series([f"T{n % 4}" for n in range(40)]))
    towns.write_csv(tmp_path / "pairs" / "towns.csv")
    assert call("suggest", "pairs", "-o", "policy.yaml").code == 0
    policy = load_any(tmp_path / "policy.yaml")
    assert isinstance(policy, MultiTablePolicy)
    assert [name for name, table in policy.tables.items() if "shuffle_rows" in table.table_steps] == ["people", "towns"]
    assert call("run", "policy.yaml", "--output", "release").code == 0


def test_a_database_says_itself_what_refers_to_what(call: Call, tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "clinic.db") as database:
        database.execute("CREATE TABLE owners (nr INTEGER PRIMARY KEY, town TEXT)")
        database.execute("CREATE TABLE pets (owner INTEGER REFERENCES owners(nr), kind TEXT)")
        database.execute("CREATE TABLE nothing_yet (a TEXT)")
        database.executemany("INSERT INTO owners VALUES (?, ?)", [(n, f"Town {n % 3}") for n in range(30)])
        database.executemany("INSERT INTO pets VALUES (?, ?)", [(n % 30, "cat") for n in range(60)])
    database.close()
    assert call("suggest", "sqlite:///clinic.db", "-o", "policy.yaml", "--use-case", "internal-anonymised").code == 0
    policy = load_any(tmp_path / "policy.yaml")
    assert isinstance(policy, MultiTablePolicy)
    assert set(policy.tables) == {"owners", "pets"}, "a table without records has nothing to go by"
    ran = call("run", "policy.yaml", "--output", "release", "--json")
    assert ran.code == 0
    assert [one["kept"] for one in ran.found["references"]] == [True]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("patients.csv", "--use-case", "external"), "did you mean 'external-sharing'"),
        (("patients.csv", "--keep-joinable"), "--keep-joinable is about several tables"),
        (("patients.csv", "--person", "patientid"), "did you mean 'patient_id'"),
        (("patient.csv",), "did you mean 'patients.csv'"),
        (("patients.csv", "-o", "clinic/patients.csv"), "exists already"),
        (("patients.csv", "-o", "no/policy.yaml"), "folder does not exist"),
        (("clinic", "--person", "patient_id"), "about one table"),
        (("empty",), "holds no file that is a table"),
    ],
)
def test_wrong_input(call: Call, tmp_path: Path, arguments: tuple[str, ...], said: str) -> None:
    (tmp_path / "empty").mkdir()
    ended = call("suggest", *arguments)
    assert ended.code == 2
    assert said in ended.stderr


def test_a_password_does_not_get_into_a_policy(tmp_path: Path) -> None:
    assert "geheim" not in without_password("postgresql://me:geheim@db:5432/x", tmp_path)
    kept = "postgresql://me:${OWN}@db/x"
    assert without_password(kept, tmp_path) == kept
    assert without_password("postgresql://db/x", tmp_path) == "postgresql://db/x"
