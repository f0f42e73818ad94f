"""Estimates of population uniques against exact sums, other solvers and the truth; the model against every number."""

from __future__ import annotations

from fractions import Fraction
from math import comb, exp, fsum, log1p
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from benchmarks.adult import Adult
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from scipy.optimize import minimize
from scipy.special import gammaln

from shoal.errors import DataError
from shoal.privacy import Classes
from shoal.privacy.models.population_uniqueness import PopulationUniqueness, UniquenessEstimator
from shoal.privacy.population_estimators import (
    SampleSizes,
    _expected_uniques,
    _matching_alpha,
    dankar,
    pitman,
    snb,
    uniques,
    zayatz,
)

pytestmark = pytest.mark.requirement("S-04", "R-03")

Sizes = list[int]
sizes = st.lists(st.integers(1, 30), min_size=1, max_size=12)


def sample_of(sizes: Sizes) -> SampleSizes:
    return SampleSizes.of(np.array(sizes, dtype=np.int64))


def classes_of(sizes: Sizes) -> Classes:
    people = np.array(sizes, dtype=np.int64)
    return Classes(people, people)


@given(sizes.filter(lambda sizes: 1 in sizes), st.integers(1, 10_000))
def test_zayatz_is_the_hypergeometric_chance(sizes: Sizes, more: int) -> None:
    """With whole numbers, without any rounding."""
    people, population = sum(sizes), sum(sizes) + more
    one = sum(Fraction(size * comb(population - size, people - 1), comb(population, people)) for size in sizes)
    exact = min(Fraction(population), sizes.count(1) ** 2 / one)
    assert zayatz(sample_of(sizes), population) == pytest.approx(float(exact), rel=1e-9)


def test_zayatz_in_a_population_of_billions() -> None:
    """The chance multiplied out, person by person of the class: one is drawn, each of the others is missed."""
    population, sizes = 8_000_000_000, [1] * 10 + [5, 500, 50_000]
    people = sum(sizes)
    missed = [fsum(log1p(-(people - 1) / (population - 1 - other)) for other in range(size - 1)) for size in sizes]
    one = sum(size * people / population * exp(log) for size, log in zip(sizes, missed, strict=True))
    assert zayatz(sample_of(sizes), population) == pytest.approx(100 / one, rel=1e-9)


def log_likelihood(sizes: Sizes, theta: float, alpha: float) -> float:
    """Of Pitman's sampling formula, up to what does not depend on θ and α."""
    groups, people = np.arange(1, len(sizes)), sum(sizes)
    within = sum(float(gammaln(size - alpha) - gammaln(1 - alpha)) for size in sizes)
    return float(np.log(theta + groups * alpha).sum()) - float(gammaln(theta + people) - gammaln(theta + 1)) + within


@pytest.mark.parametrize(
    "sizes",
    [[1] * 40 + [2] * 12 + [3] * 8 + [10, 20, 40], [1] * 5 + [2] * 30 + [3] * 30 + [4] * 9, [1, 1, 1, 2, 90]],
)
def test_pitman_is_where_the_likelihood_is_greatest(sizes: Sizes) -> None:
    best = minimize(
        lambda point: -log_likelihood(sizes, np.exp(point[0]), point[1]),
        x0=[1.0, 0.3],
        bounds=[(-20, 20), (0, 0.999)],
        method="Nelder-Mead",
        options={"xatol": 1e-10, "fatol": 1e-12, "maxiter": 10_000},
    )
    theta, alpha = np.exp(best.x[0]), best.x[1]
    expected = np.exp(gammaln(theta + 1) - gammaln(theta + alpha)) * 100_000**alpha
    assert pitman(sample_of(sizes), 100_000) == pytest.approx(expected, rel=1e-4)


