"""``shoal profile --sets`` and ``--safe-harbor``."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.cli.conftest import Call

pytestmark = pytest.mark.requirement("D-06", "R-03")


@pytest.fixture(autouse=True)
def table(tmp_path: Path) -> None:
    """Town and job each fit several people; together they single out one, and job and grade another."""
    rows = ["town,job,grade,amount,same,who,email"]
    people = [("A", "cook", 1), ("A", "cook", 1), ("A", "smith", 1), ("B", "cook", 2), ("B", "cook", 2)]
    for number, (town, job, grade) in enumerate(people * 1 + [("B", "smith", 2), ("B", "smith", 2)]):
        rows.append(f"{town},{job},{grade},{number}.25,x,{number // 2},p{number}@example.org")
    (tmp_path / "people.csv").write_text("\n".join(rows) + "\n")
    (tmp_path / "clean.csv").write_text("grade,score\n" + "1,2\n2,3\n" * 20)
    (tmp_path / "one.csv").write_text("town,job\nA,cook\n")


def test_sets_are_ranked_and_minimal_ones_named(call: Call) -> None:
    ended = call("profile", "people.csv", "--sets", "--json")
    found = ended.found["sets"]
    assert ended.code == 0
    assert {tuple(one["attributes"]) for one in found["minimal"]} >= {("town", "job")}
    alone = [one["uniqueness"] for one in found["sets"]]
    assert alone == sorted(alone, reverse=True)
    by_name = {tuple(one["attributes"]): one for one in found["sets"]}
    assert by_name["town", "job"]["alone"] == 1
    assert by_name["town", "job"]["distinction"] == pytest.approx(4 / 7)
    assert by_name["town", "job"]["separation"] == pytest.approx(1 - 3 / 21)


def test_what_is_left_out_is_explained(call: Call) -> None:
    left_out = call("profile", "people.csv", "--sets", "--person", "who", "--json").found["sets"]["left_out"]
    assert left_out["who"] == "it names the person"
    assert "direct identifier" in left_out["email"]
    assert left_out["same"] == "no two records differ in it"
    assert "outsiders seldom know" in left_out["amount"]


def test_sets_of_one_size_only(call: Call) -> None:
    found = call("profile", "people.csv", "--sets", "--max-size", "1", "--json").found["sets"]
    assert all(len(one["attributes"]) == 1 for one in found["sets"])
    assert found["searched"]["size"] == 1


def test_people_read_a_ranked_table(call: Call) -> None:
    ended = call("profile", "people.csv", "--sets")
    assert ended.code == 0
    assert "Sets of attributes that tell people apart" in ended.stdout
    assert "Smallest sets that single somebody out" in ended.stdout
    assert "email: a direct identifier" in ended.stdout
    assert "example.org" not in ended.stdout


def test_safe_harbor_is_a_gate(call: Call) -> None:
    found = call("profile", "people.csv", "--safe-harbor", "--json")
    letters = [one["letter"] for one in found.found["safe_harbor"]["findings"] if one["columns"]]
    assert found.code == 1
    assert "F" in letters
    assert len(found.found["safe_harbor"]["findings"]) == 18

    clean = call("profile", "clean.csv", "--safe-harbor", "--json")
    assert clean.code == 0
    assert clean.found["safe_harbor"]["met"] is True


def test_safe_harbor_is_printed_by_letter(call: Call) -> None:
    ended = call("profile", "people.csv", "--safe-harbor")
    letters = re.findall(r"^  ([A-Z])   ", ended.stdout, re.MULTILINE)
    assert ended.code == 1
    assert letters == list("ABCDEFGHIJKLMNOPQR")
    assert "example.org" not in ended.stdout


def test_a_plain_profile_is_what_it_was(call: Call) -> None:
    ended = call("profile", "people.csv", "--json")
    assert ended.code == 0
    assert {"sets", "safe_harbor"}.isdisjoint(ended.found)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("people.csv", "--max-size", "2"), "give --sets too"),
        (("people.csv", "--person", "who"), "give --sets too"),
        (("people.csv", "--sets", "--max-size", "0"), "one attribute or more"),
        (("people.csv", "--sets", "--person", "wo"), "did you mean 'who'"),
        (("one.csv", "--sets"), "fewer than two records"),
    ],
)
def test_wrong_use_is_one_clear_line(call: Call, arguments: tuple[str, ...], says: str) -> None:
    ended = call("profile", *arguments)
    assert ended.code == 2
    assert len(ended.stderr.splitlines()) == 1
    assert says in ended.stderr
