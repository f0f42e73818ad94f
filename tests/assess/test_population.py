"""A release beside a table of the population: when it is made, and measured again later."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.assess.measure.request import MeasureRequest
from shoal.assess.measure.table_measurement import measure_data
from shoal.errors import DataError
from shoal.results.measured_table import MeasuredTable

pytestmark = pytest.mark.requirement("R-01", "S-01", "S-04")

POLICY = """\
shoal: 1
name: sample
attributes:
  age: {{role: quasi, hierarchy: {{intervals: {{widths: [5, 20]}}}}}}
  town: {{role: quasi}}
  ill: {{role: sensitive}}
privacy:
{models}
solve: {{{solve}}}
"""
K_MAP = "  - k_map: {k: 6, population: everyone.csv}"
PRESENCE = "  - k_anonymity: {k: 2}\n  - delta_presence: {maximum: 0.3, population: everyone.csv}"


def everyone() -> pl.DataFrame:
    """By age and town: 8 people each, but one in a town of its own."""
    ages = [age for age in range(20, 40) for _ in range(16)]
    towns = ["aa", "bb"] * (len(ages) // 2)
    return pl.DataFrame({"age": [*ages, 39], "town": [*towns, "cc"]})


def sample() -> pl.DataFrame:
    """Every eighth of them, and the one."""
    some = everyone().with_row_index().filter((pl.col("index") % 8 < 2) | (pl.col("town") == "cc")).drop("index")
    return some.with_columns(ill=pl.int_range(pl.len()) % 3).sample(fraction=1, shuffle=True, seed=1)


def released(folder: Path, models: str = K_MAP, solve: str = "suppression_limit: 0.1") -> dict[str, Any]:
    everyone().write_csv(folder / "everyone.csv")
    sample().write_csv(folder / "sample.csv")
    (folder / "policy.yaml").write_text(POLICY.format(models=models, solve=solve))
    policy = shoal.Policy.load(folder / "policy.yaml")
    shoal.anonymise(folder / "sample.csv", policy, output=folder / "release", seed=1)
    found: dict[str, Any] = json.loads((folder / "release" / "release.json").read_text())
    return found


def measured(folder: Path, data: str = "release", original: str | None = None, **options: Any) -> MeasuredTable:
    request = MeasureRequest.parse(policy=folder / "policy.yaml", quasi=None, **options)
    return measure_data(str(folder / data), request, original=None if original is None else str(folder / original))


def test_risk_and_attackers_say_the_same_before_and_after(tmp_path: Path) -> None:
    """By hand: eight of the population for each value before, but one who is alone there too."""
    told = released(tmp_path)
    assert told["risk"]["prosecutor_max"] > told["risk"]["journalist_max"]
    assert told["risk"]["journalist_max"] == pytest.approx(told["attackers"]["journalist"]["max"])
    assert told["risk"]["marketer"] == pytest.approx(told["attackers"]["marketer"])
    people = sample().height
    assert told["risk_before"]["journalist_max"] == 1
    assert told["risk_before"]["marketer"] == pytest.approx(((people - 1) / 8 + 1) / people)
    assert told["risk_before"]["marketer"] < told["risk_before"]["prosecutor_average"]
    assert told["warnings"] == []


@pytest.mark.parametrize("models", [K_MAP, PRESENCE])
def test_measuring_afterwards_finds_what_the_run_found(tmp_path: Path, models: str) -> None:
    told = released(tmp_path, models)
    found = measured(tmp_path, original="sample.csv").to_dict()
    assert found["models"] == told["models"]
    assert found["risk"] == pytest.approx(told["risk"])
    assert found["risk_before"] == pytest.approx(told["risk_before"])
    assert found["attackers"]["basis"] == found["attackers_before"]["basis"] == "population"
    assert "not_measured" not in found


def test_a_population_can_be_named_for_any_table(tmp_path: Path) -> None:
    everyone().cast({"age": pl.Float64}).write_parquet(tmp_path / "everyone.parquet")
    sample().write_csv(tmp_path / "sample.csv")
    request = MeasureRequest.parse(
        policy=None,
        quasi="age,town",
        population=str(tmp_path / "everyone.parquet"),
        require=["k_map=1", "delta_presence=0.5", "journalist_max=0.2"],
    )
    found = measure_data(str(tmp_path / "sample.csv"), request)
    assert [(one.name, one.achieved, one.met) for one in found.models] == [
        ("k_map", 1, True),
        ("delta_presence", 1, False),
        ("journalist_max", 1, False),
    ]
    assert found.formal is not None
    assert found.formal.to_dict()["k_map"] == 1


def test_what_cannot_be_measured_is_not_met_and_all_else_is_measured(tmp_path: Path) -> None:
    released(tmp_path, PRESENCE)
    (tmp_path / "everyone.csv").unlink()
    found = measured(tmp_path)
    assert [(one.name, one.met) for one in found.models] == [("k_anonymity", True), ("delta_presence", False)]
    assert "no such file" in found.not_measured["delta_presence"]
    assert found.to_dict()["models"][1]["achieved"] is None


def test_labels_of_several_levels_are_not_taken_for_one(tmp_path: Path) -> None:
    """One cell is starred: nobody can say which people of the population would have had theirs starred."""
    released(tmp_path)
    data = tmp_path / "release" / "data.csv"
    table = pl.read_csv(data, infer_schema=False)
    mixed = table.with_columns(age=pl.when(pl.int_range(pl.len()) == 0).then(pl.lit("*")).otherwise(pl.col("age")))
    mixed.write_csv(data)
    assert "column 'age'" in measured(tmp_path).not_measured["k_map"]
    with pytest.raises(DataError, match="can't be put into the words of the release"):
        measured(tmp_path, population=str(tmp_path / "everyone.csv"))


def test_fewer_people_than_the_table_are_not_its_population(tmp_path: Path) -> None:
    released(tmp_path)
    everyone()[:20].write_csv(tmp_path / "few.csv")
    with pytest.raises(DataError, match="the population table has 20 people, the table 81"):
        measured(tmp_path, population=str(tmp_path / "few.csv"))
    policy = (tmp_path / "policy.yaml").read_text().replace("everyone.csv", "few.csv")
    with pytest.raises(DataError, match="it was not drawn from them"):
        shoal.anonymise(sample(), shoal.Policy.from_text(policy, folder=tmp_path))


def test_a_population_that_lacks_some_of_the_people_is_said_to(tmp_path: Path) -> None:
    """Of two people of one age and town, the population has one: they stand for nobody known, and it is told."""
    everyone().filter(pl.col("town") != "cc").vstack(pl.DataFrame({"age": [39], "town": ["dd"]})).write_csv(
        tmp_path / "everyone.csv"
    )
    table = sample().vstack(pl.DataFrame({"age": [39], "town": ["dd"], "ill": [0]}).cast({"ill": pl.Int64}))
    table = table.vstack(table[-1:])
    policy = shoal.Policy.from_text(
        POLICY.format(models=K_MAP.replace("6", "1"), solve="suppression_limit: 0.1, levels: {age: 0, town: 0}"),
        folder=tmp_path,
    )
    release = shoal.anonymise(table, policy)
    assert [released for was, released in zip(table["town"], release.data["town"], strict=True) if was > "bb"] == [
        "*"
    ] * 3
    assert any(warning.startswith("2 combinations") for warning in release.manifest.warnings)
