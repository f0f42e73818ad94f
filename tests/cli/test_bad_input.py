"""Bad input gets one clear line and exit code 2; nothing is written, nothing of the data is shown."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.support.commands import Call

pytestmark = pytest.mark.requirement("V-05", "D-01")


POLICY = """\
shoal: 1
name: clinic
source: clinic.csv
attributes:
  name: {role: direct, technique: suppress}
  aadhaar: {role: direct, technique: {mask: {keep_last: 4, char: "x"}}}
  age: {role: quasi, hierarchy: {intervals: {widths: [10, 20, 40]}}}
  pin: {role: quasi, hierarchy: {redact: {side: right, char: "x"}}}
  diagnosis: {role: sensitive}
  bill: {role: insensitive, technique: [{round: {base: 100}}, {noise: {laplace: {scale: 50}}}]}
privacy:
  - k_anonymity: {k: 3}
solve:
  suppression_limit: 0.1
"""

SHY = "Zyxwvut"
"""A value that stands in the data and must never stand in any message."""


def clinic_rows(number: int) -> str:
    lines = ["name,aadhaar,age,pin,diagnosis,bill"]
    for place in range(number):
        age = 20 + place * 7 % 60
        lines.append(
            f"{SHY}{place},{100000000000 + place * 7919},{age},{560001 + place % 9},"
            f"{'Flu' if place % 3 else 'Asthma'},{1000 + place * 13}"
        )
    return "\n".join(lines) + "\n"


@pytest.fixture
def clinic(tmp_path: Path) -> Path:
    (tmp_path / "policy.yaml").write_text(POLICY)
    (tmp_path / "clinic.csv").write_text(clinic_rows(300))
    return tmp_path


@pytest.fixture
def shoal(call: Call) -> Call:
    return call


def refused(shoal: Call, folder: Path, *arguments: str, says: str) -> None:
    before = sorted(path.name for path in folder.iterdir())
    done = shoal("run", "policy.yaml", "--output", "out", *arguments)
    assert done.code == 2, done.stderr
    assert done.stdout == ""
    assert says in done.stderr
    assert "Traceback" not in done.stderr
    assert SHY not in done.stderr
    assert sorted(path.name for path in folder.iterdir()) == before


def rewrite(folder: Path, old: str, new: str, file: str = "policy.yaml") -> None:
    text = (folder / file).read_text()
    assert old in text
    (folder / file).write_text(text.replace(old, new))


def test_missing_file(clinic: Path, shoal: Call) -> None:
    refused(shoal, clinic, "--input", "absent.csv", says="absent.csv")


def test_folder_instead_of_file(clinic: Path, shoal: Call) -> None:
    (clinic / "folder").mkdir()
    refused(shoal, clinic, "--input", "folder", says="folder")


def test_empty_file(clinic: Path, shoal: Call) -> None:
    (clinic / "clinic.csv").write_text("")
    refused(shoal, clinic, says="empty")


def test_header_only(clinic: Path, shoal: Call) -> None:
    (clinic / "clinic.csv").write_text(clinic_rows(0))
    refused(shoal, clinic, says="no records")


@pytest.mark.parametrize("line", ["Zyxwvut,1,2,3,Flu,4,5,6\n", "Zyxwvut,1,2\n"], ids=["too long", "too short"])
def test_ragged_rows(clinic: Path, shoal: Call, line: str) -> None:
    with (clinic / "clinic.csv").open("a") as file:
        file.write(line)
    refused(shoal, clinic, says="clinic.csv")


def test_wrong_separator(clinic: Path, shoal: Call) -> None:
    rewrite(clinic, "source: clinic.csv", 'source: {path: clinic.csv, separator: ";"}')
    refused(shoal, clinic, says="separator")


def test_not_utf8(clinic: Path, shoal: Call) -> None:
    (clinic / "clinic.csv").write_bytes(clinic_rows(300).replace("Flu", "Grüße").encode("cp1252"))
    done = shoal("run", "policy.yaml", "--output", "out")
    if done.code:
        assert done.code == 2
        assert "encoding" in done.stderr
        assert not (clinic / "out").exists()
    else:
        assert "Grüße" in (clinic / "out" / "data.csv").read_text(encoding="utf-8")


@pytest.mark.parametrize("header", ["name,aadhaar,age,age,diagnosis,bill", "name,aadhaar,age,,diagnosis,bill"])
def test_duplicate_or_empty_column_names(clinic: Path, shoal: Call, header: str) -> None:
    rewrite(clinic, "name,aadhaar,age,pin,diagnosis,bill", header, "clinic.csv")
    refused(shoal, clinic, says="column")


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("  diagnosis: {role: sensitive}\n", "", "'diagnosis'"),
        ("  diagnosis:", "  diagnosys: {role: sensitive}\n  diagnosis:", "did you mean 'diagnosis'?"),
        ("{mask:", "{maks:", "unknown technique 'maks'; did you mean 'mask'?"),
        ("keep_last", "keep_lats", "unknown parameter 'keep_lats'; did you mean 'keep_last'?"),
    ],
    ids=["a column the policy does not name", "a column the data lacks", "unknown technique", "unknown parameter"],
)
def test_a_policy_that_does_not_fit(clinic: Path, shoal: Call, old: str, new: str, says: str) -> None:
    rewrite(clinic, old, new)
    refused(shoal, clinic, says=says)


def test_every_problem_at_once_with_lines(clinic: Path, shoal: Call) -> None:
    rewrite(clinic, "{mask:", "{maks:")
    rewrite(clinic, "k: 3", "k: 0")
    rewrite(clinic, "role: sensitive", "role: sensitiv")
    done = shoal("check", "policy.yaml")
    assert done.code == 2
    assert [line for line in (6, 9, 12) if f"line {line}," in done.stderr] == [6, 9, 12]


def test_technique_that_does_not_fit_the_value_type(clinic: Path, shoal: Call) -> None:
    rewrite(clinic, "diagnosis: {role: sensitive}", "diagnosis: {role: sensitive, technique: {round: {base: 5}}}")
    refused(shoal, clinic, says="diagnosis")


def test_nulls_where_a_technique_has_no_rule(clinic: Path, shoal: Call) -> None:
    with (clinic / "clinic.csv").open("a") as file:
        file.write("Zyxwvut,1,30,560001,Flu,\n")
    rewrite(
        clinic, "[{round: {base: 100}}, {noise: {laplace: {scale: 50}}}]", "{round: {base: 100, method: controlled}}"
    )
    refused(shoal, clinic, says="missing")


@pytest.mark.parametrize("value", ["99999999999999999999", "NaN", "inf", "-Infinity", "many"])
def test_numbers_that_are_none(clinic: Path, shoal: Call, value: str) -> None:
    with (clinic / "clinic.csv").open("a") as file:
        file.write(f"Zyxwvut,1,30,560001,Flu,{value}\n")
    refused(shoal, clinic, says="bill")


def test_value_the_hierarchy_does_not_know(clinic: Path, shoal: Call) -> None:
    rewrite(clinic, "{role: sensitive}", "{role: quasi, hierarchy: {taxonomy: {tree: {Lung: [Asthma]}}}}")
    refused(shoal, clinic, says="not in the hierarchy")


def test_output_folder_exists(clinic: Path, shoal: Call) -> None:
    assert shoal("run", "policy.yaml", "--output", "out").code == 0
    first = (clinic / "out" / "release.json").read_bytes()
    refused(shoal, clinic, says="--force")
    assert (clinic / "out" / "release.json").read_bytes() == first
    assert shoal("run", "policy.yaml", "--output", "out", "--force").code == 0


def test_force_never_replaces_what_is_no_release(clinic: Path, shoal: Call) -> None:
    (clinic / "out").mkdir()
    (clinic / "out" / "thesis.txt").write_text("years of work")
    refused(shoal, clinic, "--force", says="out")
    assert (clinic / "out" / "thesis.txt").read_text() == "years of work"


def test_unreachable_k(clinic: Path, shoal: Call) -> None:
    rewrite(clinic, "k: 3", "k: 301")
    refused(shoal, clinic, says="suppress")


def test_unknown_engine(clinic: Path, shoal: Call) -> None:
    refused(shoal, clinic, "--engine", "abacus", says="polars")


def test_not_yaml(clinic: Path, shoal: Call) -> None:
    (clinic / "policy.yaml").write_text("attributes: [")
    refused(shoal, clinic, says="not YAML")


def test_policy_is_missing(clinic: Path, shoal: Call) -> None:
    done = shoal("run", "nowhere.yaml")
    assert done.code == 2
    assert "nowhere.yaml" in done.stderr


def test_json_errors_are_json(clinic: Path, shoal: Call) -> None:
    (clinic / "policy.yaml").write_text(POLICY.replace("{mask:", "{maks:"))
    done = shoal("run", "policy.yaml", "--json")
    assert done.code == 2
    assert json.loads(done.stdout)["error"]["problems"][0]["line"] == 6


@pytest.mark.parametrize(
    "line",
    [
        'suppress_records: {where: "agee > 60"}',
        "suppress_records: {outliers: {columns: [bil], iqr: 2}}",
        "sample: {fraction: 0.5, within: [ag]}",
        "aggregate: {by: [agee], measures: {n: count}}",
        "aggregate: {by: [age], measures: {n: {sum: bil}}}",
        "aggregate: {by: [name], measures: {n: count}}",
    ],
)
@pytest.mark.parametrize("default", [False, True])
def test_a_table_technique_that_names_no_column(clinic: Path, shoal: Call, line: str, default: bool) -> None:
    """Also where a default hides from the policy alone which columns there are."""
    text = POLICY.replace("privacy:\n  - k_anonymity: {k: 3}\n", "")
    text = text.replace("  diagnosis: {role: sensitive}", '  "*": suppress') if default else text
    (clinic / "policy.yaml").write_text(f"{text}{line}\n")
    refused(shoal, clinic, says="column")
    assert shoal("check", "policy.yaml").code == 2


def test_a_folder_that_cannot_be_made(clinic: Path, shoal: Call) -> None:
    done = shoal("run", "policy.yaml", "--output", "/proc/release")
    assert done.code == 2
    assert "/proc/release" in done.stderr


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--motive", "low"), "--motive: comes to nothing without the potential harm"),
        (("--controls", "high"), "--controls: comes to nothing"),
        (("--acquaintance", "0.1"), "--acquaintance: comes to nothing"),
        (("--breach", "0.1"), "--breach: comes to nothing"),
        (("--harm", "huge"), "--harm: has to be 'low', 'medium' or 'high'"),
        (("--threshold", "3"), "--threshold: has to be at most 1"),
        (("--threshold", "low"), "has to be a number"),
        (("--population-size", "0"), "--population-size: has to be at least 1"),
        (("--require", "k=-1"), "k=-1: has to be at least 1"),
        (("--require", "k=0"), "k=0: has to be at least 1"),
        (("--require", "uniques=-3"), "uniques=-3: has to be at least 0"),
        (("--require", "prosecutor_max=20"), "prosecutor_max=20: is a share"),
        (("--require", "t=7", "--sensitive", "diagnosis"), "t=7: has to be at most 1"),
        (("--sensitive", "diagnosis,bill,diagnosis"), "column 'diagnosis' is named twice"),
    ],
)
def test_measuring_with_what_would_be_passed_over(
    clinic: Path, shoal: Call, options: tuple[str, ...], says: str
) -> None:
    done = shoal("measure", "clinic.csv", "--qi", "age,pin", *options)
    assert done.code == 2, done.stderr
    assert says in done.stderr
    assert "nput should" not in done.stderr


def test_a_column_that_is_named_twice(clinic: Path, shoal: Call) -> None:
    for command in (("measure", "clinic.csv"), ("attack", "clinic.csv", "--original", "clinic.csv")):
        done = shoal(*command, "--qi", "age,pin,age")
        assert (done.code, "column 'age' is named twice" in done.stderr) == (2, True)


def test_a_policy_that_says_who_might_try_but_not_the_harm(clinic: Path, shoal: Call) -> None:
    (clinic / "policy.yaml").write_text(f"{POLICY}assess: {{motive: low}}\n")
    refused(shoal, clinic, says="assess.motive: comes to nothing without the potential harm")
    (clinic / "policy.yaml").write_text(f"{POLICY}assess: {{harm: low}}\n")
    said = ("measure", "clinic.csv", "--policy", "policy.yaml", "--motive", "low", "--json")
    assert json.loads(shoal(*said).stdout)["assessment"]["motive"] == "low"


def test_an_original_that_is_generalised(clinic: Path, shoal: Call) -> None:
    assert shoal("run", "policy.yaml", "--output", "out").code == 0
    done = shoal("measure", "out", "--policy", "policy.yaml", "--original", "out/data.csv")
    assert done.code == 2
    assert "the original: column 'age'" in done.stderr
    assert "can't be read as numbers (was that table generalised already?)" in done.stderr


def test_bytes_that_pass_for_text(clinic: Path, shoal: Call) -> None:
    (clinic / "clinic.csv").write_bytes(b"\xff\xfe\x00garbage\x00\x01")
    refused(shoal, clinic, says="is it text at all?")


def test_files_of_another_name(clinic: Path, shoal: Call) -> None:
    """What they have in common must be more than the ending."""
    refused(shoal, clinic, "--input", "clinc.csv", says="there is no such file; did you mean 'clinic.csv'?")
    refused(shoal, clinic, "--input", "clinic.cvs", says="did you mean 'clinic.csv'?")
    done = shoal("measure", "other.csv", "--qi", "age")
    assert "no such file" in done.stderr
    assert "did you mean" not in done.stderr
