"""``shoal merge``, and policies whose source is a mapping."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from tests.cli.conftest import Call

import shoal

MAPPING = """
shoal: 1
columns: {place: text, sex: text, age: integer}
sources:
  - source: {path: north.csv, separator: ";"}
    columns: {place: {constant: north}, sex: {from: gender, values: {m: male, f: female}}, age: years}
    drop: [name]
  - source: south.jsonl
    keep: [sex, age]
    columns: {place: {constant: south}}
"""
POLICY = """
shoal: 1
name: both
source: {merge: mappings/both.yaml}
attributes:
  place: {role: insensitive}
  sex: {role: quasi}
  age: {role: quasi, hierarchy: {intervals: {widths: [10, 50]}}}
privacy: [{k_anonymity: {k: 5}}]
"""


@pytest.fixture
def both(tmp_path: Path) -> Path:
    folder = tmp_path / "mappings"
    folder.mkdir()
    north = [f"N{place};{'mf'[place % 2]};{20 + place % 40}" for place in range(300)]
    (folder / "north.csv").write_text("name;gender;years\n" + "\n".join(north) + "\n")
    south = [json.dumps({"sex": ["male", "female"][place % 2], "age": 25 + place % 30}) for place in range(200)]
    (folder / "south.jsonl").write_text("\n".join(south) + "\n")
    (folder / "both.yaml").write_text(MAPPING)
    (tmp_path / "policy.yaml").write_text(POLICY)
    return tmp_path


def test_the_table_is_written_and_its_parts_are_told(call: Call, both: Path) -> None:
    ended = call("merge", "mappings/both.yaml", "-o", "both.csv")
    assert ended.code == 0
    assert "300 records of north.csv" in ended.stdout
    assert "500 records in 3 columns" in ended.stdout
    written = pl.read_csv(both / "both.csv")
    assert written.columns == ["place", "sex", "age"]
    assert written["place"].to_list() == ["north"] * 300 + ["south"] * 200
    assert set(written["sex"]) == {"male", "female"}
    again = call("merge", "mappings/both.yaml", "-o", "again.csv")
    assert again.code == 0
    assert (both / "again.csv").read_bytes() == (both / "both.csv").read_bytes()


def test_without_an_output_it_is_only_checked(call: Call, both: Path) -> None:
    before = sorted(both.rglob("*"))
    ended = call("merge", "mappings/both.yaml", "--json")
    assert ended.found["records"] == 500
    assert ended.found["columns"] == {"place": "text", "sex": "text", "age": "integer"}
    assert ended.found["sources"][1] == {"source": "south.jsonl", "records": 200}
    assert sorted(both.rglob("*")) == before


def test_a_file_that_is_there_is_not_replaced(call: Call, both: Path) -> None:
    (both / "both.csv").write_text("mine")
    assert call("merge", "mappings/both.yaml", "-o", "both.csv").code == 2
    assert (both / "both.csv").read_text() == "mine"


def test_problems_are_told_one_by_one_and_nothing_is_written(call: Call, both: Path) -> None:
    mapping = both / "mappings" / "both.yaml"
    mapping.write_text(MAPPING.replace("drop: [name]", "drop: []").replace("age: years", "age: yeers"))
    ended = call("merge", "mappings/both.yaml", "-o", "both.csv")
    assert ended.code == 2
    assert ended.stderr.count("mappings/both.yaml: line ") == 2
    assert "did you mean 'years'" in ended.stderr
    assert not (both / "both.csv").exists()


def test_the_schema_and_a_missing_mapping(call: Call, both: Path) -> None:
    schema = call("merge", "--schema").found
    assert set(schema["properties"]) == {"shoal", "columns", "sources"}
    assert call("merge").code == 2
    absent = call("merge", "mappings/neither.yaml")
    assert (absent.code, "there is no such mapping file" in absent.stderr) == (2, True)


def test_a_policy_merges_by_itself(call: Call, both: Path) -> None:
    assert call("check", "policy.yaml").code == 0
    assert call("run", "policy.yaml", "-o", "release").code == 0
    released = pl.read_csv(both / "release" / "data.csv")
    assert released.height == 500
    manifest = json.loads((both / "release" / "release.json").read_text())
    assert manifest["source"]["name"] == "both.yaml"
    assert manifest["risk"]["k"] >= 5
    call("merge", "mappings/both.yaml", "-o", "both.csv")
    by_hand = shoal.anonymise(pl.read_csv(both / "both.csv"), POLICY.replace("source:", "#"))
    assert by_hand.data["age"].to_list() == released["age"].to_list()


def test_what_stands_beside_merge_is_refused(both: Path) -> None:
    text = POLICY.replace("{merge: mappings/both.yaml}", "{merge: mappings/both.yaml, separator: ';'}")
    with pytest.raises(shoal.ShoalError, match="all else about its sources stands in there"):
        shoal.Policy.from_text(text, folder=both)


def test_a_table_of_several_may_be_merged(call: Call, both: Path) -> None:
    one = "\n".join(f"    {line}" for line in POLICY.splitlines() if line and not line.startswith(("shoal", "name")))
    (both / "several.yaml").write_text(f"shoal: 1\nname: several\ntables:\n  people:\n{one}\n")
    ended = call("run", "several.yaml", "-o", "several")
    assert (ended.code, (both / "several" / "people").is_dir()) == (0, True)
