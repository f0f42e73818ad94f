"""The functions of ``import shoal``: frames and paths in, typed results out, the same as the command line gives."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
from pathlib import Path
from typing import Any, assert_type

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import yaml
from typer.testing import CliRunner

import shoal
from shoal.cli.app import app
from shoal.errors import DataError, InputError, PolicyError, SourceError
from shoal.plan.description import PlanDescription
from shoal.results.attack_report import AttackReport
from shoal.results.exploration import Exploration
from shoal.scan import Scan
from shoal.scrub.account import ScrubAccount
from shoal.scrub.outcome import ScrubOutcome
from shoal.text import Annotator

POLICY: dict[str, Any] = {
    "shoal": 1,
    "name": "staff",
    "attributes": {
        "name": {"role": "direct"},
        "age": {"role": "quasi", "hierarchy": {"intervals": {"widths": [10, 20]}}},
        "ill": {"role": "sensitive"},
    },
    "privacy": [{"k_anonymity": {"k": 2}}],
}
FINDER = Annotator()
TEXT = yaml.safe_dump(POLICY, sort_keys=False)


def table() -> pl.DataFrame:
    ages = [31, 34, 52, 57, 33, 51, 38, 59]
    names = ["Asha Rao", "Bela Sen", "Chan Wei", "Devi Nair", "Esha Das", "Farid Ali", "Gita Bose", "Hari Iyer"]
    return pl.DataFrame({"name": names, "age": ages, "ill": ["flu", "gout"] * 4})


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    table().write_csv("staff.csv")
    Path("policy.yaml").write_text(TEXT, encoding="utf-8")
    return tmp_path


class TestPolicies:
    """A policy as a caller has it."""

    @pytest.mark.parametrize(
        "given", [POLICY, TEXT, shoal.Policy.from_text(TEXT), "policy.yaml", Path("policy.yaml")], ids=lambda _: ""
    )
    def test_all_forms_give_the_same_release(self, given: Any, files: Path) -> None:
        released = shoal.anonymise(table(), given, seed=1)
        assert released.data["age"].to_list() == [
            "30-39",
            "30-39",
            "50-59",
            "50-59",
            "30-39",
            "50-59",
            "30-39",
            "50-59",
        ]
        assert shoal.check(given).policy == "staff"
        assert shoal.plan(given).columns == shoal.plan(POLICY).columns
        assert len(shoal.explore(given, table(), ks=[2], limits=[0], recodings=["global"])) == 1

    def test_a_mapping_has_problems_without_lines(self) -> None:
        wrong = POLICY | {"attributes": {"age": {"rolle": "quasi"}}, "privacy": [{"k_anonimity": {"k": 2}}]}
        with pytest.raises(PolicyError) as error:
            shoal.anonymise(table(), wrong)
        assert {problem.path for problem in error.value.problems} >= {"attributes.age.role", "attributes.age.rolle"}
        assert "line" not in str(error.value)

    def test_a_mapping_holds_only_what_a_policy_may(self) -> None:
        with pytest.raises(PolicyError, match=r"attributes\.age\.role: a value of the type set"):
            shoal.check(POLICY | {"attributes": {"age": {"role": {"quasi"}}}})

    def test_words_and_dates_of_a_mapping_stay_what_they_are(self) -> None:
        tree = {"taxonomy": {"tree": {"011": ["no", "2024-01-01"]}}}
        said = POLICY | {"attributes": {"age": {"role": "quasi", "hierarchy": tree}}}
        hierarchy = shoal.Policy.of(said).attributes["age"].hierarchy
        assert hierarchy is not None
        assert hierarchy.listed() == ("no", "2024-01-01")

    def test_a_missing_file(self, files: Path) -> None:
        with pytest.raises(SourceError, match=r"other\.yaml: there is no such policy file"):
            shoal.anonymise(table(), "other.yaml")

    def test_several_tables_are_checked(self, files: Path) -> None:
        tables = {"shoal": 1, "name": "both", "tables": {"staff": {"attributes": POLICY["attributes"]}}}
        assert shoal.check(tables).policy == "both"
        with pytest.raises(PolicyError, match="a policy of several tables can't be used here"):
            shoal.anonymise(table(), tables)
        with pytest.raises(InputError, match="data: has to be the path of a folder"):
            shoal.check(tables, table())


KINDS = {
    "Polars": table,
    "lazy": lambda: table().lazy(),
    "pandas": lambda: table().to_pandas(),
    "PyArrow": lambda: table().to_arrow(),
    "text": lambda: "staff.csv",
    "path": lambda: Path("staff.csv"),
    "options": lambda: {"path": "staff.csv", "separator": ","},
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_function_takes_every_kind_of_table(kind: str, files: Path) -> None:
    data = KINDS[kind]()
    assert shoal.measure(data, quasi="age").k == 1
    assert [str(shoal.profile(data)[name].proposal.role) for name in ("name", "age")] == ["direct", "quasi"]
    assert shoal.scan(data).identifying == 8
    assert shoal.suggest(data, use_case="internal-deidentified").policy.attributes.keys() == {"name", "age", "ill"}
    assert shoal.check(POLICY, data).against_data
    assert shoal.check(shoal.suggest(data, use_case="internal-deidentified"), data).against_data
    assert shoal.plan(POLICY, data).records == 8
    assert shoal.explore(POLICY, data, ks=[2], limits=[0], recodings=["global"])[0].found is not None
    released = shoal.anonymise(table(), POLICY, seed=1)
    assert shoal.attack(released, data, seed=1).people == 8
    assert shoal.attack(data, data, quasi=["age"], sensitive="ill", seed=1).rows == 8


@pytest.mark.parametrize(
    ("given", "type_"), [(table(), pl.DataFrame), (table().to_pandas(), pd.DataFrame), (table().to_arrow(), pa.Table)]
)
def test_text_columns_come_back_as_they_came(given: Any, type_: type) -> None:
    scrubbed = shoal.scrub(given, columns="name", annotator=FINDER)
    assert type(scrubbed) is type_
    whole: Any = scrubbed
    frame = pl.DataFrame(whole)
    assert frame["name"][0] == "[PERSON]"
    assert frame["ill"].to_list() == table()["ill"].to_list()


def test_texts_and_files_are_scrubbed(tmp_path: Path) -> None:
    annotator, letter = FINDER, tmp_path / "letter.txt"
    letter.write_text("Write to asha@clinic.in today.", encoding="utf-8")
    assert str(shoal.scrub(letter.read_text(encoding="utf-8"), annotator=annotator)) == "Write to [EMAIL] today."
    account = shoal.scrub(letter, output=tmp_path / "clean.txt", annotator=annotator)
    assert account.counts == {"email": 1}
    assert (tmp_path / "clean.txt").read_text(encoding="utf-8") == "Write to [EMAIL] today."
    assert shoal.scrub("Write to asha@clinic.in.", types="phone", annotator=annotator).counts == {}
    missing = pl.DataFrame({"remark": [None, "a@b.org", "a@b.org"]})
    assert shoal.scrub(missing, annotator=annotator)["remark"].to_list() == [None, "[EMAIL]", "[EMAIL]"]


def test_a_release_says_itself_what_is_measured_and_attacked(files: Path) -> None:
    in_memory = shoal.anonymise(table(), POLICY, seed=1)
    in_folder = shoal.anonymise("staff.csv", POLICY, output="out", seed=1)
    found = [shoal.measure(one).to_dict() for one in (in_memory, in_folder, "out")[:2]]
    assert found[0]["risk"]["k"] == found[1]["risk"]["k"] == 4
    attacks = [shoal.attack(one, table(), seed=1).to_dict() for one in (in_memory, in_folder, "out", Path("out"))]
    assert attacks[0]["attacks"] == attacks[1]["attacks"] == attacks[2]["attacks"] == attacks[3]["attacks"]
    assert {one["attack"] for one in attacks[0]["attacks"]} >= {"singling_out", "linking", "read_back"}


def test_people_of_a_release_in_memory_are_not_taken_for_records() -> None:
    visits = pl.concat([table(), table()])
    released = shoal.anonymise(visits, POLICY | {"person": "name"}, seed=1)
    with pytest.raises(DataError, match="by_records"):
        shoal.measure(released)
    assert shoal.measure(released, by_records=True).k == 8


def run(*words: str) -> Any:
    done = CliRunner().invoke(app, [*words, "--json"])
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def test_the_results_are_those_of_the_command_line(files: Path) -> None:
    assert run("profile", "staff.csv") == shoal.profile("staff.csv").to_dict()
    assert run("scan", "staff.csv") == shoal.scan("staff.csv").to_dict()
    assert run("suggest", "staff.csv")["policy"] == shoal.suggest("staff.csv").text
    assert run("measure", "staff.csv", "--qi", "age") == shoal.measure("staff.csv", quasi="age").to_dict()
    assert run("plan", "policy.yaml", "--input", "staff.csv") == shoal.plan("policy.yaml", "staff.csv").to_dict()
    shoal.anonymise("staff.csv", "policy.yaml", output="out", seed=1)
    told = run("attack", "out", "--original", "staff.csv", "--seed", "1")
    assert told == shoal.attack("out", "staff.csv", seed=1).to_dict()


def test_thresholds_are_judged() -> None:
    measured = shoal.measure(table(), quasi="age", require="k=2")
    assert not measured.met
    assert "✗ not met" in measured._repr_html_()


class TestNames:
    """Functions and folders of one name."""

    @pytest.mark.parametrize("first", ["", "import shoal.scan", "import shoal.cli.app, shoal.plan, shoal.scrub"])
    def test_both_mean_what_they_say_whatever_was_imported_first(self, first: str) -> None:
        code = f"""
{first}
import importlib, inspect, shoal
for name, inner in {{"attack": "registry", "plan": "nodes", "scan": "findings", "scrub": "outcome"}}.items():
    assert callable(getattr(shoal, name)), name
    assert inspect.signature(getattr(shoal, name)).parameters, name
    module = importlib.import_module(f"shoal.{{name}}.{{inner}}")
    assert getattr(getattr(shoal, name), inner) is module, name
