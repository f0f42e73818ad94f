"""Every command that reads a file can be told how, and tells in its own words what it has to be told."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.policies import policy_text

from .conftest import Call

pytestmark = pytest.mark.requirement("D-01")

HEADER = "name;ward;age;fee\n"
LINES = "".join(f"Zoë {n};{'BC'[n % 2]};{20 + n % 40};{n + 1}.100,25\n" for n in range(80))
POLICY = policy_text(
    "visits.csv",
    "  fee: {role: insensitive, technique: {round: {base: 100}}}\n"
    "privacy: [{k_anonymity: {k: 2}}]\nsolve: {suppression_limit: 0.2}\n",
    direct="name",
    quasi="ward age",
)
SAID = ("--encoding", "cp1252", "--decimal", ",")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "visits.csv").write_bytes((HEADER + LINES).encode("cp1252"))
    (tmp_path / "policy.yaml").write_text(POLICY, encoding="utf-8")
    return tmp_path


COMMANDS = {
    "profile": ["profile", "visits.csv"],
    "suggest": ["suggest", "visits.csv"],
    "measure": ["measure", "visits.csv", "--qi", "ward,age"],
    "attack": ["attack", "visits.csv", "--original", "visits.csv", "--qi", "ward,age", "--trials", "20"],
    "explore": ["explore", "policy.yaml", "--input", "visits.csv", "--k", "2", "--limit", "0.2"],
    "check": ["check", "policy.yaml", "--input", "visits.csv"],
    "plan": ["plan", "policy.yaml", "--input", "visits.csv"],
    "run": ["run", "policy.yaml", "--input", "visits.csv"],
    "normalise": ["normalise", "visits.csv", "--person", "name", "--view", "combined", "-o", "one.csv"],
}


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_says_the_flag_and_takes_it(call: Call, name: str) -> None:
    refused = call(*COMMANDS[name])
    assert refused.code == 2
    assert "say --encoding cp1252" in refused.stderr
    done = call(*COMMANDS[name], *SAID)
    assert (done.code, done.stderr.count("error")) == (0, 0), done.stderr


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("name", ["check", "plan", "run", "explore"])
def test_a_policys_source_is_told_in_the_words_of_policies(call: Call, name: str) -> None:
    refused = call(name, "policy.yaml")
    assert "say `encoding: cp1252` in the policy, below `source`" in refused.stderr
    if name == "check":  # what is said at the command line goes before what the policy says
        assert call(name, "policy.yaml", *SAID).code == 0


def test_a_suggested_policy_runs_as_it_is(call: Call, folder: Path) -> None:
    title = "Visits of 2026\n\n"
    (folder / "visits.csv").write_bytes((title + HEADER + LINES).encode("cp1252"))
    made = call("suggest", "visits.csv", "-o", "made.yaml", *SAID, "--null-values", "NA,-99")
    assert "columns are named in line 3" in made.stderr
    text = (folder / "made.yaml").read_text(encoding="utf-8")
    assert 'encoding: cp1252, header_row: 3, null_values: [NA, "-99"], decimal: ","' in text.replace(
        "header_row: 3, encoding: cp1252", "encoding: cp1252, header_row: 3"
    )
    done = call("run", "made.yaml", "-o", "out")
    assert (done.code, done.stderr) == (0, "")
    measured = call("measure", "out", "--original", "visits.csv", *SAID, "--json")
    assert measured.code == 0, measured.stderr
    assert measured.found["rows"] == 80


def test_scan_reads_tables_and_texts_as_it_is_told(call: Call, folder: Path) -> None:
    (folder / "note.txt").write_bytes("Zoë Åberg, zoe@example.org\n".encode("utf-16"))
    told = call("scan", "note.txt", "--encoding", "utf-16", "--json")
    assert "email" in {one["type"] for one in told.found["findings"]}
    assert "email" not in {one["type"] for one in call("scan", "note.txt", "--json").found["findings"]}
    assert call("scan", "visits.csv", *SAID, "--json").found["looked"][0]["kind"] == "table"


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--encoding", "cp125"], "--encoding: unknown encoding 'cp125'; did you mean 'cp1252'?"),
        (["--separator", "ab"], "--separator: must be one ASCII character"),
        (["--header-row", "0"], "--header-row: "),
        (["--decimal", ";"], "--decimal: "),
        (["--null-values", ","], "--null-values: the list is empty"),
        (["--sheet", "May"], "--sheet: can't be said of a file in the format csv"),
        (["--format", "cvs"], "--format: "),
    ],
)
def test_what_can_not_be_is_said_of_its_flag(call: Call, given: list[str], said: str) -> None:
    refused = call("profile", "visits.csv", *given)
    assert refused.code == 2
    assert said in refused.stderr
