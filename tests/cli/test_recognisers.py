"""Recognisers of one's own in every command that looks for personal data, found, named or told by the policy."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.policies import policy_text

from shoal.discover.recognisers import PROJECT_FILE

from .conftest import Call

pytestmark = pytest.mark.requirement("D-10")

OWN = r"""
badge:
  title: a staff badge number
  role: direct
  because: worn in sight
  pattern: 'ZQ[0-9]{4}'
  strength: 0.9
  technique: suppress
  text: {score: 0.9}
  examples: [ZQ1234 is hers]
"""
SCRUBBED = "technique: {scrub: {types: [badge, email], allow: [desk@clinic.in], deny: [Heron]}}"
POLICY = policy_text("visits.csv", "", {"remark": SCRUBBED}, direct="worn", insensitive="remark")
REMARK = "she is ZQ1234 of Heron, see desk@clinic.in or asha@clinic.in"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "own.yaml").write_text(OWN, encoding="utf-8")
    rows = "".join(f"ZQ{1000 + n};{REMARK}\n" for n in range(50))
    (tmp_path / "visits.csv").write_text("worn;remark\n" + rows, encoding="utf-8")
    (tmp_path / "note.txt").write_text(REMARK + "\n", encoding="utf-8")
    (tmp_path / "policy.yaml").write_text(POLICY, encoding="utf-8")
    return tmp_path


def found(call: Call, *flags: str) -> dict[str, bool]:
    """Which commands know the badge."""
    scan = call("scan", "note.txt", "--json", *flags).found
    profile = call("profile", "visits.csv", "--json", *flags).found
    return {
        "scan": "badge" in {one["type"] for one in scan["findings"]},
        "profile": "badge" in str(profile["columns"][0]),
        "suggest": "a staff badge number" in call("suggest", "visits.csv", *flags).stdout,
        "scrub": "[BADGE]" in call("scrub", "note.txt", *flags).stdout,
    }


def test_files_are_used_where_they_are_named_or_lie_in_the_folder(call: Call, folder: Path) -> None:
    assert set(found(call).values()) == {False}
    assert set(found(call, "--recognisers", "own.yaml").values()) == {True}
    (folder / "own.yaml").rename(folder / PROJECT_FILE)
    assert set(found(call).values()) == {True}
    assert "shoal-recognisers.yaml: 1 recogniser(s) of your own are used" in call("scrub", "note.txt").stderr


IN_TEXT_ONLY = r"""
lists: {wards: [Nightingale, Curie]}
bed: {title: a bed, role: quasi, because: visitors know it, text: {pattern: '<wards>-[0-9]{2}', score: 0.8}}
trial: {title: a trial, role: quasi, because: few take part, text: {words: [Blue Heron, Red Kite], score: 0.7}}
"""


def test_what_a_file_knows_in_text_is_known_in_columns_too(call: Call, tmp_path: Path) -> None:
    (tmp_path / PROJECT_FILE).write_text(IN_TEXT_ONLY, encoding="utf-8")
    rows = [f"Curie-{n % 7:02};red kite;moved to Curie-{n % 9:02} for Red Kite\n" for n in range(60)]
    (tmp_path / "moves.csv").write_text("place;of;note\n" + "".join(rows), encoding="utf-8")
    columns = call("profile", "moves.csv", "--json").found["columns"]
    assert [one["recognised"] for one in columns] == ["bed", "trial", None]
    findings = call("scan", "moves.csv", "--json").found["findings"]
    assert {(one["place"], one["type"]) for one in findings} >= {
        ("column 'place'", "bed"),
        ("column 'of'", "trial"),
        ("texts in column 'note'", "bed"),
        ("texts in column 'note'", "trial"),
    }


def test_a_run_uses_those_of_its_policy(call: Call, folder: Path) -> None:
    unknown = call("run", "policy.yaml", "-o", "out")
    assert (unknown.code, "nothing is recognised as 'badge'" in unknown.stderr) == (2, True)
    (folder / "policy.yaml").write_text(POLICY + "recognisers: own.yaml\n", encoding="utf-8")
    assert call("check", "policy.yaml").code == 0
    assert call("run", "policy.yaml", "-o", "out").code == 0
    written = (folder / "out" / "data.csv").read_text(encoding="utf-8").splitlines()[1]
    assert written == "she is [BADGE] of [LISTED], see desk@clinic.in or [EMAIL]"


def test_a_suggested_policy_names_the_files(call: Call, folder: Path) -> None:
    made = call("suggest", "visits.csv", "--recognisers", "own.yaml", "-o", "made.yaml")
    assert made.code == 0, made.stderr
    assert "recognisers: [own.yaml]" in (folder / "made.yaml").read_text(encoding="utf-8")
    assert call("check", "made.yaml").code == 0


@pytest.mark.parametrize("command", [["scan", "note.txt"], ["scrub", "note.txt"], ["run", "policy.yaml"]])
def test_a_file_with_a_problem_stops_everything(call: Call, folder: Path, command: list[str]) -> None:
    (folder / PROJECT_FILE).write_text(OWN.replace("role: direct", "role: dirct"), encoding="utf-8")
    refused = call(*command)
    assert (refused.code, refused.stdout) == (2, "")
    assert "shoal-recognisers.yaml: line 4, column 3: badge.role" in refused.stderr


def test_a_file_that_weakens_ours_is_said_to(call: Call, folder: Path) -> None:
    weak = "email: {title: x, role: direct, because: so, text: {pattern: zzz}}\n"
    (folder / "own.yaml").write_text(weak, encoding="utf-8")
    assert "1 in the place of ours (email)" in call("scrub", "note.txt", "--recognisers", "own.yaml").stderr


@pytest.mark.usefixtures("folder")
def test_lists_at_the_command_line(call: Call) -> None:
    done = call("scrub", "note.txt", "--allow", "desk@clinic.in", "--deny", "heron")
    assert "of [LISTED], see desk@clinic.in or [EMAIL]" in done.stdout
    refused = call("scrub", "note.txt", "--allow", "lost.txt")
    assert (refused.code, "--allow: lost.txt: there is no such list" in refused.stderr) == (2, True)


def test_a_file_is_tried_before_it_is_used(call: Call, folder: Path) -> None:
    done = call("recognisers", "test", "own.yaml", "my ZQ9999 and zq12", "--json")
    assert done.code == 0
    assert done.found["matches"] == [{"type": "badge", "match": "ZQ9999", "sure": 0.9}]
    assert done.found["examples"][0]["passed"]
    table = call("recognisers", "test", "own.yaml", "visits.csv", "--json").found["matches"]
    assert {one["place"] for one in table} >= {"column 'worn'"}
    (folder / "own.yaml").write_text(OWN.replace("ZQ1234 is", "ZQ123 is"), encoding="utf-8")
    failed = call("recognisers", "test", "own.yaml")
    assert (failed.code, "the example 'ZQ123 is hers' is not found" in failed.stdout) == (1, True)
    (folder / "own.yaml").write_text("badge: 7\n", encoding="utf-8")
    refused = call("recognisers", "test", "own.yaml")
    assert (refused.code, "own.yaml: line 1" in refused.stderr) == (2, True)
