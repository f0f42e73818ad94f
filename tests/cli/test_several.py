"""``shoal run`` and ``shoal check`` with a policy of several tables, as users call them."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from tests.cli.conftest import Call

POLICY = """\
shoal: 1
name: clinic
tables:
  people:
    source: people.csv
    person: id
    attributes:
      id: {role: direct, technique: {pseudonymise: {domain: people}}}
      age: {role: quasi, hierarchy: {intervals: {widths: [10, 20]}}}
    privacy: [{k_anonymity: {k: 5}}]
  visits:
    source: visits.csv
    attributes:
      person: {role: direct, technique: {pseudonymise: {domain: people}}}
      ward: {role: insensitive}
references:
  - {from: visits.person, to: people.id}
"""


@pytest.fixture(autouse=True)
def clinic(call: Call) -> None:
    """In the folder that the command is called in."""
    pl.DataFrame({"id": range(40), "age": [20 + place * 7 % 40 for place in range(40)]}).write_csv("people.csv")
    pl.DataFrame({"person": [*range(40), 99], "ward": ["W"] * 41}).write_csv("visits.csv")
    Path("policy.yaml").write_text(POLICY)


def test_a_run_tells_of_every_table_and_every_reference(call: Call) -> None:
    done = call("run", "policy.yaml", "--output", "out")
    assert done.code == 0, done.stderr
    assert "people" in done.stdout
    assert "visits.person → people.id: kept, 1 record without a counterpart" in done.stdout
    assert "report:   out/report.html" in done.stdout
    assert done.stdout.startswith("not judged: what can be joined says no more of a person than one table does")
    shared = [line for line in done.stderr.splitlines() if "still tells" not in line]
    assert len(shared) == 2, "what all tables have in common is said once"
    assert "in another form: people.id, visits.person; what they join is in the joined k only" in done.stderr
    assert Path("out/visits/release.json").is_file()
    assert call("run", "policy.yaml", "--output", "out").code == 2
    again = call("run", "policy.yaml", "--output", "out", "--force", "--json")
    assert again.code == 0
    assert again.found == json.loads(Path("out/release.json").read_text())
    assert again.found["tables"] == {"people": "people/release.json", "visits": "visits/release.json"}


def test_without_an_output_the_folder_is_named_after_the_policy(call: Call) -> None:
    assert call("run", "policy.yaml").code == 0
    assert Path("clinic-release/release.json").is_file()


def test_a_check_looks_at_the_data_of_every_table_and_writes_nothing(call: Call) -> None:
    before = sorted(Path().iterdir())
    done = call("check", "policy.yaml")
    assert (done.code, done.stdout.splitlines()) == (
        0,
        ["visits.person → people.id: declared", "policy.yaml: no problems"],
    )
    found = call("check", "policy.yaml", "--json").found
    assert found["references"] == [{"from": "visits.person", "to": "people.id", "kept": True, "found": None}]
    assert sorted(Path().iterdir()) == before
    Path("visits.csv").write_text("person,wrad\n1,W\n")
    wrong = call("check", "policy.yaml")
    assert wrong.code == 2
    assert "wrad" in wrong.stderr


def test_every_problem_comes_with_its_line(call: Call) -> None:
    wrong = POLICY.replace("ward: {role: insensitive}", "ward: {role: insensitive, technique: {noise: {days: -1}}}")
    Path("policy.yaml").write_text(wrong + "  - {from: people.idd, to: people.age}\n")
    done = call("check", "policy.yaml")
    assert done.code == 2
    lines = [line.partition(", column")[0] for line in done.stderr.splitlines()]
    assert lines == ["policy.yaml: line 15", "policy.yaml: line 18"]
    Path("policy.yaml").write_text(POLICY.replace("visits.person", "visits.persn"))
    assert "policy.yaml: line 17, column 6: references.0.from:" in call("run", "policy.yaml").stderr


def test_input_is_a_folder(call: Call) -> None:
    Path("there").mkdir()
    for name in ("people.csv", "visits.csv"):
        Path(name).rename(Path("there") / name)
    assert call("run", "policy.yaml", "--output", "out").code == 2
    assert call("check", "policy.yaml", "--input", "there").code == 0
    assert call("run", "policy.yaml", "--input", "there", "--output", "out").code == 0
    wrong = call("run", "policy.yaml", "--input", "there/people.csv", "--output", "other")
    assert wrong.code == 2
    assert "--input FOLDER" in wrong.stderr


def test_what_takes_one_table_says_so(call: Call) -> None:
    for arguments in (("explore", "policy.yaml"), ("measure", "people.csv", "--policy", "policy.yaml")):
        done = call(*arguments)
        assert done.code == 2
        assert "line 3, column 1: tables: a policy of several tables can't be used here" in done.stderr
    control = call("run", "policy.yaml", "--control", "people.csv", "--output", "out")
    assert control.code == 2
    assert "a control group is for one table" in control.stderr


def test_evidence_is_gathered_for_each_table(call: Call) -> None:
    assert call("run", "policy.yaml", "--output", "out", "--evidence", "--seed", "1").code == 0
    told = json.loads(Path("out/people/release.json").read_text())
    assert "usefulness" in told


def test_the_schema_covers_all_kinds_of_policy(call: Call) -> None:
    schema = call("check", "--schema").found
    assert [set(kind["required"]) for kind in schema["oneOf"]] == [
        {"shoal", "name", "attributes"},
        {"shoal", "name", "tables"},
        {"shoal", "name", "documents", "attributes"},
    ]
