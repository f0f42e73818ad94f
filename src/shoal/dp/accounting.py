"""What questions cost and how costs add up: pure ε, (ε, δ) by plain addition, or zero-concentrated (ρ).

A cost is added in exact decimals, so a budget of 1 bears ten questions of 0.1 and not an eleventh.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from enum import StrEnum
from functools import cache
from math import exp, expm1, log, log1p
from typing import Final

from shoal.errors import InputError

_PLACES: Final = Decimal("1e-15")
_SHOWN: Final = Decimal("1e-9")
_ZERO: Final = Decimal(0)
_BOUNDLESS: Final = 300.0
"""A factor of e to this makes any δ that can be written 1."""


class Accounting(StrEnum):
    PURE = "pure"
    APPROXIMATE = "approximate"
    ZCDP = "zcdp"


@dataclass(frozen=True)
class PrivacyCost:
    """What adds up: ε (or ρ, where that is the unit) and δ.

    >>> PrivacyCost(Decimal("0.1"), Decimal(0)) + PrivacyCost(Decimal("0.2"), Decimal("1e-9"))
    PrivacyCost(amount=Decimal('0.3'), delta=Decimal('1E-9'))
    """

    amount: Decimal = _ZERO
    delta: Decimal = _ZERO

    def __add__(self, other: PrivacyCost) -> PrivacyCost:
        return PrivacyCost(self.amount + other.amount, self.delta + other.delta)

    def __sub__(self, other: PrivacyCost) -> PrivacyCost:
        return PrivacyCost(self.amount - other.amount, self.delta - other.delta)

    def fits(self, limit: PrivacyCost) -> bool:
        return self.amount <= limit.amount and self.delta <= limit.delta


@dataclass(frozen=True)
class Accountant:
    """Between what people say, ε and δ, and what is added up.

    With zCDP half of the budget's δ is for turning ρ into (ε, δ), the other half for groups whose keys are not public.
    """

    accounting: Accounting
    delta: Decimal = _ZERO
    """Of the whole budget."""

    def limit(self, epsilon: Decimal) -> PrivacyCost:
        """A budget of ε and the δ of the dataset."""
        if self.accounting is Accounting.ZCDP:
            return PrivacyCost(_rounded_down(rho_of(float(epsilon), self._converting)), self.delta / 2)
        return PrivacyCost(epsilon, self.delta)

    def price(self, epsilon: Decimal, delta: Decimal = _ZERO) -> PrivacyCost:
        """Of a question that is (ε, δ)-differentially private when it is asked alone."""
        if delta and self.accounting is Accounting.PURE:
            raise InputError("groups whose keys are not public need a δ, which pure ε has not")
        if self.accounting is Accounting.ZCDP:
            return PrivacyCost(_rounded_down(rho_of(float(epsilon), self._converting)), delta)
        return PrivacyCost(epsilon, delta)

    def learning_price(self, epsilon: Decimal, delta: Decimal, rho: float, apart: Decimal = _ZERO) -> PrivacyCost:
        """Of a model that is ρ-zCDP, but for a chance of ``apart``, and by itself (ε, δ)-differentially private."""
        if self.accounting is Accounting.ZCDP:
            return PrivacyCost(Decimal(rho).quantize(_PLACES, rounding=ROUND_CEILING), apart)
        if delta and self.accounting is Accounting.PURE:
            raise InputError("has to be 0 where the budget is of ε alone", field="delta")
        return PrivacyCost(epsilon, delta)

    def epsilon(self, cost: PrivacyCost) -> Decimal:
        """What a sum of costs means as ε, at the δ of the budget."""
        if self.accounting is Accounting.ZCDP:
            return Decimal(epsilon_of(float(cost.amount), self._converting)).quantize(_SHOWN)
        return cost.amount

    def left(self, limit: Decimal, spent: PrivacyCost) -> Decimal:
        """ε of the largest question that still fits, never below nothing."""
        return self.rest(self.limit(limit), spent)

    def rest(self, limit: PrivacyCost, spent: PrivacyCost) -> Decimal:
        """The same, where the budget is given as what adds up."""
        rest = max(_ZERO, limit.amount - spent.amount)
        if self.accounting is Accounting.ZCDP:
            return Decimal(epsilon_of(float(rest), self._converting)).quantize(_SHOWN) if rest else _ZERO
        return rest

    @property
    def _converting(self) -> float:
        return float(self.delta / 2)


def epsilon_of(rho: float, delta: float) -> float:
    """The least ε that is known for ρ-zCDP at δ: Canonne, Kamath, Steinke (2020), corollary 13.

    Any α gives a true bound, so what the search misses costs tightness only.

    >>> round(epsilon_of(0.5, 1e-6), 3)
    5.222
    """
    from scipy.optimize import minimize_scalar

    if rho <= 0:
        return 0.0

    def bound(order: float) -> float:
        alpha = 1 + exp(order)
        return rho * alpha + log(1 / (alpha * delta)) / (alpha - 1) + log1p(-1 / alpha)

    return max(0.0, float(minimize_scalar(bound, bounds=(-12, 18), method="bounded").fun))


@cache
def rho_of(epsilon: float, delta: float) -> float:
    """The largest ρ whose ε at δ is not above the given one."""
    if not 0 < delta < 1:
        raise InputError("zCDP needs a δ above 0 in the budget")
    low, high = 0.0, max(epsilon, 1e-300)
    while epsilon_of(high, delta) < epsilon:
        high *= 2
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if epsilon_of(middle, delta) <= epsilon else (low, middle)
    return low


def group_privacy(epsilon: float, delta: float, size: int) -> tuple[float, float]:
    """What a guarantee for one person is for several together, such as a family (Dwork, Roth 2014, theorem 2.2).

    >>> group_privacy(0.5, 0.0, 4)
    (2.0, 0.0)
    """
    if delta == 0 or size == 1:
        return size * epsilon, delta
    if (size - 1) * epsilon > _BOUNDLESS:
        return size * epsilon, 1.0
    grown = delta * size if epsilon == 0 else delta * expm1(size * epsilon) / expm1(epsilon)
    return size * epsilon, min(1.0, grown)


def _rounded_down(number: float) -> Decimal:
    return Decimal(number).quantize(_PLACES, rounding=ROUND_FLOOR)
