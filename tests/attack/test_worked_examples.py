"""Figures of attacks that others have printed, from the input that they printed; else reckoned step by step."""

from __future__ import annotations

from math import log

import numpy as np
import polars as pl
import pytest

from shoal.attack import Attack, Rate
from shoal.attack.distance import within_deviations, within_ranks
from shoal.attack.frequencies import Paired, cumulative, frequency, sorting
from shoal.attack.inference import homogeneity, skewness
from shoal.attack.weights import Weights
from shoal.randomness import Randomness


def attack(success: Rate, control: Rate) -> Attack:
    return Attack("linking", "Linking", "age", success, Rate(0, control.trials), control)


@pytest.mark.requirement("R-04")
@pytest.mark.parametrize(
    ("right", "trials", "centre", "half", "decimals"),
    [
        (850, 1000, 0.849, 0.022, 3),
        (0, 1000, 0.002, 0.002, 3),
        (1000, 1000, 0.998, 0.002, 3),
        (23, 100, 0.23998824451588613, 0.08155558571285167, 14),
        (11, 100, 0.1244274643007244, 0.06188550073007873, 14),
        (100, 100, 0.9815032508965071, 0.01849674910349284, 14),
    ],
)
def test_wilson_as_anonymeter_prints_it(right: int, trials: int, centre: float, half: float, decimals: int) -> None:
    """Anonymeter, test_confidence.py: the middle of the interval and half of its width (Wilson 1927)."""
    low, high = Rate(right, trials).interval
    assert (low + high) / 2 == pytest.approx(centre, abs=0.6 * 10**-decimals)
    assert (high - low) / 2 == pytest.approx(half, abs=0.6 * 10**-decimals)


@pytest.mark.requirement("R-04")
@pytest.mark.parametrize(("control", "risk"), [(80, 0.5), (85, 0.333)])
def test_risk_beyond_strangers_as_anonymeter_prints_it(control: int, risk: float) -> None:
    """Anonymeter, test_confidence.py: 0.9 on members with 0.8 on strangers is 0.5, with 0.85 it is 0.333."""
    assert attack(Rate(90, 100), Rate(control, 100)).risk == pytest.approx(risk, abs=5e-4)


@pytest.mark.requirement("R-04")
def test_weights_of_agreement_as_oracle_prints_them() -> None:
    """Oracle, Understanding the Sun Match Engine, table 37: m, u and log₂ weights of five fields (Fellegi and Sunter).

    It cuts figures off after two decimals. All agree: 38; none agrees: −35.93, the sums of what is left.
    """
    m = np.array([0.996, 0.996, 0.97, 0.97, 0.999])
    u = np.array([0.004, 0.004, 0.007, 0.03, 0.001])
    unused = np.ones(5)
    learnt = Weights(np.column_stack([1 - m, unused, m]), np.column_stack([1 - u, unused, u]), 0.5)
    for outcome, printed in ((2, [7.96, 7.96, 7.11, 5.01, 9.96]), (0, [-7.96, -7.96, -5.04, -5.01, -9.96])):
        one_field = np.where(np.eye(5, dtype=bool), outcome, 1)
        assert (np.trunc(learnt.weight(one_field) / log(2) * 100) / 100).tolist() == printed
    all_or_none = np.array([[2] * 5, [0] * 5])
    assert learnt.weight(all_or_none) / log(2) == pytest.approx([38, -35.93], abs=5e-2)


@pytest.mark.requirement("R-04")
def test_probability_of_a_pair_with_pencil() -> None:
    """Bayes' rule on Fellegi and Sunter's ratio: one pair in ten belongs together, agreement is 0.9 : 0.1.

    Odds 9 · (0.1/0.9) = 1, so a pair that agrees belongs together with ½; one that does not with odds 1/81: 1/82.
    """
    learnt = Weights(np.array([[0.1, 1.0, 0.9]]), np.array([[0.9, 1.0, 0.1]]), 0.1)
    assert learnt.probability(np.array([[2], [0]])) == pytest.approx([1 / 2, 1 / 82])


@pytest.mark.requirement("R-04")
def test_intervals_of_deviations_and_ranks_with_pencil() -> None:
    """Mateo-Sanz et al. (2004); no printed figures were at hand. 1 … 5 have a standard deviation of √2.5 = 1.5811.

    A tenth of it is 0.158: numbers that moved by 0.1 are within, by 0.2 are not: 3 of 5. By rank, with 40 % of 5 = 2,
    fewer than two others may lie between: 1 → 3 has one between, 5 → 2 has two.
    """
    original = np.array([[1.0], [2], [3], [4], [5]])
    moved = np.array([[0.1], [-0.1], [0.1], [0.2], [-0.2]])
    assert within_deviations(original, original + moved, 0.1) == 0.6
    assert within_ranks(original, np.array([[3.0], [2], [3], [4], [2]]), 0.4) == 0.8


@pytest.mark.requirement("R-05")
def test_frequencies_and_order_with_pencil() -> None:
    """Naveed et al. (2015), sections 4 and 5: algorithms. A, B and C occur 5, 3 and 2 times in the column.

    Who knows 5 : 3 : 2 reads all ten records. Who knows 3 : 5 : 2 takes the commonest pseudonym for B and the second
    for A: only the 2 records of C are right. In order, the cumulative shares 0.5, 0.8, 1 against 0.3, 0.8, 1 set that
    right: in place the squared differences are 0.04 + 0.04 + 0.04; with A and B exchanged 0 + 0.09 + 0 + 0.25.
    """
    values = pl.Series("id", ["A"] * 5 + ["B"] * 3 + ["C"] * 2)
    codes = values.replace_strict({"A": 11, "B": 22, "C": 33})
    assert frequency(Paired.of(codes, values)).success == Rate(10, 10)
    misled = Paired.of(codes, values, pl.Series("id", ["A"] * 3 + ["B"] * 5 + ["C"] * 2))
    assert frequency(misled).success == Rate(2, 10)
    assert cumulative(misled).success == Rate(10, 10)
    assert sorting(misled).success == Rate(10, 10)


@pytest.mark.requirement("R-04")
def test_homogeneity_and_skewness_with_pencil() -> None:
    """Machanavajjhala et al. (2007), Li et al. (2007). 3 of 12 are ill: two of two in the first class, one of ten else.

    Homogeneity claims the first class only: 2 of 12 people. Skewness guesses ill for 2 and well for 10 and is right
    about 2 + 9; what is believed of the first class grows from 3/12 to 1, by 0.75. Guessing "well" is right about 9.
    """
    table = pl.DataFrame({"age": ["20s"] * 2 + ["30s"] * 10, "ill": ["yes"] * 3 + ["no"] * 9})
    known = {"randomness": Randomness(1)}
    assert homogeneity(table, table, ["age"], "ill", **known).success == Rate(2, 12)  # type: ignore[arg-type]
    guessed = skewness(table, table, ["age"], "ill", **known)  # type: ignore[arg-type]
    assert (guessed.success, guessed.baseline) == (Rate(11, 12), Rate(9, 12))
    assert guessed.details is not None
    assert guessed.details["gain"] == pytest.approx(0.75)
