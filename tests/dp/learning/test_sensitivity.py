"""What a person can change of any sum that noise is added to is no more than is stated, and nearly as much."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.dp.learning.fixed_point import UNITS, LearningBudget, PersonalSums, Reals, Wholes
from shoal.dp.learning.k_means import cluster_sums
from shoal.dp.learning.logistic_regression import gradient_rows, gradient_sums
from shoal.dp.learning.naive_bayes import class_moment_rows, class_moment_sums
from shoal.dp.learning.public_box import PublicBox
from shoal.dp.learning.second_moments import exact_moments, moment_sums

pytestmark = pytest.mark.requirement("C-04")

FEATURES = 3


@dataclass(frozen=True)
class Summed:
    """A kind of sums: what is stated of a box, and what rows in it give exactly."""

    stated: Callable[[PublicBox], PersonalSums]
    exact: Callable[[Reals, PersonalSums], Wholes]


def _clusters(rows: Reals, sums: PersonalSums) -> Wholes:
    whole = np.column_stack([np.ones(len(rows)), rows])
    return sums.by_group(whole, (rows[:, 0] > 0).astype(np.intp), 2)


def _classes(rows: Reals, sums: PersonalSums) -> Wholes:
    return sums.by_group(class_moment_rows(rows), (rows[:, 0] > 0).astype(np.intp), 2)


def _gradient(rows: Reals, sums: PersonalSums) -> Wholes:
    """With coefficients that are certain of the wrong class, which is the worst there is."""
    whole = np.column_stack([rows, np.ones(len(rows))])
    weights = np.zeros((2, FEATURES + 1))
    weights[1, -1] = 50.0
    return sums.units(gradient_rows(whole, np.zeros(len(rows), dtype=np.intp), weights)).sum(axis=0)


SUMS = {
    "second moments": Summed(moment_sums, exact_moments),
    "clusters": Summed(cluster_sums, _clusters),
    "class moments": Summed(lambda box: class_moment_sums(box.features), _classes),
    "gradient": Summed(lambda box: gradient_sums(box, 2), _gradient),
}
FIGURES = st.one_of(st.sampled_from([-1e9, -1.0, -0.5, 0.0, 1.0, 1e9]), st.floats(-2, 2))
PEOPLE = st.lists(st.tuples(*[FIGURES] * FEATURES), min_size=1, max_size=6)


def change(kind: Summed, sums: PersonalSums, scaled: Reals) -> tuple[int, float]:
    """By how much the sums differ with and without the last person."""
    gap = kind.exact(scaled, sums) - kind.exact(scaled[:-1], sums)
    return int(np.abs(gap).sum()), float(np.sqrt((gap.astype(np.float64) ** 2).sum()))


@pytest.mark.parametrize("name", SUMS)
@given(people=PEOPLE, norm=st.sampled_from([None, 1.0, 0.3]))
def test_a_person_changes_no_more_than_is_stated(
    name: str, people: list[tuple[float, ...]], norm: float | None
) -> None:
    box = PublicBox.of((-1, 1), FEATURES, norm)
    sums = SUMS[name].stated(box)
    l1, l2 = change(SUMS[name], sums, box.scaled(np.array(people)))
    assert l1 <= sums.l1_units
    assert l2 <= sums.l2_units


@pytest.mark.parametrize("name", SUMS)
def test_what_is_stated_is_reached(name: str) -> None:
    """At a corner of the box: so a smaller statement would be wrong."""
    box = PublicBox.of((-1, 1), FEATURES)
    sums = SUMS[name].stated(box)
    l1, l2 = change(SUMS[name], sums, np.array([[1.0, -1.0, 1.0]]))
    assert l1 >= 0.999 * sums.l1_units - sums.entries
    assert l2 >= 0.999 * sums.l2_units - sums.entries


@given(rows=st.lists(st.tuples(st.floats(-50, 50), st.floats(-50, 50)), min_size=1, max_size=20))
def test_scaled_rows_stay_in_the_box(rows: list[tuple[float, float]]) -> None:
    scaled = PublicBox.of(([-3, 10], [3, 20]), 2, norm=0.7).scaled(np.array(rows))
    assert np.abs(scaled).max() <= 1
    assert np.sqrt((scaled**2).sum(axis=1)).max() <= 0.7 + 1e-12


def test_sums_are_exact_whatever_the_order_of_rows() -> None:
    """Ten thousand rows of which floating-point sums depend on the order."""
    rows = np.random.default_rng(3).uniform(-1, 1, (10_000, FEATURES)) * np.array([1.0, 1e-3, 1e-5])
    sums = moment_sums(PublicBox.of((-1, 1), FEATURES))
    assert (exact_moments(rows, sums) == exact_moments(rows[::-1], sums)).all()


DRAWS = 60_000


def epsilon_seen(added: float) -> float:
    """The least ε that explains how well a count with and without one person is told apart, less 4.5 standard errors.

    Half of the draws are of a count of 40, half of 41; ``added`` is the ε that the noise is made for.
    """
    counting = PersonalSums(1, l1=1.0, l2=1.0)
    noise = counting.noise(LearningBudget.of(added, 0.0))
    without, with_one = (counting.noisy(np.full(DRAWS, people * UNITS, dtype=np.int64), noise) for people in (40, 41))
    found = 0.0
    for place in np.linspace(38, 43, 11):
        often, rarely = (with_one >= place).mean(), (without >= place).mean()
        reach = 4.5 * sqrt((1 - often) / (often * DRAWS) + (1 - rarely) / (rarely * DRAWS))
        found = max(found, float(np.log(often / rarely)) - reach)
    return found


def test_what_is_told_shows_no_more_than_epsilon() -> None:
    assert 0.8 < epsilon_seen(1.0) <= 1.0


def test_half_the_noise_is_seen() -> None:
    assert epsilon_seen(2.0) > 1.5
