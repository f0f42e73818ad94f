"""What share of the population a table is taken for, and what follows from it: DIS-SUDA and population uniques."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

import shoal
from shoal.assess.measure.options import AssessmentOptions, circumstances
from shoal.assess.measure.request import MeasureRequest
from shoal.assess.measure.sampling_fraction import estimate_sampling_fraction
from shoal.assess.measure.table_measurement import measure_data
from shoal.errors import InputError, PolicyError
from shoal.measurement import measure_classes
from shoal.measurement.risk.suda import suda
from shoal.policy.assessment import Assess
from shoal.results.measured_table import MeasuredTable
from shoal.results.risk_assessment import FractionBasis, SamplingFraction

pytestmark = pytest.mark.requirement("R-03")

KEYS = ("age", "job")
TABLE = pl.DataFrame(
    {
        "age": ["30", "30", "40", "40", "50", "60", "60", "60"],
        "job": ["cook", "cook", "nurse", "nurse", "smith", "smith", "clerk", "clerk"],
        "w": [4, 4, 4, 4, 4, 4, 4, 4],
    }
)
POLICY = """\
shoal: 1
name: sample
attributes: {{age: {{role: quasi}}, job: {{role: quasi}}, w: {{role: insensitive}}}}
privacy: [{{k_anonymity: {{k: 1}}}}]
assess: {{{assess}}}
"""


def measured(tmp_path: Path, wanted: AssessmentOptions, assess: str | None = None) -> MeasuredTable:
    TABLE.write_csv(tmp_path / "people.csv")
    policy = None if assess is None else tmp_path / "policy.yaml"
    if policy is not None:
        policy.write_text(POLICY.format(assess=assess))
    request = MeasureRequest.parse(policy=policy, quasi="age,job" if policy is None else None, options=wanted)
    return measure_data(str(tmp_path / "people.csv"), request)


@pytest.mark.parametrize(
    ("said", "weight", "share"),
    [
        ({"population_size": 16}, None, SamplingFraction(0.5, FractionBasis.SIZE)),
        ({"population_size": 8}, "w", SamplingFraction(1.0, FractionBasis.SIZE)),
        ({"sampling_fraction": 0.3}, "w", SamplingFraction(0.3, FractionBasis.SAID)),
        ({}, "w", SamplingFraction(0.25, FractionBasis.WEIGHTS)),
        ({}, None, SamplingFraction(0.01, FractionBasis.SUPPOSED)),
    ],
)
def test_the_best_that_is_known_counts(
    tmp_path: Path, said: dict[str, float], weight: str | None, share: SamplingFraction
) -> None:
    wanted = AssessmentOptions(circumstances=circumstances(**said), suda=True, weight=weight)
    found = measured(tmp_path, wanted).to_dict()["suda"]
    assert (found["fraction"], found["fraction_from"]) == (share.fraction, str(share.known))
    assert found["dis_max"] == suda(TABLE, KEYS, fraction=share.fraction).dis.max()


def test_a_larger_share_is_a_larger_chance(tmp_path: Path) -> None:
    asked = [
        AssessmentOptions(circumstances=circumstances(population_size=size), suda=True) for size in (800, 80, 16, 8)
    ]
    chances = [measured(tmp_path, wanted).to_dict()["suda"]["dis_max"] for wanted in asked]
    assert chances == sorted(chances)
    assert chances[0] < 0.1
    assert chances[-1] == 1, "in a table of everybody a unique that is found is the right one"


def test_a_table_of_the_population_says_the_share() -> None:
    there = pl.DataFrame({"age": ["30", "50"], "job": ["cook", "smith"], "records": [30, 2]})
    table = replace(measure_classes(TABLE.lazy(), KEYS), population=there)
    assert estimate_sampling_fraction(table, Assess(), TABLE.lazy(), "w") == SamplingFraction(0.25, FractionBasis.TABLE)


def test_no_table_is_more_than_its_population() -> None:
    light = TABLE.with_columns(w=pl.lit(0.5)).lazy()
    assert estimate_sampling_fraction(measure_classes(light, KEYS), Assess(), light, "w") == SamplingFraction(
        1.0, FractionBasis.WEIGHTS
    )


def test_a_share_is_a_size_to_the_models_of_population_uniques(tmp_path: Path) -> None:
    by_size, by_share = (
        measured(tmp_path, AssessmentOptions(circumstances=circumstances(**said))).to_dict()
        for said in ({"population_size": 32}, {"sampling_fraction": 0.25})
    )
    assert by_share["population_uniques"] == by_size["population_uniques"]
    assert by_share["attackers"] == by_size["attackers"]
    assert by_share["attackers"]["basis"] == "estimate"
    everybody = measured(tmp_path, AssessmentOptions(circumstances=circumstances(sampling_fraction=1.0))).to_dict()
    assert everybody["population_uniques"]["dankar"] == 2


@pytest.mark.parametrize(
    ("assess", "said", "fraction"),
    [
        ("sampling_fraction: 0.2", {}, 0.2),
        ("population_size: 16", {}, 0.5),
        ("population_size: 16", {"sampling_fraction": 0.1}, 0.1),
        ("sampling_fraction: 0.2", {"population_size": 16}, 0.5),
    ],
)
def test_what_is_said_counts_more_than_the_policy(
    tmp_path: Path, assess: str, said: dict[str, float], fraction: float
) -> None:
    found = measured(tmp_path, AssessmentOptions(circumstances=circumstances(**said), suda=True), assess)
    assert found.to_dict()["suda"]["fraction"] == fraction


def test_a_release_is_judged_by_the_population_of_its_original(tmp_path: Path) -> None:
    """Two of eight are suppressed; a quarter of the population was in the table, not in the release."""
    (tmp_path / "policy.yaml").write_text(
        POLICY.format(assess="sampling_fraction: 0.25").replace("k: 1", "k: 2")
        + "solve: {suppression_limit: 0.5, levels: {age: [0, 0], job: [0, 0]}, drop_suppressed: true}\n"
    )
    TABLE.write_csv(tmp_path / "people.csv")
    policy = shoal.Policy.load(tmp_path / "policy.yaml")
    shoal.anonymise(tmp_path / "people.csv", policy, output=tmp_path / "release", seed=1)
    found = json.loads((tmp_path / "release" / "release.json").read_text())
    assert found["data"]["rows"] == 6
    said = MeasureRequest.parse(
        policy=None, quasi="age,job", options=AssessmentOptions(circumstances=circumstances(population_size=32))
    )
    assert found["attackers"] == measure_data(str(tmp_path / "release"), said).to_dict()["attackers"]


def test_both_at_once_are_refused() -> None:
    both = "sampling_fraction: 0.2, population_size: 16"
    with pytest.raises(PolicyError, match="either the size of the population or the share"):
        shoal.Policy.from_text(POLICY.format(assess=both))
    with pytest.raises(InputError, match=r"^sampling_fraction: give either the size"):
        circumstances(population_size=16, sampling_fraction=0.2)
