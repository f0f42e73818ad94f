"""The propensity score: formula, null distribution, extremes."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from shoal.measurement.usefulness import AttributePair, make_comparable
from shoal.measurement.usefulness.propensity import measure_propensity, score
from shoal.randomness import Randomness

pytestmark = pytest.mark.requirement("R-06")


def _table(seed: int, rows: int, shift: float = 0.0) -> pl.DataFrame:
    stream, at = Randomness(seed).stream("test"), np.arange(rows, dtype=np.uint64)
    words = pl.Series((stream.uniform(at, 2) * 3).astype(np.int64)).replace_strict([0, 1, 2], ["a", "b", "c"])
    return pl.DataFrame({"x": stream.gaussian(at, 0) + shift, "y": stream.gaussian(at, 1), "c": words})


def _pairs(before: pl.DataFrame, after: pl.DataFrame) -> list[AttributePair]:
    return [make_comparable(name, before[name], after[name]) for name in before.columns]


def test_formula_with_uneven_tables_by_hand() -> None:
    """c = ¼, N = 4, k = 5: unit (¾)² · ¼ ÷ 4 = 0.03515625; expectation 4 units, deviation √8 units."""
    found = score(np.array([0.25, 0.25, 0.25, 0.75]), np.array([False, False, False, True]), 5)
    assert found.pmse == 0.0625
    assert found.expected == pytest.approx(4 * 0.03515625)
    assert found.ratio == pytest.approx(0.0625 / (4 * 0.03515625))
    assert found.standardised == pytest.approx((0.0625 - 4 * 0.03515625) / (8**0.5 * 0.03515625))


def test_resampling_the_original_has_a_ratio_about_one() -> None:
    """k − 1 = 4, so the mean ratio of 40 runs has the deviation √(2 ÷ 4 ÷ 40) = 0.11; other formulas are far off."""
    ratios = []
    for run in range(40):
        original, at = _table(run, 400), np.arange(600, dtype=np.uint64)
        drawn = original[(Randomness(run).stream("draw").uniform(at) * 400).astype(np.int64)]
        ratios.append(measure_propensity(_pairs(original, drawn), randomness=Randomness(0)).ratio)
    assert 0.7 < np.mean(np.array(ratios, dtype=np.float64)) < 1.3


def test_different_samples_of_a_large_table_have_a_ratio_about_one() -> None:
    ratios = []
    for run in range(40):
        table = _table(run, 4000)
        ratios.append(measure_propensity(_pairs(table, table), randomness=Randomness(run), most=300).ratio)
    assert 0.7 < np.mean(np.array(ratios, dtype=np.float64)) < 1.3


def test_a_copy_has_nothing_and_a_shift_is_seen() -> None:
    table = _table(1, 500)
    same = measure_propensity(_pairs(table, table), randomness=Randomness(0))
    assert same.pmse == pytest.approx(0, abs=1e-12)
    assert same.parameters == 5
    moved = measure_propensity(_pairs(table, _table(2, 500, shift=1.0)), randomness=Randomness(0))
    assert moved.ratio is not None
    assert moved.ratio > 20


def test_tables_that_fall_apart_reach_the_greatest_value() -> None:
    before, after = pl.DataFrame({"x": np.arange(50.0)}), pl.DataFrame({"x": np.arange(100.0, 150.0)})
    found = measure_propensity(_pairs(before, after), randomness=Randomness(0))
    assert found.pmse == pytest.approx(0.25, abs=1e-3)


def test_a_sample_of_aligned_tables_takes_the_same_rows() -> None:
    table = _table(3, 1000)
    found = measure_propensity(_pairs(table, table), randomness=Randomness(0), aligned=True, most=100)
    assert found.sampled
    assert found.pmse == pytest.approx(0, abs=1e-12)


def test_nothing_varies() -> None:
    found = measure_propensity(_pairs(pl.DataFrame({"x": [1]}), pl.DataFrame({"x": [1]})), randomness=Randomness(0))
    assert found.ratio is None
    assert found.problem is not None
