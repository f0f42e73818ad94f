"""Sums over people on a fixed grid, with what one person can change, and the noise that goes with it.

A row adds a vector v of real numbers with ‖v‖₁ ≤ l1 and ‖v‖₂ ≤ l2, known from public bounds alone. It is rounded to
whole multiples of 2⁻²⁰ row by row, so sums are exact and no rounding depends on other rows. To add or take away a row
changes the m sums, in units, by at most 2²⁰·l1 + m/2 and 2²⁰·l2 + √m/2: half a unit for the rounding of each entry.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, isfinite, sqrt
from typing import Final

import numpy as np
from numpy.typing import NDArray

from shoal.dp.accounting import rho_of
from shoal.dp.opendp_measurements import GaussianNoise, LaplaceNoise, Noise
from shoal.errors import InputError

Reals = NDArray[np.float64]
Wholes = NDArray[np.int64]

UNITS: Final = 2**20
"""In one."""
_NEARLY: Final = 1 + 1e-9
"""Bounds are kept by floating-point arithmetic, which may be off in the last places."""


@dataclass(frozen=True)
class LearningBudget:
    """What a fit may cost: ε alone with Laplace noise, or ρ (zCDP) that means (ε, δ), with Gaussian noise.

    >>> LearningBudget.of(1.0, 0.0).share(0.25)
    LearningBudget(amount=0.25, gaussian=False)
    """

    amount: float
    gaussian: bool

    @classmethod
    def of(cls, epsilon: object, delta: object) -> LearningBudget:
        allowed, failure = _number(epsilon, "epsilon"), _number(delta, "delta")
        if allowed <= 0:
            raise InputError("has to be a number above 0, as 0.5", field="epsilon")
        if not 0 <= failure < 1:
            raise InputError("has to be 0, or a small number below 1, as 1e-6", field="delta")
        return cls(rho_of(allowed, failure), gaussian=True) if failure else cls(allowed, gaussian=False)

    @property
    def rho(self) -> float:
        """As zCDP; of ε alone it is ε² / 2 (Bun, Steinke 2016, proposition 1.4)."""
        return self.amount if self.gaussian else self.amount**2 / 2

    def share(self, fraction: float) -> LearningBudget:
        """A part of it: costs of both kinds add up."""
        return LearningBudget(self.amount * fraction, self.gaussian)


@dataclass(frozen=True)
class PersonalSums:
    """Sums of what people add, each of them a vector of so many entries."""

    entries: int
    l1: float
    """Of what one person adds, at most: the sum of absolute entries."""
    l2: float
    """The same as Euclid's length."""

    @property
    def l1_units(self) -> int:
        return ceil(UNITS * self.l1 * _NEARLY + self.entries / 2)

    @property
    def l2_units(self) -> float:
        return UNITS * self.l2 * _NEARLY + sqrt(self.entries) / 2

    def units(self, rows: Reals) -> Wholes:
        """What each row adds."""
        return np.rint(rows * UNITS).astype(np.int64)

    def noise(self, budget: LearningBudget) -> Noise:
        if budget.gaussian:
            return GaussianNoise(self.l2_units, budget.amount)
        return LaplaceNoise(self.l1_units, budget.amount)

    def noisy(self, exact: Wholes, noise: Noise) -> Reals:
        """With noise, back in ones. Where there are several groups and a row is in one of them: all groups at once."""
        told = noise.add(exact.ravel().tolist())
        return np.asarray(told, dtype=np.float64).reshape(exact.shape) / UNITS

    def by_group(self, rows: Reals, groups: NDArray[np.intp], number: int) -> Wholes:
        """Sums for each of so many groups; every row is in one group."""
        sums = np.zeros((number, self.entries), dtype=np.int64)
        np.add.at(sums, groups, self.units(rows))
        return sums


def _number(given: object, field: str) -> float:
    try:
        number = float(given)  # type: ignore[arg-type]  # what is no number says so
    except (TypeError, ValueError):
        number = float("nan")
    if not isfinite(number):
        raise InputError("has to be a number", field=field)
    return number
