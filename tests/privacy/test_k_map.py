"""k-map against counting, and its estimate against the distribution written out term by term."""

from __future__ import annotations

from math import exp, factorial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from shoal.errors import BugError
from shoal.privacy import Classes
from shoal.privacy.models.k_map import KMap

pytestmark = pytest.mark.requirement("S-01")

sizes = st.lists(st.integers(1, 12), min_size=1, max_size=8).map(np.array)


def at_least(size: int, mean: float) -> float:
    """The probability of a zero-truncated Poisson variable to be ``size`` or more."""
    below = sum(mean**n / factorial(n) for n in range(1, size))
    return 1 - below * exp(-mean) / (1 - exp(-mean))


@given(st.lists(st.tuples(st.integers(1, 5), st.integers(0, 9)), min_size=1, max_size=8), st.integers(1, 9))
def test_population_records_are_counted(pairs: list[tuple[int, int]], k: int) -> None:
    sample, others = (np.array(column) for column in zip(*pairs, strict=True))
    model = KMap(k=k, population="everyone.csv")
    classes = Classes(sample, sample, population=sample + others)
    assert model.holds(classes).tolist() == [size + more >= k for size, more in pairs]
    assert model.find(classes).achieved == min(size + more for size, more in pairs)
    assert model.local
    assert model.minimum_class({}).people == 1


def test_more_people_than_the_population_has_stand_for_nobody_known() -> None:
    sizes = np.array([3, 4])
    classes = Classes(sizes, sizes, population=np.array([2, 4]))
    model = KMap(k=2, population="everyone.csv")
    assert model.holds(classes).tolist() == [False, True]
    found = model.find(classes)
    assert (found.achieved, found.met) == (0, False)


@given(st.integers(1, 20), st.integers(1, 500), st.sampled_from([0.001, 0.01, 0.05, 0.3]))
def test_estimate_is_the_truncated_poisson_tail(k: int, sample: int, significance: float) -> None:
    model = KMap(k=k, population_size=500, sample_size=sample, significance=significance)
    people = np.arange(1, k + 3)
    chances = [0.0 if size >= k else at_least(size, k * sample / 500) for size in people.tolist()]
    assert model.figures(Classes(people, people)) == pytest.approx(chances, abs=1e-9)
    least = next(size for size, chance in zip(people.tolist(), chances, strict=True) if chance <= significance + 1e-12)
    assert model.least_sample(sample) == least
    assert model.holds(Classes(people, people)).tolist() == (people >= least).tolist()
    assert model.minimum_class({}).people == least


@pytest.mark.parametrize(("k", "least"), [(3, 2), (1000, 3)])
def test_census_of_a_country(k: int, least: int) -> None:
    """One person in ten thousand is in the table: two or three of them in a class speak for a thousand."""
    assert KMap(k=k, population_size=317_238_626).least_sample(30_162) == least


def test_a_whole_population_needs_k_people() -> None:
    """Nothing is left to estimate when all are in the table, however large k is."""
    for k in (1, 2, 5, 2000):
        assert KMap(k=k, population_size=10_000).least_sample(10_000) == k


@given(sizes, st.integers(1, 6), st.integers(100, 10_000), st.integers(0, 255))
def test_merging_and_taking_away_break_nothing(people: np.ndarray, k: int, population: int, away: int) -> None:
    model = KMap(k=k, population_size=population)
    kept = people[model.holds(Classes(people, people))]
    merged = np.array([kept[:2].sum(), *kept[2:]], dtype=np.int64)
    fewer = kept[[not away >> place & 1 for place in range(len(kept))]]
    for table in (kept, merged, fewer):
        assert model.holds(Classes(table, table)).all() or not kept.size
    assert (kept >= model.minimum_class({}).people).all()


def test_estimate_looks_at_the_whole_table_unless_told_its_size() -> None:
    few, many = np.array([3]), np.array([3, 40, 40])
    model = KMap(k=5, population_size=100)
    assert not model.local
    assert model.holds(Classes(few, few))[0]
    assert not model.holds(Classes(many, many))[0]
    told = KMap(k=5, population_size=100, sample_size=83)
    assert told.local
    assert not told.holds(Classes(few, few))[0]


@pytest.mark.parametrize(
    "wrong",
    [
        {"k": 0, "population_size": 9},
        {"k": 2},
        {"k": 2, "population": "p.csv", "population_size": 9},
        {"k": 2, "population": "p.csv", "significance": 0.1},
        {"k": 2, "population": "p.csv", "sample_size": 3},
        {"k": 2, "population_size": 9, "significance": 0},
        {"k": 2, "population_size": 9, "significance": 1},
        {"k": 2, "population_size": 9, "sample_size": 10},
    ],
)
def test_parameters_that_make_no_sense_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        KMap.model_validate(wrong)


def test_classes_without_a_population_are_our_mistake() -> None:
    with pytest.raises(BugError):
        KMap(k=2, population="p.csv").holds(Classes(np.array([2]), np.array([2])))


def test_explains_what_it_promises() -> None:
    assert KMap(k=5, population="p.csv").explain() == (
        "Everyone shares their quasi-identifying values with at least 4 other people of the population."
    )
    assert "probability of at most 0.01" in KMap(k=5, population_size=1000).explain()