@given(sizes, st.integers(0, 10**9), st.sampled_from(list(UniquenessEstimator)))
@settings(max_examples=200)
def test_estimates_are_possible_numbers_of_people(sizes: Sizes, more: int, model: UniquenessEstimator) -> None:
    estimate = uniques(sample_of(sizes), sum(sizes) + more, model)
    assert estimate is None or 0 <= estimate <= sum(sizes) + more
    assert model is UniquenessEstimator.SNB or estimate is not None
    if 1 not in sizes:
        assert estimate == 0


@given(sizes, st.sampled_from(list(UniquenessEstimator)))
def test_a_whole_population_is_counted(sizes: Sizes, model: UniquenessEstimator) -> None:
    assert uniques(sample_of(sizes), sum(sizes), model) == sizes.count(1)


@given(st.floats(0.05, 3), st.floats(0.05, 0.9), st.floats(0.11, 0.9))
def test_snb_is_the_thinned_negative_binomial(alpha: float, beta: float, fraction: float) -> None:
    """Classes of the population summed up by size, each with the binomial chance to show one or two people."""
    size = np.arange(1, 2000)
    log_share = gammaln(alpha + size - 1) - gammaln(alpha) - gammaln(size) + (size - 1) * np.log1p(-beta)
    share = np.exp(log_share + alpha * np.log(beta))
    missed = np.log1p(-fraction)
    one = float(share @ (size * fraction * np.exp((size - 1) * missed)))
    two = float(share[1:] @ (size * (size - 1) / 2 * fraction**2 * np.exp((size - 2) * missed))[1:])
    sample = SampleSizes(np.array([1, 2]), np.array([round(one * 1e15), round(two * 1e15)]))
    assert _matching_alpha(sample, fraction, np.array([beta])) == pytest.approx([alpha], rel=1e-6)
    assert _expected_uniques(sample, fraction, np.log([beta / (1 - beta)])) == pytest.approx([one], rel=1e-6)


def drawn(table: pl.DataFrame, fraction: float) -> SampleSizes:
    rows = table.sample(fraction=fraction, seed=1)
    return SampleSizes.of(rows.group_by(rows.columns).len()["len"].to_numpy().astype(np.int64))


COLUMNS = [
    ["age", "sex", "race", "marital-status", "education", "native-country", "workclass"],
    ["age", "education", "marital-status", "native-country"],
    ["sex", "race", "marital-status", "education", "native-country", "occupation"],
]


@pytest.mark.parametrize("columns", COLUMNS)
def test_estimates_come_near_the_truth(columns: list[str], shared: Path) -> None:
    """The census is the population, parts of it are the samples, and its uniques are known."""
    table = Adult(shared).table.select(columns)
    people = table.height
    truth = int((table.group_by(columns).len()["len"] == 1).sum())
    for fraction in (0.3, 0.5, 0.8):
        sample = drawn(table, fraction)
        for model in UniquenessEstimator:
            assert uniques(sample, people, model) == pytest.approx(truth, rel=0.15), (model, fraction)
    small = drawn(table, 0.05)
    assert dankar(small, people) == pitman(small, people) == pytest.approx(truth, rel=0.5)
    assert zayatz(small, people) > truth, "on the safe side"
    assert snb(small, people) is None


def test_dankar_takes_the_lower_one_of_a_large_sample() -> None:
    sample = sample_of([1] * 40 + [2] * 12 + [3] * 8 + [10, 20, 40])
    other = snb(sample, 500)
    assert other is not None
    assert dankar(sample, 500) == min(other, zayatz(sample, 500))
    no_pairs = sample_of([1] * 40 + [3] * 12)
    assert snb(no_pairs, 200) is None
    assert dankar(no_pairs, 200) == zayatz(no_pairs, 200)


