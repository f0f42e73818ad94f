"""IL1s and eigenvalues: by hand, by brute force, and on microaggregated reference data."""

from __future__ import annotations

from pathlib import Path
from statistics import stdev

import numpy as np
import polars as pl
import pytest

from shoal.measurement.usefulness import make_comparable
from shoal.measurement.usefulness.numeric_distortion import eigen_difference, il1s, measure_masking

pytestmark = pytest.mark.requirement("R-06")


def test_il1s_by_hand() -> None:
    """S of 1, 2, 3 is 1; the distances are 1, 0, 1."""
    assert il1s(np.array([1.0, 2, 3]), np.array([2.0, 2, 2])) == pytest.approx(2 / 3 / 2**0.5)
    assert il1s(np.array([1.0, 2, np.nan]), np.array([1.0, np.nan, 5])) == 0
    assert il1s(np.array([4.0, 4]), np.array([4.0, 5])) is None


def test_eigenvalues_by_hand() -> None:
    """Two attributes with correlation r have 1 ± r: 1.6 and 0.4 become 1.2 and 0.8."""
    before, after = np.array([[1, 0.6], [0.6, 1]]), np.array([[1, 0.2], [0.2, 1]])
    assert eigen_difference(before, after) == pytest.approx(0.4 / 1.6 + 0.4 / 0.4)
    assert eigen_difference(before, before) == 0
    assert eigen_difference(np.ones((2, 2)), np.eye(2)) == pytest.approx(0.5)


def test_doubling_shows_in_the_covariance_only() -> None:
    columns = {"a": [1.0, 2, 3, 5], "b": [2.0, 1, 4, 3]}
    pairs = [make_comparable(name, pl.Series(column), pl.Series(column) * 2) for name, column in columns.items()]
    found = measure_masking(pairs, aligned=True)
    assert found.eigen_correlation == pytest.approx(0, abs=1e-9)
    assert found.eigen_covariance == pytest.approx(2 * 3)
    assert [moment.variance_ratio for moment in found.moments] == pytest.approx([4, 4])


def test_microaggregated_reference_data(shared: Path) -> None:
    """Averaging in groups keeps every mean and loses spread; IL1s is that of a loop over the cells."""
    before = pl.read_csv(shared / "data/sdcmicro/CASCrefmicrodata.csv")
    after = pl.read_csv(shared / "golden/sdcmicro/CASC_mdav_k3.csv")
    names = before.columns
    found = measure_masking([make_comparable(name, before[name], after[name]) for name in names], aligned=True)
    cells = [
        abs(x - y) / (2**0.5 * spread)
        for name in names
        for spread in [stdev(before[name])]
        for x, y in zip(before[name], after[name], strict=True)
    ]
    assert found.il1s == pytest.approx(sum(cells) / len(cells))
    assert 0 < found.il1s < 0.2
    assert [moment.mean_difference for moment in found.moments] == pytest.approx([0] * len(names), abs=1e-9)
    assert all(moment.variance_ratio is not None and 0.8 < moment.variance_ratio < 1 for moment in found.moments)


def test_rows_in_another_order_have_no_il1s() -> None:
    pairs = [make_comparable("a", pl.Series([1, 2, 3]), pl.Series([3, 1, 2]))]
    found = measure_masking(pairs, aligned=False)
    assert found.il1s is None
    assert found.il1s_problem is not None
