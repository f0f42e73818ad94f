"""The same tables give the same figures whenever they are measured, be it in a run or afterwards."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.assess.comparison.paired_tables import TablePair
from shoal.assess.measure.request import MeasureRequest
from shoal.assess.measure.table_measurement import measure_data
from shoal.release.run import release_folder
from shoal.results.measured_table import MeasuredTable

pytestmark = pytest.mark.requirement("R-06")

POLICY = """\
shoal: 1
name: people
attributes:
  age: {role: quasi, hierarchy: {intervals: {widths: [10, 20]}}}
  town: {role: quasi}
  ill: {role: sensitive}
  bill: {role: insensitive, technique: {noise: {laplace: {scale: 20}}}}
privacy: [{k_anonymity: {k: 5}}]
solve: {suppression_limit: 0.1}
assess: {purpose: analytics, target: ill}
"""
RANDOM = ("query_error_mean", "query_error_median", "pmse", "pmse_ratio", "accuracy_released", "learning_kept")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    number = np.random.default_rng(1)
    age = number.integers(18, 90, 600)
    table = {
        "age": age,
        "town": number.choice(["Aa", "Bb", "Cc"], 600),
        "ill": np.where(age + number.normal(0, 15, 600) > 55, "yes", "no"),
        "bill": np.round(age * 10 + number.normal(0, 50, 600)),
    }
    pl.DataFrame(table).write_csv(tmp_path / "people.csv")
    (tmp_path / "policy.yaml").write_text(POLICY)
    policy = shoal.Policy.load(tmp_path / "policy.yaml")
    release_folder(policy, tmp_path / "release", data=str(tmp_path / "people.csv"), evidence=True)
    return tmp_path


def measured(folder: Path) -> MeasuredTable:
    request = MeasureRequest.parse(policy=folder / "policy.yaml", quasi=None)
    return measure_data(str(folder / "release"), request, original=str(folder / "people.csv"))


def test_measured_twice_and_as_the_release_says(folder: Path) -> None:
    first, second = measured(folder).to_dict(), measured(folder).to_dict()
    assert first == second
    found, written = first["usefulness"], json.loads((folder / "release" / "release.json").read_text())["usefulness"]
    assert [found[name] is None for name in RANDOM] == [False] * len(RANDOM)
    assert {name: found[name] for name in RANDOM} == {name: written[name] for name in RANDOM}
    low, high = found["queries"]["mean_interval"]
    assert found["queries"]["number"] == 1000
    assert low < found["query_error_mean"] < high


def test_the_same_part_of_a_table_that_is_too_large() -> None:
    table = pl.LazyFrame({"n": range(1000)})
    first, second = (TablePair.of(table, table, most=200) for _ in range(2))
    assert first.original.height == 200
    assert first.original.equals(second.original)
