"""On census data, the models of populations and whole tables come to the values that another tool expects.

Its optimum is a node of the lattice. Here the table is generalised to that node, the models say what may stay, and the
node's value, recomputed from what stays, is the expected one: so the models keep the very same classes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from benchmarks.adult import Adult

from shoal.kernels.arrays import Integers, Mask
from shoal.privacy import PrivacyModel, kept_by
from shoal.privacy.models.delta_presence import DeltaPresence
from shoal.privacy.models.k_anonymity import KAnonymity
from shoal.privacy.models.k_map import KMap
from shoal.privacy.models.population_uniqueness import PopulationUniqueness, UniquenessEstimator
from shoal.privacy.models.re_identification_risk import AverageRisk
from shoal.privacy.models.sample_uniqueness import SampleUniqueness

pytestmark = pytest.mark.requirement("S-01", "S-04")

Case = Mapping[str, Any]

PEOPLE_OF_THE_USA = 317_238_626
"""As the other tool has it."""


def k_map(k: int, *rest: Any) -> KMap:
    if len(rest) == 1:
        return KMap(k=k, population="adult.csv")
    return KMap(k=k, significance=rest[0], population_size=PEOPLE_OF_THE_USA)


MODELS: Mapping[str, Callable[..., PrivacyModel]] = {
    "KAnonymity": lambda k: KAnonymity(k=k),
    "KMap": k_map,
    "DPresence": lambda low, high, _: DeltaPresence(minimum=low, maximum=high, population="adult.csv"),
    "AverageReidentificationRisk": lambda maximum: AverageRisk(maximum=maximum),
    "SampleUniqueness": lambda maximum: SampleUniqueness(maximum=maximum),
    "PopulationUniqueness": lambda maximum, model: PopulationUniqueness(
        maximum=maximum, population_size=PEOPLE_OF_THE_USA, model=UniquenessEstimator(model.lower())
    ),
}
NAMES = [
    *(f"Combinations#{number}" for number in (0, 1, 50, 75, 100, 115)),
    *(f"DPresence#{number}" for number in range(12)),
    *(f"KMap#{number}" for number in range(14)),
    *(f"RiskBased#{number}" for number in range(6)),
]


@pytest.fixture(scope="module")
def cases(shared: Path) -> dict[str, Case]:
    """Those with one of these models, alone or with k-anonymity."""
    every = json.loads((shared / "golden" / "arx-adult.json").read_text())
    return {
        case["id"].removeprefix("TestAnonymization"): case
        for case in every
        if {"KAnonymity"} != {criterion["model"] for criterion in case["criteria"]} <= set(MODELS)
    }


@pytest.fixture(scope="module")
def adult(shared: Path) -> Adult:
    return Adult(shared)


class Node:
    """The table on the levels of a case: its classes, in the order in which the other tool takes away equal ones."""

    def __init__(self, adult: Adult, case: Case) -> None:
        self.case, self.metric = case, case["metric"]["name"]
        of_subset = any(isinstance(argument, dict) and "subset" in argument for argument in arguments(case))
        self.models = [MODELS[criterion["model"]](*criterion["args"]) for criterion in case["criteria"]]
        self.problem = adult.problem(case["qis"], self.models, limit=case["suppression_limit"], of_subset=of_subset)
        self.records = self.problem.counts.records
        self.codes = self.problem.counts.codes
        pairs = list(zip(self.problem.ladders, case["expected_transformation"], strict=True))
        self.cells = np.column_stack(
            [ladder.groups[level][self.codes[:, q]] for q, (ladder, level) in enumerate(pairs)]
        )
        self.shares = np.column_stack(
            [ladder.share(level)[self.codes[:, q]] for q, (ladder, level) in enumerate(pairs)]
        )
        released, member = np.unique(self.cells, axis=0, return_inverse=True)
        self.member = self._in_order(adult.table, member.reshape(-1), len(released))
        self.classes = self.problem.classes(self.member, len(released))

    def _in_order(self, table: pl.DataFrame, member: Integers, number: int) -> Integers:
        """By what the class loses, where the measure says it class by class, then by its first row in the file."""
        rows = table.with_row_index("row").group_by(self.case["qis"]).agg(pl.col("row").min())
        where = self.problem.counts.frame().join(rows, on=self.case["qis"], how="left", maintain_order="left")
        first, lost = np.full(number, table.height), np.zeros(number)
        np.minimum.at(first, member, where["row"].to_numpy())
        if self.metric == "PrecomputedLoss":
            lost[member] = np.prod(1 + self.shares, axis=1)
        place = np.empty(number, dtype=np.int64)
        place[np.lexsort((first, lost))] = np.arange(number)
        return place[member]

    def kept(self) -> Mask:
        """Which classes of the sample stay."""
        kept = self.classes.records > 0
        kept[kept] = kept_by(self.models, self.classes.only(kept))
        return kept

    def value(self, kept: Mask) -> float:
        if self.metric == "AECS":
            some_suppressed = bool(self.classes.records[~kept].any())
            return float(self.problem.records / (kept.sum() + some_suppressed))
        suppressed = ~kept[self.member]
        if self.metric == "PrecomputedLoss":
            return self.loss(suppressed)
        without_suppression = self.case["metric"]["args"][1:] == [True]
        return self.entropy(suppressed & (not without_suppression))

    def loss(self, suppressed: Mask) -> float:
        lost = np.where(suppressed[:, None], 1.0, self.shares)
        least = self.problem.records / np.array([ladder.leaves for ladder in self.problem.ladders])
        scaled = (self.records @ lost - least) / (self.problem.records - least)
        return float(np.prod(np.maximum(0, np.floor(scaled * 1e10) / 1e10) + 1) ** (1 / len(scaled)) - 1)

    def entropy(self, suppressed: Mask) -> float:
        total = 0.0
        here = self.records > 0
        for codes, groups in zip(self.codes.T, self.cells.T, strict=True):
            before, after = (np.bincount(of, weights=self.records)[of][here] for of in (codes, groups))
            total += float(self.records[here] @ np.log2(after / before))
            hidden = np.bincount(groups[suppressed], weights=self.records[suppressed])
            hidden = hidden[hidden > 0]
            total -= float(hidden @ np.log2(hidden / hidden.sum()))
        return total


def arguments(case: Case) -> list[Any]:
    return [argument for criterion in case["criteria"] for argument in criterion["args"]]


def test_no_case_is_left_out(cases: dict[str, Case]) -> None:
    assert sorted(cases) == sorted(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_expected_value_comes_out(name: str, cases: dict[str, Case], adult: Adult) -> None:
    node = Node(adult, cases[name])
    kept = node.kept()
    assert node.value(kept) == pytest.approx(node.case["expected_loss"], rel=1e-9)
    assert int(node.classes.records[~kept].sum()) <= node.problem.allowed
    assert all(model.find(node.classes.only(kept)).met for model in node.models)


@pytest.mark.parametrize("name", ["Combinations#0", "Combinations#100", "DPresence#6", "DPresence#9"])
def test_a_least_presence_allows_no_class_of_the_population_only(
    name: str, cases: dict[str, Case], adult: Adult
) -> None:
    """The other tool chose nodes without such classes, as it had to: nobody may be known to be absent."""
    assert Node(adult, cases[name]).classes.records.all()


@pytest.mark.parametrize("name", ["Combinations#1", "Combinations#50", "Combinations#75"])
def test_k_anonymity_does_not_excuse_classes_of_the_population_only(
    name: str, cases: dict[str, Case], adult: Adult
) -> None:
    """With k-anonymity the other tool overlooks them: its node makes people known to be absent. We say so."""
    node = Node(adult, cases[name])
    assert not node.classes.records.all()
    (presence,) = [model for model in node.models if isinstance(model, DeltaPresence)]
    assert not presence.holds(node.classes).any()


def test_snb_is_not_trusted_on_a_small_sample(cases: dict[str, Case], adult: Adult) -> None:
    """The other tool finds no estimate either, so both take away all uniques: here because the table is 1 in 10,000."""
    node = Node(adult, cases["RiskBased#5"])
    assert np.array_equal(node.kept(), node.classes.records > 1)


def test_expected_value_depends_on_every_class(cases: dict[str, Case], adult: Adult) -> None:
    """One class more or fewer, and the value is another: the comparison can fail."""
    node = Node(adult, cases["RiskBased#2"])
    kept = node.kept()
    for place in (int(np.argmax(kept)), int(np.argmin(kept))):
        other = kept.copy()
        other[place] = not other[place]
        assert node.value(other) != pytest.approx(node.case["expected_loss"], rel=1e-9)
