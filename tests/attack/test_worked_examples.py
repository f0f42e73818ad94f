"""Figures of attacks that others have printed, from the input that they printed; else reckoned step by step."""

from __future__ import annotations

from math import log

import numpy as np
import polars as pl
import pytest

from shoal.attack import Attack, Rate
from shoal.attack.attacks.distance_linking import distance_linking, within_deviations, within_ranks
from shoal.attack.attacks.linking import linking
from shoal.attack.attacks.probabilistic_linking import CandidatePairs
from shoal.attack.attacks.singling_out import singling_out
from shoal.attack.ground_truth.targets import TrialDesign
from shoal.attack.matching.agreement_weights import Weights
from shoal.attack.matching.predicates import PredicateOperator, PredicateTable, ReleasedAttribute
from shoal.randomness import Randomness


def attack(success: Rate, control: Rate) -> Attack:
    return Attack("linking", "Linking", "age", success, Rate(0, control.trials), control)


def of_agreement(m: list[float], u: list[float], share: float) -> Weights:
    """Fields that disagree or agree (outcomes 0 and 2); outcome 1 leaves a field out."""
    mine, theirs, unused = np.array(m), np.array(u), np.ones(len(m))
    return Weights(np.column_stack([1 - mine, unused, mine]), np.column_stack([1 - theirs, unused, theirs]), share)


