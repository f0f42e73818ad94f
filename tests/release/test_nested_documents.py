"""A run of nested documents: what is judged, what comes out, what stops it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.errors import InputError, PolicyError, ShoalError
from shoal.io import sha256_of
from shoal.policy.multi_table import MultiTablePolicy, any_from_text
from shoal.release.multi_table.run import release_tables

pytestmark = pytest.mark.requirement("D-11")

SHY = "Zyxwvut"
"""Stands in every name of the data, and must be in nothing that is written."""
POLICY = """\
shoal: 1
name: clinic
documents: patients.json
person: _id
attributes:
  _id: {role: direct, technique: {pseudonymise: {domain: patients}}}
  name: suppress
  age: {role: quasi, hierarchy: {intervals: {widths: [10, 20, 40]}}}
  address.code: {role: quasi, hierarchy: {redact: {side: right, char: "x"}}}
  phone: {role: direct, technique: {mask: {keep_last: 2}}}
  visits[].at: {role: insensitive}
  visits[].doctor: suppress
  visits[].fee: {role: insensitive, technique: {round: {base: 100}}}
  visits[].codes[]: {role: sensitive}
privacy:
  - k_anonymity: {k: 3}
"""


def patient(number: int) -> dict[str, Any]:
    visits = [
        {
            "at": {"$date": f"2026-01-{1 + visit:02d}T09:00:00.000Z"},
            "doctor": {"name": f"{SHY} {visit}"},
            "fee": {"$numberLong": str(149 + 100 * visit)},
            "codes": ["I10", "E11"][: visit + number % 2],
        }
        for visit in range(number % 3)
    ]
    return {
        "_id": {"$oid": f"{number:024x}"},
        "name": f"{SHY} {number}",
        "age": 31 + number % 2 * 30 + number % 7,
        "address": {"code": f"56000{number % 3}"},
        "phone": f"98765{number:05d}",
        "visits": visits,
    }


def policy(tmp_path: Path, text: str = POLICY) -> MultiTablePolicy:
    read = any_from_text(text, folder=tmp_path)
    assert isinstance(read, MultiTablePolicy)
    return read


def write(tmp_path: Path, documents: list[Any]) -> None:
    (tmp_path / "patients.json").write_text("".join(f"{json.dumps(one)}\n" for one in documents), encoding="utf-8")


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_documents_come_out_in_their_shape_and_order(tmp_path: Path) -> None:
    documents = [patient(number) for number in range(60)]
    write(tmp_path, documents)
    whole = release_tables(policy(tmp_path), tmp_path / "release", seed=1)
    (told,) = whole.files
    assert (told.path, told.rows) == ("documents.jsonl", 60)
    assert told.sha256 == sha256_of(tmp_path / "release" / "documents.jsonl")
    manifest = json.loads((tmp_path / "release" / "release.json").read_text())
    assert manifest["files"][0]["sha256"] == told.sha256

    written = lines(tmp_path / "release" / "documents.jsonl")
    for before, after in zip(documents, written, strict=True):
        assert list(after) == ["_id", "age", "address", "phone", "visits"]
        assert isinstance(after["_id"], str)
        assert after["_id"] != before["_id"]["$oid"]
        assert after["phone"] == "*" * 8 + before["phone"][-2:]
        assert after["visits"] == [
            {
                "at": visit["at"],
                "fee": {"$numberLong": str(round(int(visit["fee"]["$numberLong"]), -2))},
                "codes": visit["codes"],
            }
            for visit in before["visits"]
        ]
    classes = pl.DataFrame([(str(one["age"]), one["address"]["code"]) for one in written], orient="row")
    assert classes.group_by(pl.all()).len()["len"].min() >= 3
    for path in (tmp_path / "release").rglob("*"):
        assert path.is_dir() or SHY.encode() not in path.read_bytes()


def test_values_are_those_that_the_same_techniques_make_of_a_table(tmp_path: Path) -> None:
    documents = [patient(number) for number in range(60)]
    write(tmp_path, documents)
    release_tables(policy(tmp_path), tmp_path / "release", seed=1)
    written = lines(tmp_path / "release" / "documents.jsonl")
    names = ("age", "address.code", "phone")
    flat = pl.DataFrame({"age": [one["age"] for one in documents], "phone": [one["phone"] for one in documents]})
    flat = flat.with_columns(pl.Series("address.code", [one["address"]["code"] for one in documents]))
    attributes = {name: part for name, part in _yaml(POLICY)["attributes"].items() if name in names}
    one = {"shoal": 1, "name": "flat", "attributes": attributes, "privacy": [{"k_anonymity": {"k": 3}}]}
    table = shoal.anonymise(flat, one, seed=1).data
    assert [one["age"] for one in written] == table["age"].to_list()
    assert [one["phone"] for one in written] == table["phone"].to_list()
    assert [one["address"]["code"] for one in written] == table["address.code"].to_list()


def _yaml(text: str) -> dict[str, Any]:
    import yaml

    read: dict[str, Any] = yaml.safe_load(text)
    return read


def test_the_same_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    write(tmp_path, [patient(number) for number in range(30)])
    for name in ("one", "other"):
        release_tables(policy(tmp_path), tmp_path / name, seed=7)
    assert sha256_of(tmp_path / "one" / "documents.jsonl") == sha256_of(tmp_path / "other" / "documents.jsonl")


def test_a_path_that_the_policy_doesnt_know_stops_the_run(tmp_path: Path) -> None:
    write(tmp_path, [*(patient(number) for number in range(30)), {**patient(30), "diary": SHY}])
    with pytest.raises(InputError, match="doesn't name 'diary'") as caught:
        release_tables(policy(tmp_path), tmp_path / "release")
    assert SHY not in str(caught.value)
    assert not (tmp_path / "release").exists()


def test_what_all_parts_of_a_document_say_together_is_counted(tmp_path: Path) -> None:
    """Each table has its k, and whoever knows the age and the visits finds people all the same."""
    text = POLICY.replace("visits[].at: {role: insensitive}", "visits[].at: {role: quasi}")
    documents = [patient(number) for number in range(60)]
    documents[0]["visits"] = [{**patient(2)["visits"][0], "codes": []}] * 5
    write(tmp_path, documents)
    with pytest.raises(ShoalError, match="the tables leave k = 1"):
        release_tables(policy(tmp_path, text), tmp_path / "release")
    assert not (tmp_path / "release").exists()


def test_elements_of_one_person_are_not_several_people(tmp_path: Path) -> None:
    text = POLICY.replace("visits[].at: {role: insensitive}", "visits[].at: {role: quasi}")
    text = text.replace("privacy:", "joined: {accept: the table alone is looked at here}\nprivacy:")
    documents = [patient(number * 3) for number in range(30)]
    documents[0]["visits"] = patient(1)["visits"] * 9
    write(tmp_path, documents)
    with pytest.raises(ShoalError, match="fails for 9 of 9 records"):
        release_tables(policy(tmp_path, text), tmp_path / "release")


def test_an_array_without_elements_in_any_document_is_no_table(tmp_path: Path) -> None:
    write(tmp_path, [{**patient(number), "visits": []} for number in range(30)])
    whole = release_tables(policy(tmp_path), tmp_path / "release", seed=1)
    assert list(whole.releases) == ["documents"]
    assert all(one["visits"] == [] for one in lines(tmp_path / "release" / "documents.jsonl"))


def test_a_release_of_documents_is_measured_and_attacked_as_its_tables(tmp_path: Path) -> None:
    from shoal.assess.multi_table.table_set import originals_of, table_set_at

    write(tmp_path, [patient(number) for number in range(60)])
    (tmp_path / "clinic.yaml").write_text(POLICY)
    whole = release_tables(policy(tmp_path), tmp_path / "release", seed=1)
    tables = table_set_at(str(tmp_path / "release"), tmp_path / "clinic.yaml")
    assert tables is not None
    again, before = tables.joined().worst, whole.joined.worst
    assert again is not None
    assert before is not None
    assert again.k == before.k >= 3
    assert set(originals_of(tables, str(tmp_path / "patients.json"))) == {"documents", "visits", "visits-codes"}


@pytest.mark.parametrize(
    ("was", "becomes", "line", "told"),
    [
        ("  age:", "  age..x:", 8, "is no path"),
        ("  name: suppress", '  "*": {role: insensitive}', 7, "can only be suppressed"),
        ("visits[].doctor: suppress", "visits[]: suppress", 12, "which is named too"),
        ("person: _id", "person: id", 4, "'id' is not among the attributes"),
        ("person: _id", "person: age", 4, "a quasi-identifier, so it names nobody"),
        ("  - k_anonymity: {k: 3}", "  - l_diversity: {attribute: codes, l: 2, kind: distinct}", 16, "not among"),
        ("{round: {base: 100}}", "{round: {bsae: 100}}", 13, "bsae"),
        ("privacy:", "sample: {fraction: 0.5}\nprivacy:", 15, "unknown key 'sample'"),
        ("privacy:", "solve: {decoys: {limit: 0.1}}\nprivacy:", 15, "have no place in documents"),
        ("privacy:", "joined: {unlink: true}\nprivacy:", 15, "its parts together"),
        ("  name: suppress", "  entry[Visit].name: suppress", 3, "what tells the kinds of 'entry' apart"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(was: str, becomes: str, line: int, told: str, tmp_path: Path) -> None:
    assert was in POLICY
    with pytest.raises(PolicyError) as caught:
        policy(tmp_path, POLICY.replace(was, becomes))
    found = [(problem.line, problem.message) for problem in caught.value.problems]
    assert any(at == line and told in message for at, message in found), found


def test_whose_an_element_is_cant_be_hidden_where_the_order_tells_it(tmp_path: Path) -> None:
    text = """\
shoal: 1
name: bundle
documents: {path: bundle.json, kinds: {entry: kind}}
person: ["entry[Patient].id"]
attributes:
  entry[Patient].id: suppress
  entry[Patient].kind: {role: insensitive}
"""
    with pytest.raises(PolicyError, match="which tells whose they are"):
        policy(tmp_path, text)


def test_a_policy_of_documents_is_none_of_a_table() -> None:
    with pytest.raises(PolicyError, match="nested documents can't be used here"):
        shoal.Policy.from_text(POLICY)
