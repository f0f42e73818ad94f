"""Optima that ARX's own test-suite expects on the census data: the same value, at the same node or another."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from benchmarks.adult import Adult

from shoal.privacy import PrivacyModel
from shoal.privacy.beta_likeness import BetaLikeness
from shoal.privacy.delta_presence import DeltaPresence
from shoal.privacy.k_anonymity import KAnonymity
from shoal.privacy.k_map import KMap
from shoal.privacy.l_diversity import LDiversity
from shoal.privacy.population_uniqueness import PopulationUniqueness
from shoal.privacy.risk import AverageRisk
from shoal.privacy.sample_uniqueness import SampleUniqueness
from shoal.privacy.t_closeness import TCloseness
from shoal.solve import Problem, solve_lattice

pytestmark = pytest.mark.requirement("S-01", "S-02", "S-03", "S-04", "S-07")

GOLDEN = Path(os.environ.get("SHOAL_SHARED", Path(__file__).parents[3] / "shared")) / "golden" / "arx-adult.json"
CASES: list[dict[str, Any]] = json.loads(GOLDEN.read_text(encoding="utf-8")) if GOLDEN.exists() else []
USA = 317_238_626
"""People in the United States, as ARX has it."""

BETTER = {
    # Of classes of one size some have to go. The reference takes those that stand first in the file; which ones is not
    # in the counts. In its order the values are equal to the last digit (tests/privacy/test_golden_population.py).
    "TestAnonymizationRiskBased#1",
    "TestAnonymizationRiskBased#2",
    "TestAnonymizationRiskBased#3",
    "TestAnonymizationRiskBased#4",
    # Grassberger's G(1) is negative, and the reference stops adding where a sum of some of the terms is too large: its
    # verdict depends on the order of the values, which comes from the path of its search. Along that path the values
    # are equal; with its comparison after the loop it finds our optima (tests/privacy/test_golden_grassberger.py).
    "TestAnonymizationEntropyLDiversity#0",
    "TestAnonymizationEntropyLDiversity#3",
}


def utility(metric: dict[str, Any]) -> str:
    match metric["name"], metric["args"]:
        case "Loss" | "PrecomputedLoss", _:
            return "geometric_loss"
        case "AECS", _:
            return "average_class_size"
        case "Discernability", [True]:
            return "discernibility"
        case "PrecomputedEntropy", [_, True]:
            return "entropy"
        case "PrecomputedEntropy", _:
            return "entropy_with_suppressed"
        case other:
            raise AssertionError(f"unknown metric {other}")


def model(criterion: dict[str, Any], rows: int, *, alone: bool) -> PrivacyModel:  # noqa: C901, PLR0911  # one each
    arguments = criterion["args"]
    match criterion["model"]:
        case "KAnonymity":
            return KAnonymity(k=arguments[0])
        case "BasicBLikeness" | "EnhancedBLikeness" as name:
            return BetaLikeness(attribute=arguments[0], beta=arguments[1], kind=name.removesuffix("BLikeness").lower())
        case "EntropyLDiversity":
            estimator = arguments[2].lower() if len(arguments) > 2 else "shannon"
            return LDiversity(attribute=arguments[0], l=arguments[1], kind="entropy", estimator=estimator)
        case "RecursiveCLDiversity":
            return LDiversity(attribute=arguments[0], c=arguments[1], l=arguments[2], kind="recursive")
        case "EqualDistanceTCloseness" | "HierarchicalDistanceTCloseness" | "OrderedDistanceTCloseness" as name:
            distance = name.removesuffix("DistanceTCloseness").lower()
            return TCloseness(attribute=arguments[0], t=arguments[1], distance=distance)
        case "DPresence":
            return DeltaPresence(minimum=arguments[0], maximum=arguments[1], population="adult.csv", judge_absent=alone)
        case "KMap" if len(arguments) > 2:
            return KMap(k=arguments[0], significance=arguments[1], population_size=USA, sample_size=rows)
        case "KMap":
            return KMap(k=arguments[0], population="adult.csv")
        case "AverageReidentificationRisk":
            return AverageRisk(maximum=arguments[0])
        case "SampleUniqueness":
            return SampleUniqueness(maximum=arguments[0])
        case "PopulationUniqueness":
            return PopulationUniqueness(maximum=arguments[0], model=arguments[1].lower(), population_size=USA)
        case other:
            raise AssertionError(f"unknown model {other}")


def problem_of(case: dict[str, Any], adult: Adult) -> Problem:
    # Where a class size is asked for, the reference overlooks people who look like nobody in the table.
    alone = not {"KAnonymity", "RecursiveCLDiversity"} & {criterion["model"] for criterion in case["criteria"]}
    models = [model(criterion, adult.table.height, alone=alone) for criterion in case["criteria"]]
    sensitive = tuple(dict.fromkeys(name for each in models for name in each.sensitive))
    of_subset = "adult_subset.csv" in json.dumps(case["criteria"])
    return adult.problem(case["qis"], models, limit=case["suppression_limit"], sensitive=sensitive, of_subset=of_subset)


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_the_optimum_that_arx_expects(case: dict[str, Any], adult: Adult) -> None:
    solution = solve_lattice(problem_of(case, adult), utility(case["metric"]))
    assert solution.optimal
    if case["practical_monotonicity"]:
        # There the reference pruned as if models were monotone, so it may have missed the optimum.
        assert solution.objective <= case["expected_loss"] * (1 + 1e-9)
    elif case["id"] in BETTER:
        assert solution.objective < case["expected_loss"]
    else:
        assert solution.objective == pytest.approx(case["expected_loss"], rel=1e-9)


def test_the_whole_file_is_there(shared: Path) -> None:
    assert len(CASES) == 95
    assert (shared / "golden" / "arx-adult.json").exists()
