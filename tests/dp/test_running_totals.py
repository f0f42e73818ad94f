"""Strategies for running totals: they give back what was put in, cost what they say, and lose little to noise."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.dp.accounting import Accounting
from shoal.dp.opendp_measurements import GaussianNoise, LaplaceNoise
from shoal.dp.running_totals import TotalsStrategy, best_strategy, expected_error, root, single_periods, tree

pytestmark = pytest.mark.requirement("C-05")

MADE = [single_periods(9), tree(9, 2), tree(9, 4), root(9), root(30)]


@pytest.mark.parametrize("strategy", MADE, ids=lambda strategy: f"{strategy.name} {strategy.periods}")
def test_without_noise_totals_and_periods_come_back(strategy: TotalsStrategy) -> None:
    numbers = np.random.default_rng(1).integers(0, 1000, strategy.periods)
    for over in range(1, strategy.periods + 1):
        told = strategy.weights[strategy.told_by(over)] @ numbers
        assert strategy.single(over) @ told == pytest.approx(numbers[:over], abs=1e-6)
        assert strategy.totals(over) @ told == pytest.approx(np.cumsum(numbers[:over]), abs=1e-6)


@pytest.mark.parametrize("strategy", MADE, ids=lambda strategy: f"{strategy.name} {strategy.periods}")
def test_no_row_is_told_before_its_last_period_is_over(strategy: TotalsStrategy) -> None:
    for over in range(1, strategy.periods + 1):
        assert not strategy.weights[strategy.told_by(over), over:].any()
    assert len(strategy.told_by(strategy.periods)) == len(strategy.weights)


@given(
    changes=st.lists(st.tuples(st.integers(0, 8), st.integers(-3, 3)), min_size=1, max_size=4),
    place=st.integers(0, len(MADE) - 2),
)
def test_nobody_changes_the_sums_more_than_is_said(changes: list[tuple[int, int]], place: int) -> None:
    strategy = MADE[place]
    change = np.zeros(strategy.periods, dtype=np.int64)
    for period, units in changes:
        change[period] += units
    moved = strategy.weights @ change
    units = sum(abs(one) for _, one in changes)
    assert np.abs(moved).sum() <= strategy.l1 * units
    assert np.sqrt((moved.astype(float) ** 2).sum()) <= strategy.l2 * units * (1 + 1e-12)


def test_a_year_of_days_has_a_fifth_of_the_error_of_noise_on_each_day() -> None:
    plain = expected_error(single_periods(365), Accounting.ZCDP)
    best = best_strategy(365, Accounting.ZCDP)
    assert best.name == "root"
    assert expected_error(best, Accounting.ZCDP) <= 0.2 * plain


def test_no_strategy_is_taken_that_is_worse_than_single_periods() -> None:
    for periods in (1, 2, 12, 52):
        for accounting in Accounting:
            plain = expected_error(single_periods(periods), accounting)
            assert expected_error(best_strategy(periods, accounting), accounting) <= plain


def test_the_expected_error_is_what_noise_gives() -> None:
    strategy = root(40)
    noise = strategy.noise(Accounting.ZCDP, 1, 0.5)
    assert isinstance(noise, GaussianNoise)
    made = strategy.totals(40)
    drawn = np.asarray([made @ np.asarray(noise.add([0] * 40)) for _ in range(400)])
    expected = expected_error(strategy, Accounting.ZCDP) * noise.scale / strategy.l2
    assert np.sqrt((drawn**2).mean()) == pytest.approx(expected, rel=0.08)


def test_pure_budgets_get_laplace_noise() -> None:
    noise = tree(16, 4).noise(Accounting.PURE, 2, 0.5)
    assert isinstance(noise, LaplaceNoise)
    assert noise.scale == tree(16, 4).l1 * 2 / 0.5
