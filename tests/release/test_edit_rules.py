"""Edit rules are counted before and after, kept where they must be, and proposed where the table suggests them."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.errors import DataError
from shoal.schema import Column, ValueType
from shoal.schema.expressions import Expression
from shoal.schema.rule_counts import count_violations, known_values

pytestmark = pytest.mark.requirement("T-30")

POLICY = """
shoal: 1
name: hospital
attributes:
  sex: {role: quasi}
  age: {role: quasi, hierarchy: {intervals: {widths: [20, 40]}}}
  department: {role: sensitive, technique: %s}
privacy: [{k_anonymity: {k: 5}}]
rules:
  - {name: no-male-gynaecology, never: "sex == 'male' and department == 'gynaecology'", on_violation: %s}
"""
DEPARTMENTS = {"male": ["surgery", "surgery", "urology"], "female": ["surgery", "surgery", "gynaecology"]}


@pytest.fixture(scope="module")
def hospital() -> pl.DataFrame:
    sexes = ["male", "female"] * 300
    departments = [DEPARTMENTS[sex][place // 2 % 3] for place, sex in enumerate(sexes)]
    return pl.DataFrame(
        {"sex": sexes, "age": [20 + place // 2 * 7 % 50 for place in range(600)], "department": departments}
    )


def broken(table: pl.DataFrame) -> int:
    return table.filter((pl.col("sex") == "male") & (pl.col("department") == "gynaecology")).height


def test_records_that_swapping_made_impossible_are_counted(hospital: pl.DataFrame) -> None:
    release = shoal.anonymise(hospital, POLICY % ("permute", "report"), seed=3)
    (rule,) = release.manifest.rules or ()
    assert rule.before is not None
    assert (rule.before.records, rule.before.violations) == (600, broken(hospital)) == (600, 0)
    assert rule.after is not None
    assert rule.after.violations == broken(release.data) > 20
    assert any("'no-male-gynaecology' is broken by" in warning for warning in release.manifest.warnings)
    written = release.manifest.to_dict()["rules"][0]
    assert written["columns"] == ["sex", "department"]
    assert "gynaecology'" not in json.dumps(written)


@pytest.mark.parametrize("technique", ["permute", "{pram: {keep: 0.5}}"])
def test_records_that_break_a_rule_can_be_left_out(hospital: pl.DataFrame, technique: str) -> None:
    loose = shoal.anonymise(hospital, POLICY % (technique, "report"), seed=3)
    release = shoal.anonymise(hospital, POLICY % (technique, "suppress"), seed=3)
    (rule,) = release.manifest.rules or ()
    assert rule.after is not None
    assert broken(release.data) == rule.after.violations == 0
    assert release.data.height == hospital.height - broken(loose.data)
    records = release.manifest.records
    assert records is not None
    assert (records.source, records.dropped) == (600, broken(loose.data))
    assert release.manifest.suppressed.records == records.suppressed
    assert release.risk.k >= 5


def test_a_rule_that_must_hold_stops_the_run(hospital: pl.DataFrame, tmp_path: Path) -> None:
    hospital.write_csv(tmp_path / "hospital.csv")
    with pytest.raises(DataError, match=r"'no-male-gynaecology' is broken by 0 records before, [0-9]+ after") as raised:
        shoal.anonymise(tmp_path / "hospital.csv", POLICY % ("permute", "refuse"), output=tmp_path / "release", seed=3)
    assert "on_violation: suppress" in str(raised.value)
    assert [path.name for path in tmp_path.iterdir()] == ["hospital.csv"]
    kept = POLICY.replace(", technique: %s", "") % "refuse"
    assert shoal.anonymise(hospital, kept).manifest.rules is not None


def test_generalised_and_suppressed_values_break_no_rule(hospital: pl.DataFrame) -> None:
    text = POLICY.replace(
        "sex == 'male' and department == 'gynaecology'", "sex != 'female' AND department = 'gynaecology'"
    )
    text = text.replace("solve", "") % ("permute", "report") + "solve: {levels: {sex: 1}}\n"
    (rule,) = shoal.anonymise(hospital, text, seed=3).manifest.rules or ()
    assert rule.after is not None
    assert rule.after.violations == 0
    assert rule.after.undecided == hospital.filter(pl.col("department") == "gynaecology").height


@pytest.mark.parametrize(
    ("never", "said"),
    [
        ("age = 'old'", "what is compared is of different types, in one of 'age'"),
        ("age + 1", "'no-male-gynaecology' is neither true nor false"),
        ("sex LIKE 'm%' AND rooom = 'x'", "there is no attribute 'rooom'"),
    ],
)
def test_a_rule_that_can_not_be_computed_is_refused_before_anything_is_done(
    hospital: pl.DataFrame, never: str, said: str
) -> None:
    text = POLICY.replace("sex == 'male' and department == 'gynaecology'", never.replace("%", "%%"))
    with pytest.raises(shoal.ShoalError, match=said):
        shoal.check(text % ("permute", "report"), hospital)


def test_of_columns_that_are_not_released_nothing_is_told(hospital: pl.DataFrame) -> None:
    text = POLICY.replace("role: sensitive, technique: %s", "role: direct") % "report"
    (rule,) = shoal.anonymise(hospital, text).manifest.rules or ()
    assert (rule.after, rule.untold) == (None, "'department' is not released")
    assert rule.before is not None


def test_the_report_and_the_plan_tell_of_rules(hospital: pl.DataFrame, tmp_path: Path) -> None:
    policy = POLICY % ("permute", "report")
    release = shoal.anonymise(hospital, policy, seed=3)
    page = tmp_path / "report.html"
    release.report(page)
    assert "no-male-gynaecology" in page.read_text(encoding="utf-8")
    described = shoal.plan(policy, hospital)
    assert [(rule.name, rule.violations) for rule in described.rules] == [("no-male-gynaecology", 0)]
    assert shoal.plan(policy).rules[0].violations is None


VALUES = st.one_of(st.none(), st.sampled_from(["m", "f", "*", "other"]))
AGES = st.one_of(st.none(), st.sampled_from(["3", "17", "18", "40", "10-19", "*"]))


@settings(max_examples=60)
@given(st.lists(st.tuples(VALUES, AGES), max_size=30))
def test_counts_are_those_of_a_loop_over_records(rows: list[tuple[str | None, str | None]]) -> None:
    original = pl.LazyFrame({"sex": ["m", "f"], "age": ["3", "40"]})
    columns = {"sex": Column("sex"), "age": Column("age", ValueType.INTEGER)}
    table = pl.LazyFrame(rows, schema={"sex": pl.String, "age": pl.String}, orient="row")
    rule = Expression.bind("sex = 'm' AND age < 18", columns)
    found = count_violations(table, {"r": rule}, known_values(original, columns))["r"]
    violations = undecided = 0
    for sex, age in rows:
        is_male = None if sex not in ("m", "f") else sex == "m"
        is_minor = None if age is None or not age.isdigit() else int(age) < 18
        outcome = False if is_male is False or is_minor is False else None if None in (is_male, is_minor) else True
        violations += outcome is True
        undecided += outcome is None
    assert (found.records, found.violations, found.undecided) == (len(rows), violations, undecided)


def test_rules_are_proposed_that_the_table_suggests_and_only_when_asked(hospital: pl.DataFrame) -> None:
    assert "rules" not in shoal.suggest(hospital).text
    found = shoal.suggest(hospital, rules=True)
    never = {rule.never for rule in found.policy.rules}
    assert never == {"sex = 'male' AND department = 'gynaecology'", "sex = 'female' AND department = 'urology'"}
    assert shoal.anonymise(hospital, found.policy, seed=1).manifest.rules is not None


def test_no_rule_names_a_value_that_few_people_have(hospital: pl.DataFrame) -> None:
    """Many records, but of three people: their department is not named."""
    few = hospital["department"] == "gynaecology"
    people = [place % 3 if rare else place for place, rare in enumerate(few)]
    text = shoal.suggest(hospital.with_columns(patient_id=pl.Series(people)), person="patient_id", rules=True).text
    assert "gynaecology" not in text
    assert "urology" in text


def test_no_rule_is_proposed_of_chance_or_of_one_column_made_from_another(hospital: pl.DataFrame) -> None:
    towns = {"Pune": "Maharashtra", "Mumbai": "Maharashtra", "Delhi": "Delhi", "Jaipur": "Rajasthan"}
    town = [list(towns)[place % 4] for place in range(600)]
    made = pl.DataFrame({"town": town, "state": [towns[one] for one in town]})
    assert "rules" not in shoal.suggest(made, rules=True).text
    assert "rules" not in shoal.suggest(hospital.head(120), rules=True).text


def test_a_profile_shows_no_pairs(hospital: pl.DataFrame) -> None:
    with pytest.raises(shoal.ShoalError, match="rules: are found in a table"):
        shoal.suggest(shoal.profile(hospital), rules=True)