@pytest.mark.requirement("R-04")
@pytest.mark.parametrize(
    ("right", "trials", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_wilson_as_newcombe_prints_it(right: int, trials: int, low: float, high: float) -> None:
    """Newcombe (1998), Two-sided confidence intervals for the single proportion, table I, method 3 (Wilson 1927)."""
    assert Rate(right, trials).interval == pytest.approx((low, high), abs=5e-5)


@pytest.mark.requirement("R-04")
@pytest.mark.parametrize(("control", "risk"), [(80, 0.5), (85, 0.333)])
def test_risk_beyond_strangers_as_anonymeter_prints_it(control: int, risk: float) -> None:
    """Anonymeter, test_confidence.py: 0.9 on members with 0.8 on strangers is 0.5, with 0.85 it is 0.333."""
    assert attack(Rate(90, 100), Rate(control, 100)).risk == pytest.approx(risk, abs=5e-4)


@pytest.mark.requirement("R-04")
def test_weights_of_a_month_of_birth() -> None:
    """Wikipedia, Record linkage, on Fellegi and Sunter: m = 0.95, u = 1/12 gives log₂ weights of 3.51 and −4.20."""
    month = of_agreement([0.95], [1 / 12], 0.5)
    assert month.weight(np.array([[2], [0]])) / log(2) == pytest.approx([3.51, -4.20], abs=5e-3)


@pytest.mark.requirement("R-04")
def test_weights_of_agreement_as_oracle_prints_them() -> None:
    """Oracle, Understanding the Sun Match Engine, table 37: m, u and log₂ weights of five fields, and their sums.

    It cuts figures off after two decimals. All agree: 38; none agrees: −35.93, the sums of what is left.
    """
    learnt = of_agreement([0.996, 0.996, 0.97, 0.97, 0.999], [0.004, 0.004, 0.007, 0.03, 0.001], 0.5)
    for outcome, printed in ((2, [7.96, 7.96, 7.11, 5.01, 9.96]), (0, [-7.96, -7.96, -5.04, -5.01, -9.96])):
        one_field = np.where(np.eye(5, dtype=bool), outcome, 1)
        assert (np.trunc(learnt.weight(one_field) / log(2) * 100) / 100).tolist() == printed
    all_or_none = np.array([[2] * 5, [0] * 5])
    assert learnt.weight(all_or_none) / log(2) == pytest.approx([38, -35.93], abs=5e-2)


@pytest.mark.requirement("R-04")
def test_probability_of_a_pair_as_despain_prints_it() -> None:
    """Despain, Probabilistic Record Linkage (bdespain.org), 2-2.7: 0.5 % of pairs match; 98 % of these agree, 3 % else.

    Of the 0.035 that agree 0.14 match, by Bayes' theorem. Splink's guide to the Fellegi–Sunter model adds five weights
    to a prior of −6.67, in powers of two, and has 0.999.
    """
    assert of_agreement([0.98], [0.03], 0.005).probability(np.array([[2]])) == pytest.approx([0.14], abs=5e-3)
    ratios = 2.0 ** np.array([[4.74], [6.49], [-1.97], [-1.12], [8.00]])
    splink = Weights(ratios, np.ones((5, 1)), 1 / (1 + 2**6.67))
    assert splink.probability(np.zeros((1, 5), dtype=np.int64)) == pytest.approx([0.999], abs=5e-4)


@pytest.mark.requirement("R-04")
@pytest.mark.parametrize(
    ("people", "records", "weights", "linked"),
    [
        ([3, 3, 1, 2, 3, 2], [4, 5, 1, 2, 1, 3], [1, 5, 10, 5, 4, 1], [0, 1, 1, 1, 0, 0]),
        ([1, 1, 4, 4, 5, 5, 6], [1, 2, 1, 3, 3, 4, 3], [10, 9, 8, 7, 7, 7, 6], [1, 0, 0, 1, 0, 1, 0]),
    ],
)
def test_largest_weights_first_as_reclin_prints_it(
    people: list[int], records: list[int], weights: list[int], linked: list[int]
) -> None:
    """reclin2 (R), test_select_greedy.R and test_greedy.R: pairs with weights, and which of them are linked."""
    person, record = np.array(people), np.array(records)
    pairs = CandidatePairs(7, person, record, np.zeros((len(person), 1), dtype=np.int64), np.ones(6, dtype=np.int64))
    found = pairs.one_to_one(np.array(weights, dtype=np.float64), np.arange(len(person)), 7)
    assert (found[person] == record).astype(int).tolist() == linked


@pytest.mark.requirement("R-04")
def test_linking_of_the_pdpc_guides_taxi_passengers() -> None:
    """PDPC, Guide to Basic Anonymisation, annex C: five officers, five in IT, one banker, whom 5-anonymity leaves out.

    Annex D: a person is linked with probability 1 ÷ class size. So 1/5 of each; with the banker (5/5 + 5/5 + 1) ÷ 11.
    """
    jobs = [
        *("Assistant Data Protection Officer", "Lead IT Consultant", "Banker", "Database Administrator"),
        *("Chief Privacy Officer", "Regional Data Protection Officer", "Programmer", "IT Analyst"),
        *("Deputy Data Protection Officer", "Manager, DPO Office", "UX Designer"),
    ]
    dpo = "Data Protection Officer"
    wider = pl.Series("job", [dpo, "IT", "Banker", "IT", dpo, dpo, "IT", "IT", dpo, dpo, "IT"])
    passengers = pl.DataFrame({"age": [21, 38, 25, 34, 30, 29, 38, 32, 25, 23, 31], "job": jobs})
    passengers = passengers.with_columns(pl.Series("gender", np.where(wider == "IT", "Male", "Female")))
    ages = pl.Series("age", np.where(wider == "IT", "31 to 40", "21 to 30"))
    released = passengers.with_columns(ages, wider)
    known = {"job": pl.DataFrame({"job": jobs, "wider": wider})}
    by = ["age", "gender", "job"]
    all_but_the_banker = [0, 1, *range(3, 11)]
    kept = linking(released[all_but_the_banker], passengers[all_but_the_banker], by, aligned=True, known=known)
    assert kept.success.share == pytest.approx(1 / 5)
    whole = linking(released, passengers, by, aligned=True, known=known)
    assert whole.success.share == pytest.approx(3 / 11)
    assert linking(released, passengers, by, aligned=True, known=known, certain=True).success == Rate(1, 11)


@pytest.mark.requirement("R-04")
def test_nearest_numbers_as_sdcmicro_prints_them() -> None:
    """sdcMicro, test_recordLinkage.R: 0, 2 and 100 are 0, 2 and 0 away from the nearest of 0, 100, 101: y₁, y₁, y₂.

    Only the first is right. Where 0 and 1 became 0 and 0, each has two nearest: one in two is right.
    """
    first = distance_linking(pl.DataFrame({"a": [0, 100, 101]}), pl.DataFrame({"a": [0, 2, 100]}), ["a"], aligned=True)
    assert first.success == Rate(1, 3)
    tied = distance_linking(pl.DataFrame({"a": [0, 0]}), pl.DataFrame({"a": [0, 1]}), ["a"], aligned=True)
    assert tied.success == Rate(1, 2)
    assert tied.details is not None
    assert tied.details["sure"] == 0


@pytest.mark.requirement("R-04")
def test_intervals_of_deviations_and_ranks_with_pencil() -> None:
    """Mateo-Sanz et al. (2004) define both; their figures are of whole masked files, which are not printed.

    1 … 5 have a standard deviation of √2.5 = 1.5811. A tenth of it is 0.158: numbers that moved by 0.1 are within, by
    0.2 are not: 3 of 5. By rank, with 40 % of 5 = 2, fewer than two others may lie between: 1 → 3 has one between,
    5 → 2 has two.
    """
    original = np.array([[1.0], [2], [3], [4], [5]])
    moved = np.array([[0.1], [-0.1], [0.1], [0.2], [-0.2]])
    assert within_deviations(original, original + moved, 0.1) == 0.6
    assert within_ranks(original, np.array([[3.0], [2], [3], [4], [2]]), 0.4) == 0.8


@pytest.mark.requirement("R-04")
def test_predicates_that_single_out_as_anonymeter_prints_them() -> None:
    """Anonymeter, test_singling_out_evaluator.py: a, b, c, d in one column give four predicates, each met by one.

    In c1 = 1, 1 and c2 = 2, 3 "c1 = 1" singles nobody out, "c1 = 1 and c2 = 3" does. In c1 = 0, 0, 2 and c2 = a, a, c
    "c1 = 0 and c2 = a" is met by two, "c1 = 2 and c2 = c" by one.
    """
    letters = pl.DataFrame({"col1": ["a", "b", "c", "d"]})
    assert singling_out(letters, letters, ["col1"], TrialDesign(Randomness(1), trials=2000)).success == Rate(4, 4)
    numbers = PredicateTable.released(
        [ReleasedAttribute.of(pl.Series([1, 1])), ReleasedAttribute.of(pl.Series([2, 3]))]
    )
    assert numbers.isolated(
        [((0, PredicateOperator.SAME, 0),), ((0, PredicateOperator.SAME, 0), (1, PredicateOperator.SAME, 1))]
    ).tolist() == [0, 1]
    mixed = PredicateTable.released(
        [ReleasedAttribute.of(pl.Series([0, 0, 2])), ReleasedAttribute.of(pl.Series(["a", "a", "c"]))]
    )
    both = [((0, PredicateOperator.SAME, label), (1, PredicateOperator.SAME, label)) for label in (0, 1)]
    assert mixed.isolated(both).tolist() == [0, 1]