@given(
    sizes,
    st.integers(1, 5000),
    st.sampled_from(list(UniquenessEstimator)),
    st.sampled_from([0, 0.001, 0.01, 0.05, 0.3]),
)
@settings(max_examples=200)
def test_with_one_unique_more_it_would_not_be_met(
    sizes: Sizes, more: int, model: UniquenessEstimator, maximum: float
) -> None:
    population = sum(sizes) + more
    demand = PopulationUniqueness(maximum=maximum, population_size=population, model=model)
    held = demand.holds(classes_of(sizes))
    left = [size for size, stays in zip(sizes, held, strict=True) if stays]
    gone = len(sizes) - len(left)
    assert [size for size in left if size > 1] == [size for size in sizes if size > 1]
    assert demand.find(classes_of(left)).met
    if gone:
        estimate = uniques(sample_of([1, *left]), population, model)
        assert estimate is None or estimate > maximum * population
    first = [place for place, size in enumerate(sizes) if size == 1][:gone]
    assert np.flatnonzero(~held).tolist() == first


@given(sizes, st.integers(1, 5000), st.sampled_from([0.001, 0.01, 0.05, 0.3]))
def test_zayatz_takes_away_as_few_as_possible(sizes: Sizes, more: int, maximum: float) -> None:
    population = sum(sizes) + more
    model = PopulationUniqueness(maximum=maximum, population_size=population, model=UniquenessEstimator.ZAYATZ)
    sample = sample_of(sizes)
    numbers = range(sample.of_size(1) + 1)
    estimates = [uniques(sample.without_uniques(number), population, "zayatz") for number in numbers]
    fewest = next(number for number in numbers if (estimates[number] or 0) <= maximum * population)
    assert int((~model.holds(classes_of(sizes))).sum()) == fewest


SMALL = [1] * 20 + [2] * 6 + [3] * 4


@pytest.mark.parametrize("model", list(UniquenessEstimator))
def test_merging_may_break_it(model: UniquenessEstimator) -> None:
    """Larger classes show one person less often, so the same uniques seem to stand for more."""
    apart, merged = [*SMALL, 10, 10, 10, 10], [*SMALL, 20, 20]
    before, after = (uniques(sample_of(sizes), 400, model) or 0 for sizes in (apart, merged))
    demand = PopulationUniqueness(maximum=(before + after) / 800, population_size=400, model=model)
    assert not demand.monotone_under_generalisation
    assert demand.holds(classes_of(apart)).all()
    assert not demand.holds(classes_of(merged)).all()


@pytest.mark.parametrize("model", list(UniquenessEstimator))
def test_taking_away_a_large_class_may_break_it(model: UniquenessEstimator) -> None:
    whole, rest = [*SMALL, 10, 10, 10, 10], [*SMALL, 10, 10, 10]
    before, after = (uniques(sample_of(sizes), 400, model) or 0 for sizes in (whole, rest))
    demand = PopulationUniqueness(maximum=(before + after) / 800, population_size=400, model=model)
    assert not demand.monotone_under_suppression
    assert demand.holds(classes_of(whole)).all()
    assert not demand.holds(classes_of(rest)).all()


def test_without_an_estimate_all_uniques_go() -> None:
    demand = PopulationUniqueness(maximum=0.9, population_size=10_000, model=UniquenessEstimator.SNB)
    assert demand.holds(classes_of([1, 5, 1, 2])).tolist() == [False, True, False, True]
    assert demand.find(classes_of([1, 5, 1, 2])).achieved == 1


def test_a_population_smaller_than_the_table_is_refused() -> None:
    with pytest.raises(DataError, match="10 people"):
        PopulationUniqueness(maximum=0.1, population_size=9).holds(classes_of([1, 9]))


@pytest.mark.parametrize(
    "wrong", [{"maximum": 1}, {"maximum": -1}, {"population_size": 0}, {"model": "ewens"}, {"k": 2}]
)
def test_parameters_that_make_no_sense_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        PopulationUniqueness.model_validate({"maximum": 0.1, "population_size": 9, **wrong})


def test_explains_what_it_promises() -> None:
    assert "At most 0.01 of the 500 people" in PopulationUniqueness(maximum=0.01, population_size=500).explain()
