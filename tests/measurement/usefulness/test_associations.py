"""Associations against scipy, numpy and textbook examples."""

from __future__ import annotations

from math import log

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats.contingency import association

from shoal.measurement.usefulness import make_comparable
from shoal.measurement.usefulness.associations import (
    AssociationMeasure,
    correlation_ratio,
    cramers_v,
    mean_difference,
    measure_associations,
    pearson,
    theils_u,
)

pytestmark = pytest.mark.requirement("R-06")

TABLES = st.lists(st.lists(st.integers(1, 20), min_size=3, max_size=3), min_size=2, max_size=4).map(np.array)


@given(TABLES)
def test_cramers_v_equals_that_of_scipy(table: np.ndarray) -> None:
    found = cramers_v(table)
    assert found == pytest.approx(association(table, method="cramer"), abs=1e-12)
    assert cramers_v(table.T) == pytest.approx(found)
    assert cramers_v(table, corrected=True) <= found + 1e-12 or found > 0.9


def test_bergsma_correction_by_hand() -> None:
    """φ² = 0.25, n = 80: less 1 ÷ 79, over the corrected 2 − 1 ÷ 79 − 1."""
    expected = ((0.25 - 1 / 79) / (2 - 1 / 79 - 1)) ** 0.5
    assert cramers_v(np.array([[30, 10], [10, 30]]), corrected=True) == pytest.approx(expected)
    assert cramers_v(np.array([[10, 10], [10, 10]]), corrected=True) == 0


def test_theils_u_by_hand_and_its_direction() -> None:
    """Columns tell the rows in half of the records: H = log 2, given the columns half of that is left."""
    table = np.array([[2, 1, 1], [0, 1, 3]])
    rows = -(0.5 * log(0.5)) * 2
    left = 2 / 8 * 0 + 2 / 8 * log(2) + 4 / 8 * -(0.25 * log(0.25) + 0.75 * log(0.75))
    assert theils_u(table) == pytest.approx((rows - left) / rows)
    assert theils_u(np.array([[2, 0, 0], [0, 1, 1]])) == pytest.approx(1)
    assert theils_u(np.array([[2, 0, 0], [0, 1, 1]]).T) == pytest.approx(2 / 3)


def test_correlation_ratio_of_the_usual_example() -> None:
    """Marks in algebra, geometry and statistics: η² = 6780 ÷ 9640."""
    marks = np.array([45, 70, 29, 15, 21, 40, 20, 30, 42, 65, 95, 80, 70, 85, 73.0])
    topic = np.array([0] * 5 + [1] * 4 + [2] * 6, dtype=np.int32)
    assert correlation_ratio(marks, topic, 3) == pytest.approx((6780 / 9640) ** 0.5)


@given(st.lists(st.tuples(st.integers(-9, 9), st.integers(-9, 9)), min_size=2, max_size=20))
def test_pearson_equals_that_of_numpy(rows: list[tuple[int, int]]) -> None:
    x, y = np.array(rows, dtype=np.float64).T
    if np.ptp(x) and np.ptp(y):
        assert pearson(x, y) == pytest.approx(np.corrcoef(x, y)[0, 1], abs=1e-9)
    else:
        assert pearson(x, y) is None


def test_generalisation_to_one_label_leaves_no_figure_and_a_broken_link_shows() -> None:
    before = pl.DataFrame({"sex": ["m", "f"] * 8, "pay": ["low", "high"] * 8, "age": [20.0, 40.0] * 8})
    after = before.with_columns(pay=pl.Series(["low", "low", "high", "high"] * 4))
    pairs = [make_comparable(name, before[name], after[name]) for name in before.columns]
    found = {(one.measure, one.first, one.second): one for one in measure_associations(pairs)}
    link = found[AssociationMeasure.CRAMERS_V, "sex", "pay"]
    assert (link.before, link.after, link.difference) == (pytest.approx(1), pytest.approx(0), pytest.approx(1))
    assert found[AssociationMeasure.CORRELATION_RATIO, "age", "sex"].difference == pytest.approx(0)
    gone = [make_comparable(name, before[name], pl.Series(["x"] * 16)) for name in ("sex", "pay")]
    assert all(one.after is None and one.difference is None for one in measure_associations(gone))
    assert mean_difference(measure_associations(gone)) is None
