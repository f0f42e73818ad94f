"""Costs: sums, conversions against dp-accounting as a second opinion, and what ε means for a family."""

from __future__ import annotations

from decimal import Decimal
from math import exp, sqrt

import pytest
from dp_accounting import dp_event  # type: ignore[import-untyped]
from dp_accounting.pld import PLDAccountant  # type: ignore[import-untyped]
from dp_accounting.rdp import RdpAccountant  # type: ignore[import-untyped]
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.dp.accounting import Accountant, Accounting, PrivacyCost, epsilon_of, group_privacy, rho_of
from shoal.errors import InputError

pytestmark = pytest.mark.requirement("C-02")

DELTA = Decimal("1e-6")


@pytest.mark.parametrize("rho", [0.001, 0.05, 0.5, 3.0])
@pytest.mark.parametrize("delta", [1e-9, 1e-5])
def test_epsilon_of_rho_is_never_below_the_true_value(rho: float, delta: float) -> None:
    """A Gaussian of that ρ: its ε by privacy loss distributions is the truth (to 10⁻⁴), by RDP a bound as ours."""
    event = dp_event.GaussianDpEvent(1 / sqrt(2 * rho))
    truth = PLDAccountant().compose(event).get_epsilon(delta)
    orders = [1 + step / 100 for step in range(1, 5000)] + list(range(52, 5000))
    by_rdp = RdpAccountant(orders).compose(event).get_epsilon(delta)
    ours = epsilon_of(rho, delta)
    assert ours >= truth - 1e-3
    assert ours <= by_rdp * 1.01 + 1e-6


@given(st.floats(1e-3, 20), st.floats(1e-12, 1e-2))
@settings(max_examples=50)
def test_rho_of_epsilon_and_back(epsilon: float, delta: float) -> None:
    rho = rho_of(epsilon, delta)
    assert epsilon_of(rho, delta) <= epsilon
    assert epsilon_of(rho * 1.001, delta) > epsilon * 0.999


@given(st.lists(st.floats(1e-4, 1).map(lambda one: Decimal(str(round(one, 6)))), min_size=1, max_size=30))
def test_zcdp_never_costs_more_than_adding_up(amounts: list[Decimal]) -> None:
    accountant = Accountant(Accounting.ZCDP, DELTA)
    cost = PrivacyCost()
    for amount in amounts:
        cost += accountant.price(amount)
    assert accountant.epsilon(cost) <= sum(amounts) + Decimal("1e-6")


@pytest.mark.parametrize("accounting", [Accounting.PURE, Accounting.APPROXIMATE, Accounting.ZCDP])
def test_a_budget_bears_itself_and_no_more(accounting: Accounting) -> None:
    accountant = Accountant(accounting, Decimal(0) if accounting is Accounting.PURE else DELTA)
    limit = accountant.limit(Decimal(1))
    price = accountant.price(Decimal(1))
    assert price.fits(limit)
    assert not (price + accountant.price(Decimal("0.01"))).fits(limit)
    assert accountant.left(Decimal(1), PrivacyCost()) == pytest.approx(Decimal(1), abs=Decimal("1e-6"))
    assert accountant.left(Decimal(1), price) <= Decimal("1e-4")
    assert accountant.left(Decimal(1), price + price) == 0


def test_ten_tenths_are_one() -> None:
    accountant = Accountant(Accounting.PURE)
    cost = PrivacyCost()
    for _ in range(10):
        cost += accountant.price(Decimal("0.1"))
    assert cost.fits(accountant.limit(Decimal(1)))
    assert not (cost + PrivacyCost(Decimal("1e-9"))).fits(accountant.limit(Decimal(1)))


def test_pure_has_no_delta() -> None:
    with pytest.raises(InputError, match="δ"):
        Accountant(Accounting.PURE).price(Decimal(1), Decimal("1e-9"))
    with pytest.raises(InputError, match="δ"):
        rho_of(1.0, 0.0)


@given(st.floats(1e-3, 3), st.floats(0, 1e-3), st.integers(1, 12))
def test_group_privacy_is_the_sum_along_the_way(epsilon: float, delta: float, size: int) -> None:
    """From the dataset with nobody of the family to the one with all, a person at a time: P ≤ e^ε Q + δ each time."""
    grown = delta * sum(exp(epsilon * step) for step in range(size))
    found = group_privacy(epsilon, delta, size)
    assert found[0] == size * epsilon
    assert found[1] == pytest.approx(min(1.0, grown), rel=1e-9)
