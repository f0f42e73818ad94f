"""Running totals from one budget: noise that grows with the logarithm of time, not with its root (ISO 10.3.2).

Numbers by period x₁ … x_T are not told one by one. What gets noise are weighted sums of them, the rows of a strategy S
of whole numbers; totals and single periods are worked out of the noisy sums by least squares (the matrix mechanism, Li
et al. 2015). A row is told as soon as its last period is over, so a report can be published period by period. Of a few
strategies the one with the least expected error is taken:

* each period by itself, whose totals add up the noise of all periods before;
* trees of several widths: sums over stretches of periods (Dwork et al. 2010), put together as Honaker (2015) does;
* the root of the matrix that makes totals (Fichtenberger et al. 2023).

>>> rough = expected_error(single_periods(365), Accounting.ZCDP)
>>> expected_error(best_strategy(365, Accounting.ZCDP), Accounting.ZCDP) < 0.2 * rough
True
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from math import ceil, sqrt
from typing import Final

import numpy as np
from numpy.typing import NDArray

from shoal.dp.accounting import Accounting
from shoal.dp.opendp_measurements import GaussianNoise, LaplaceNoise, Noise

WIDTHS: Final = (2, 4, 8, 16)
"""Of trees that are tried."""
_FINE: Final = 2**12
"""Weights of the root are whole multiples of one in so many."""
Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class TotalsStrategy:
    name: str
    weights: NDArray[np.int64]
    """One row for each sum, one column for each period."""

    @property
    def periods(self) -> int:
        return int(self.weights.shape[1])

    @property
    def l1(self) -> int:
        """What one unit in one period changes at most, in the sum of changes."""
        return int(np.abs(self.weights).sum(axis=0).max())

    @property
    def l2(self) -> float:
        return sqrt(float((self.weights.astype(np.float64) ** 2).sum(axis=0).max()))

    def told_by(self, period: int) -> NDArray[np.int64]:
        """The rows that are complete when so many periods are over."""
        last = self.weights.shape[1] - 1 - np.argmax(self.weights[:, ::-1] != 0, axis=1)
        return np.flatnonzero(last < period)

    def noise(self, accounting: Accounting, most: int, amount: float) -> Noise:
        """For numbers that a person can change by ``most`` units in all, whichever periods these are in."""
        if accounting is Accounting.ZCDP:
            return GaussianNoise(self.l2 * most, amount)
        return LaplaceNoise(self.l1 * most, amount)

    def totals(self, period: int) -> Matrix:
        """How the totals after each of the first periods are worked out of the rows that are told by then."""
        return np.asarray(np.cumsum(self.single(period), axis=0))

    def single(self, period: int) -> Matrix:
        """The same for each of the periods by itself, by least squares."""
        told = self.weights[self.told_by(period), :period].astype(np.float64)
        return np.asarray(np.linalg.solve(told.T @ told, told.T))


def expected_error(strategy: TotalsStrategy, accounting: Accounting) -> float:
    """Root of the mean squared error of the running totals, up to a factor that all strategies share."""
    reach = strategy.l2 if accounting is Accounting.ZCDP else strategy.l1
    return reach * sqrt(float((strategy.totals(strategy.periods) ** 2).sum()) / strategy.periods)


@cache
def best_strategy(periods: int, accounting: Accounting) -> TotalsStrategy:
    return min(_strategies(periods), key=lambda strategy: expected_error(strategy, accounting))


def _strategies(periods: int) -> Iterator[TotalsStrategy]:
    yield single_periods(periods)
    for width in WIDTHS:
        if width < periods:
            yield tree(periods, width)
    yield root(periods)


def single_periods(periods: int) -> TotalsStrategy:
    return TotalsStrategy("single periods", np.eye(periods, dtype=np.int64))


def tree(periods: int, width: int) -> TotalsStrategy:
    """Single periods, stretches of ``width`` of them, stretches of these, and so on.

    >>> tree(4, 2).weights.tolist()
    [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [1, 1, 0, 0], [0, 0, 1, 1], [1, 1, 1, 1]]
    """
    rows = [np.eye(periods, dtype=np.int64)]
    length = width
    while length < periods * width:
        stretches = np.zeros((ceil(periods / length), periods), dtype=np.int64)
        for place in range(len(stretches)):
            stretches[place, place * length : (place + 1) * length] = 1
        rows.append(stretches)
        length *= width
    return TotalsStrategy(f"tree of width {width}", np.vstack(rows))


def root(periods: int) -> TotalsStrategy:
    """R with R · R = the matrix that makes totals: 1, 1/2, 3/8, … below the diagonal.

    Each column is brought to the same length, so that no period is protected more than the others need (Kalinin,
    Lampert 2024), and to whole numbers.
    """
    factors = np.ones(periods)
    for place in range(1, periods):
        factors[place] = factors[place - 1] * (1 - 1 / (2 * place))
    lengths = np.sqrt(np.cumsum(factors**2))
    weights = np.zeros((periods, periods), dtype=np.int64)
    for column in range(periods):
        below = periods - column
        weights[column:, column] = np.rint(factors[:below] / lengths[below - 1] * _FINE)
    return TotalsStrategy("root", weights)
