"""``shoal plan`` as users call it: what would happen to each column, from the policy alone and with data."""

from __future__ import annotations

from html import unescape
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Call

SHY = "Zyxwvut"
"""A value that stands in the data and must never stand in any output."""
POLICY = """\
shoal: 1
name: clinic
attributes:
  name: {role: direct}
  code: {role: direct, technique: {mask: {keep_last: 2, char: "x"}}}
  age: {role: quasi, technique: {code: {top_quantile: 0.9}}, hierarchy: {intervals: {widths: [10, 20]}}}
  pin: {role: quasi, hierarchy: {redact: {side: right, char: "x"}}}
  bill: {role: insensitive, technique: [{round: {base: 10}}, {permute: {within: [pin]}}]}
  diagnosis: {role: sensitive}
  "*": suppress
privacy:
  - k_anonymity: {k: 3}
  - l_diversity: {attribute: diagnosis, l: 2, kind: distinct}
solve: {suppression_limit: 0.1}
shuffle_rows: true
"""
KEYS = {
    "policy",
    "recipient",
    "engine",
    "refused",
    "bound",
    "source",
    "records",
    "columns",
    "suppressed",
    "table",
    "models",
    "rules",
    "solve",
    "passes",
    "plan",
}
STEP_KEYS = {
    "technique",
    "title",
    "clause",
    "stage",
    "chosen_by",
    "parameters",
    "number",
    "scope",
    "queries",
    "barrier",
}


