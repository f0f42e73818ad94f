"""Loss, precision and entropy: the same from the solver, from the run that recounts it and from a later measurement."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.assess.measure.request import MeasureRequest
from shoal.assess.measure.table_measurement import measure_data
from shoal.assess.measure.usefulness import cells_beside
from shoal.cli.views.measurement import print_measurement
from shoal.errors import DataError
from shoal.measurement import measure_classes

pytestmark = pytest.mark.requirement("R-06")

POLICY = """\
shoal: 1
name: people
attributes:
  age: {role: quasi, weight: 2, hierarchy: {intervals: {widths: [10, 20]}}}
  pin: {role: quasi, hierarchy: {redact: {side: right, char: "x"}}}
privacy: [{k_anonymity: {k: 4}}]
"""


def people(number: int = 500) -> pl.DataFrame:
    places = pl.Series(range(number))
    return pl.DataFrame({"age": 20 + places * 7 % 60, "pin": (560_001 + places % 9).cast(pl.String)})


@pytest.mark.parametrize("utility", ["loss", "precision", "entropy"])
def test_the_output_has_what_the_solver_minimised(utility: str) -> None:
    policy = shoal.Policy.from_text(f"{POLICY}solve: {{suppression_limit: 0, utility: {utility}}}\n")
    release = shoal.anonymise(people(), policy, seed=1)
    solution = release.manifest.solution
    assert solution.loss > 0
    recounted = {**release.utility, "precision": 1 - release.utility["precision"]}
    assert recounted[utility] == pytest.approx(solution.objective, rel=1e-12)


@pytest.mark.parametrize("recoding", ["global", "local", "cells"])
def test_measuring_afterwards_finds_the_same(tmp_path: Path, recoding: str) -> None:
    (tmp_path / "policy.yaml").write_text(f"{POLICY}solve: {{suppression_limit: 0.1, recoding: {recoding}}}\n")
    people().write_csv(tmp_path / "people.csv")
    policy = shoal.Policy.load(tmp_path / "policy.yaml")
    shoal.anonymise(tmp_path / "people.csv", policy, output=tmp_path / "release", seed=1)
    written = json.loads((tmp_path / "release" / "release.json").read_text())["utility"]
    request = MeasureRequest.parse(policy=tmp_path / "policy.yaml", quasi=None)
    measured = measure_data(str(tmp_path / "release"), request, original=str(tmp_path / "people.csv"))
    assert {"loss", "precision", "entropy", "entropy_lost"} <= written.keys()
    assert measured.to_dict()["utility"] == pytest.approx(written, rel=1e-12)


def test_values_that_no_sample_would_have_are_known(tmp_path: Path) -> None:
    """Of more than a million records a part is compared; what cells stand for is counted in all of them."""
    number = 1_000_002
    pins = pl.Series("pin", 100_000 + np.arange(number) // 2, dtype=pl.Int64)
    pins.to_frame().write_parquet(tmp_path / "people.parquet")
    (tmp_path / "policy.yaml").write_text(
        "shoal: 1\nname: people\nattributes:\n  pin: {role: quasi, hierarchy: {redact: {side: right}}}\n"
    )
    request = MeasureRequest.parse(policy=tmp_path / "policy.yaml", quasi=None)
    table = str(tmp_path / "people.parquet")
    assert measure_data(table, request, original=table).cells.figures == {
        "loss": 0,
        "detail_kept": 1,
        "precision": 1,
        "entropy": 0,
        "entropy_lost": 0,
    }


@pytest.mark.parametrize(
    ("technique", "released", "missing", "says"),
    [
        ("", {"age": ["20-29", "somebody"] * 3}, 5, "released labels that the policy does not make: 1 of 'age'"),
        (", technique: {noise: {laplace: {scale: 1}}}", {"age": ["20-29"] * 6}, 5, "column 'age' is altered"),
        ("", {"age": ["20-29"] * 5}, 2, "more or fewer records"),
        (None, {"age": ["20-29"] * 6}, 5, "only a policy"),
    ],
)
def test_why_there_is_no_loss(technique: str | None, released: dict[str, list[str]], missing: int, says: str) -> None:
    policy = None
    if technique is not None:
        age = f"{{role: quasi, hierarchy: {{intervals: {{widths: [10]}}}}{technique}}}"
        policy = shoal.Policy.from_text(f"shoal: 1\nname: people\nattributes:\n  age: {age}\n")
    before, after = (measure_classes(pl.LazyFrame(table), ("age",)) for table in ({"age": range(21, 27)}, released))
    cells = cells_beside(after, before, policy)
    assert (len(cells.reasons), len(cells.figures)) == (missing, 5 - missing)
    assert all(says in why for why in cells.reasons.values())


def test_the_reason_is_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    people(60).write_csv(tmp_path / "people.csv")
    table = str(tmp_path / "people.csv")
    measured = measure_data(table, MeasureRequest.parse(policy=None, quasi="age,pin"), original=table)
    reasons = {"loss", "precision", "detail_kept", "entropy", "entropy_lost"}
    assert measured.to_dict()["utility_reasons"].keys() == reasons
    print_measurement(measured)
    assert "entropy lost: only a policy says what released values stand for." in capsys.readouterr().out


def test_a_release_of_nothing_but_stars_has_nothing_to_measure(tmp_path: Path) -> None:
    """It may be written, where the policy lets all records be suppressed."""
    (tmp_path / "policy.yaml").write_text(
        f"{POLICY.replace('k: 4', 'k: 501')}solve: {{suppression_limit: 1, recoding: cells}}\n"
    )
    people().write_csv(tmp_path / "people.csv")
    policy = shoal.Policy.load(tmp_path / "policy.yaml")
    shoal.anonymise(tmp_path / "people.csv", policy, output=tmp_path / "release", seed=1)
    with pytest.raises(DataError, match="every record is suppressed"):
        measure_data(str(tmp_path / "release"), MeasureRequest(quasi=("age", "pin")))