from shoal import scan
import shoal.scan.findings as findings
assert scan is shoal.scan and scan.findings is findings and callable(scan)
"""
        subprocess.run([sys.executable, "-c", code], check=True)

    def test_arguments_are_seen(self) -> None:
        assert list(inspect.signature(shoal.scan).parameters) == ["data", "threshold", "everything", "recognisers"]

    def test_a_name_that_is_not_there(self) -> None:
        with pytest.raises(AttributeError, match="'shoal' has no attribute 'skan'"):
            shoal.skan  # type: ignore[attr-defined]  # noqa: B018


def _types_as_mypy_sees_them() -> None:
    """Never called: the type checker that looks at the tests fails where a function is taken for its folder."""
    assert_type(shoal.scan("x"), Scan)
    assert_type(shoal.attack("x", "y"), AttackReport)
    assert_type(shoal.plan({}), PlanDescription)
    assert_type(shoal.scrub("x"), ScrubOutcome)
    assert_type(shoal.scrub(Path("x"), output="y"), ScrubAccount)
    assert_type(shoal.explore({}), Exploration)


def test_a_suggestion_runs_as_it_is() -> None:
    people = pl.DataFrame({"name": [f"Person {n}" for n in range(60)], "age": [20 + n % 30 for n in range(60)]})
    draft = shoal.suggest(people)
    released = shoal.anonymise(people, draft, seed=1)
    assert released.data.equals(shoal.anonymise(people, draft.policy, seed=1).data)
    assert released.risk.k >= 5
    assert shoal.plan(draft, people).records == 60