@pytest.fixture(autouse=True)
def clinic(tmp_path: Path) -> None:
    lines = ["name,code,age,pin,bill,diagnosis,ward"]
    lines += [
        f"{SHY}{n},{31337000 + n * n},{20 + n % 40},{560001 + n % 4},{7770000 + n * 13},{SHY} {n % 3},w"
        for n in range(120)
    ]
    (tmp_path / "clinic.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "policy.yaml").write_text(POLICY)


def column(found: dict[str, Any], name: str) -> dict[str, Any]:
    return next(one for one in found["columns"] if one["name"] == name)


def test_the_policy_alone_tells_what_is_done(call: Call) -> None:
    ended = call("plan", "policy.yaml", "--json")
    found = ended.found
    assert ended.code == 0
    assert found.keys() == KEYS
    assert (found["bound"], found["records"], found["passes"], found["plan"]) == (False, None, None, None)
    assert found["suppressed"] == ["name", "*"]
    mask = column(found, "code")["steps"][0]
    assert mask.keys() == STEP_KEYS
    assert (mask["technique"], mask["stage"]) == ("mask", "attributes")
    assert mask["parameters"] == {"keep_last": 2, "char": "x"}
    assert "20889" in mask["clause"]
    assert [step["chosen_by"] for step in column(found, "age")["steps"]] == ["policy", "solver"]
    assert [model["model"] for model in found["models"]] == ["k_anonymity", "l_diversity"]
    assert [step["technique"] for step in found["table"]] == ["shuffle_rows"]


def test_with_data_the_plan_is_bound(call: Call) -> None:
    found = call("plan", "policy.yaml", "--input", "clinic.csv", "--json").found
    assert found.keys() == KEYS
    assert (found["bound"], found["records"]) == (True, 120)
    assert found["suppressed"] == ["name", "ward"], "columns of the data, not the policy's words for them"
    assert column(found, "age")["type"] == "integer"
    assert column(found, "age")["steps"][-1]["parameters"] == {"hierarchy": "intervals", "levels": [0, 3]}
    rounded, permuted = column(found, "bill")["steps"]
    assert (rounded["scope"], permuted["scope"]) == ("row", "table")
    passes = found["passes"]
    assert passes["whole_table"] == 1
    assert passes["total"] == passes["questions"] + passes["whole_table"] + 1
    steps = found["plan"]["steps"]
    assert [steps[step["number"] - 1]["technique"] for step in column(found, "bill")["steps"]] == ["round", "permute"]
    assert sum(len(step["queries"]) for step in steps) + len(found["plan"]["asked"]) == passes["questions"]


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_no_value_is_shown_and_nothing_is_written(call: Call, form: tuple[str, ...], tmp_path: Path) -> None:
    before = sorted(tmp_path.rglob("*"))
    ended = call("plan", "policy.yaml", "--input", "clinic.csv", *form)
    assert ended.code == 0
    for value in (SHY, "31337", "560001", "777"):
        assert value not in ended.stdout + ended.stderr
    assert sorted(tmp_path.rglob("*")) == before


def test_people_read_what_is_done_and_what_the_reader_sees(call: Call) -> None:
    said = " ".join(call("plan", "policy.yaml", "--input", "clinic.csv").stdout.split())
    for words in (
        "keep_last 2",
        "the solver chooses",
        "sees its columns",
        "nothing: the column",
        "left out: name, ward",
    ):
        assert words in said
    assert "k-anonymity: Everyone shares" in said
    assert "up to 10% of records may be suppressed" in said
    assert "passes:" in said
    alone = " ".join(call("plan", "policy.yaml").stdout.split())
    assert "every other" in alone
    assert "what the policy alone tells" in alone
    assert "passes:" not in alone


def test_a_source_of_the_policy_is_used_unless_no_data_is_wanted(call: Call, tmp_path: Path) -> None:
    (tmp_path / "policy.yaml").write_text(POLICY.replace("attributes:", "source: clinic.csv\nattributes:", 1))
    assert call("plan", "policy.yaml", "--json").found["bound"] is True
    assert call("plan", "policy.yaml", "--no-data", "--json").found["bound"] is False
    assert call("plan", "policy.yaml", "--no-data", "--input", "clinic.csv").code == 2


def test_the_same_plan_twice(call: Call) -> None:
    one, other = (call("plan", "policy.yaml", "--input", "clinic.csv", "--json").stdout for _ in range(2))
    assert one == other


@pytest.mark.parametrize(
    ("change", "said"),
    [(("age:", "agee:"), "agee"), (("{round: {base: 10}}", "{round: {base: 0}}"), "base"), (("k: 3", "k: x"), "k")],
)
def test_what_a_run_would_refuse_is_refused(call: Call, tmp_path: Path, change: tuple[str, str], said: str) -> None:
    (tmp_path / "policy.yaml").write_text(POLICY.replace(*change))
    ended = call("plan", "policy.yaml", "--input", "clinic.csv")
    assert ended.code == 2
    assert said in ended.stderr
    assert SHY not in ended.stderr


def test_several_tables(call: Call, tmp_path: Path) -> None:
    (tmp_path / "visits.csv").write_text("visit,ward\n" + "".join(f"{n},{SHY}\n" for n in range(20)))
    both = "shoal: 1\nname: both\ntables:\n"
    for name, kept in (("clinic", "bill"), ("visits", "visit")):
        attributes = f'{{{kept}: {{role: insensitive}}, "*": suppress}}'
        both += f"  {name}:\n    source: {name}.csv\n    attributes: {attributes}\n"
    (tmp_path / "both.yaml").write_text(both)
    found = call("plan", "both.yaml", "--json").found
    assert found.keys() == {"policy", "tables"}
    assert {name: one["records"] for name, one in found["tables"].items()} == {"clinic": 120, "visits": 20}
    assert "both: visits" in call("plan", "both.yaml", "--no-data").stdout


def test_it_says_who_reads_a_column_and_on_which_engine(call: Call) -> None:
    found = call("plan", "policy.yaml", "--input", "clinic.csv", "--engine", "spark", "--json").found
    assert found["engine"] == "spark"
    assert "the solver, as counts of combinations" in column(found, "age")["read_by"]
    assert "engine: there is none called 'sparks'; did you mean 'spark'" in call(
        "plan", "policy.yaml", "--engine", "sparks", "--json"
    ).stdout.replace("--", "")


def test_the_page_has_every_column_and_no_value(call: Call, tmp_path: Path) -> None:
    found = call("plan", "policy.yaml", "--input", "clinic.csv", "--json").found
    call("plan", "policy.yaml", "--input", "clinic.csv", "--html", "plan.html")
    page = (tmp_path / "plan.html").read_text(encoding="utf-8")
    assert all(f'dir="auto">{one["name"]}</code>' in page for one in found["columns"])
    assert all(model["promise"] in unescape(page) for model in found["models"])
    assert "A run can begin" in page
    assert "http" not in page.replace("http-equiv", "")
    cells = {cell for line in (tmp_path / "clinic.csv").read_text().splitlines()[1:] for cell in line.split(",")}
    assert not any(f">{cell}<" in page for cell in cells if not cell.isdigit())


def test_a_plan_that_is_refused_is_written_with_the_reason(call: Call, tmp_path: Path) -> None:
    policy = (tmp_path / "policy.yaml").read_text(encoding="utf-8")
    (tmp_path / "policy.yaml").write_text(policy.replace("  age:", "  agee:"), encoding="utf-8")
    call("plan", "policy.yaml", "--input", "clinic.csv", "--html", "plan.html")
    page = (tmp_path / "plan.html").read_text(encoding="utf-8")
    assert "A run would be refused." in page
    assert "agee" in page


def test_a_page_has_the_name_of_one(call: Call) -> None:
    assert "has to end in .html" in call("plan", "policy.yaml", "--html", "plan.txt", "--json").stdout


def test_a_level_that_the_policy_fixes_is_not_said_to_be_the_solvers_choice(call: Call) -> None:
    Path("fixed.yaml").write_text(POLICY.replace("0.1}", "0.1, levels: {age: 1, pin: [0, 2]}}"))
    found = call("plan", "fixed.yaml", "--json").found
    assert [column(found, name)["steps"][-1]["chosen_by"] for name in ("age", "pin")] == ["policy", "solver"]
    shown = " ".join(call("plan", "fixed.yaml").stdout.split())
    assert "levels 1 (" in shown
    assert "the policy fixes it" in shown
