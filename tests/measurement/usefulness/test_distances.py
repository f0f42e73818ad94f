"""Distances of distributions against scipy and against counts by hand."""

from __future__ import annotations

from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from shoal.measurement.usefulness import make_comparable
from shoal.measurement.usefulness.distances import kolmogorov_smirnov, measure_distance, total_variation, wasserstein

pytestmark = pytest.mark.requirement("R-06")

NUMBERS = st.lists(st.integers(-1000, 1000).map(lambda number: number / 8), min_size=1, max_size=30).map(np.array)
LABELS = st.lists(st.sampled_from("abcde"), min_size=1, max_size=30)


@given(NUMBERS, NUMBERS)
def test_distances_of_numbers_equal_those_of_scipy(before: np.ndarray, after: np.ndarray) -> None:
    points = np.concatenate((before, after))
    first, second = (stats.ecdf(side).cdf.evaluate(points) for side in (before, after))
    assert kolmogorov_smirnov(before, after) == pytest.approx(np.abs(first - second).max())
    assert kolmogorov_smirnov(before, after) == kolmogorov_smirnov(after, before)
    moved, width = wasserstein(before, after), np.ptp(before)
    if width:
        assert moved == pytest.approx(stats.wasserstein_distance(before, after) / width, abs=1e-12)
    else:
        assert moved == (0.0 if (after == before[0]).all() else None)


@given(LABELS, LABELS)
def test_total_variation_equals_a_count_by_hand(before: list[str], after: list[str]) -> None:
    p, q = Counter(before), Counter(after)
    expected = sum(abs(p[x] / len(before) - q[x] / len(after)) for x in "abcde") / 2
    found = total_variation(pl.Series(before), pl.Series(after))
    assert found == pytest.approx(expected)
    assert found == pytest.approx(total_variation(pl.Series(after), pl.Series(before)))
    assert 0 <= found <= 1 + 1e-12


@given(st.lists(st.sampled_from(["x", "y", "*", None]), min_size=1, max_size=20))
def test_a_copy_is_at_distance_nothing(cells: list[str | None]) -> None:
    column = pl.Series(cells, dtype=pl.String)
    distance = measure_distance(make_comparable("a", column, column))
    assert distance.missing_before == distance.missing_after
    assert distance.total_variation == 0 if distance.problem is None else distance.total_variation is None


def test_ranges_by_hand() -> None:
    """31 and 39 become 34.5 twice: moved by 3.5 and 4.5 of a range of 8, and F − G is ½ between."""
    distance = measure_distance(make_comparable("age", pl.Series([31, 39]), pl.Series(["30-39", "30-39"])))
    assert distance.wasserstein == pytest.approx(4 / 8)
    assert distance.kolmogorov_smirnov == 0.5


def test_categories_are_compared_in_the_released_labels() -> None:
    recode = pl.DataFrame({"value": ["Pune", "Nagpur", "Goa"], "label": ["MH", "MH", "GA"]})
    before, after = pl.Series(["Pune", "Nagpur", "Goa", "Goa"]), pl.Series(["MH", "MH", "GA", "*"])
    distance = measure_distance(make_comparable("city", before, after, recode=recode))
    assert distance.total_variation == pytest.approx(2 / 3 - 1 / 2)
    assert distance.missing_after == 0.25
    assert measure_distance(make_comparable("city", before, after)).total_variation is None


def test_a_value_with_several_labels_is_compared_by_its_leaves() -> None:
    """One Pune stays, one goes to MH = {Pune, Nagpur}: Pune has 1.5 of 2, Nagpur 0.5, and the original was all Pune."""
    recode = pl.DataFrame({"value": ["Pune", "Pune", "Nagpur"], "label": ["Pune", "MH", "MH"]})
    before = pl.Series(["Pune", "Pune", "Nagpur", "Nagpur"])
    after = pl.Series(["Pune", "MH", "MH", "MH"])
    distance = measure_distance(make_comparable("city", before, after, recode=recode))
    assert distance.total_variation == pytest.approx(abs(2.5 / 4 - 0.5))


def test_a_constant_that_moved_has_no_range_to_measure_by() -> None:
    distance = measure_distance(make_comparable("n", pl.Series([5, 5]), pl.Series([6, 6])))
    assert distance.wasserstein is None
    assert distance.problem is not None
    assert distance.kolmogorov_smirnov == 1
