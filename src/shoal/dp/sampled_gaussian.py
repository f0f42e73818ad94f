"""What training with noise costs: many rounds, each on a random sample, each with Gaussian noise (DP-SGD).

A person is in a round with probability q and moves a sum by at most 1 there; the noise has the standard deviation z. Of
such a round the Rényi divergence of order α is at most ln Aα / (α − 1), with

    Aα = Σₖ C(α, k) · (1 − q)^(α−k) · q^k · exp((k² − k) / 2z²)

for whole α (Mironov, Talwar, Zhang 2019), in both directions. Rounds add up (Mironov 2017). All terms are positive, so
nothing cancels. For whole orders the formula holds for discrete noise on a grid word for word: the k-th moment of the
ratio of two discrete Gaussians that are a whole number of steps apart is exp((k² − k) / 2z²) exactly, and a reflection
of the grid swaps them, which is all that the proof of the second direction needs. Other orders are not used.

The reader of ε is Canonne, Kamath, Steinke (2020), proposition 12. Accountants that convolve whole distributions give a
few per cent less; this one is short enough to be read.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import exp, log, sqrt
from typing import Final

import numpy as np
from numpy.typing import NDArray

from shoal.errors import InputError

_ORDERS: Final = np.array([*range(2, 64), *range(64, 256, 8), *range(256, 1025, 64)], dtype=np.int64)
_LEAST_NOISE, _MOST_NOISE = 0.2, 5_000.0


@dataclass(frozen=True)
class SampledRounds:
    """Rounds of training, and whatever else was told at a cost in zCDP."""

    rate: float
    """q"""
    rounds: int
    multiplier: float
    """z: the noise in units of what one person can move."""
    rho: float = 0.0
    """zCDP of what was told beside: its divergence of order α is ρα."""

    @cached_property
    def _divergences(self) -> NDArray[np.float64]:
        return np.array([self.rounds * _divergence(int(order), self.rate, self.multiplier) for order in _ORDERS])

    def epsilon(self, delta: float) -> float:
        """The least ε that is known at δ.

        >>> round(SampledRounds(rate=0.01, rounds=1000, multiplier=1.0).epsilon(1e-5), 2)
        2.11
        """
        told = self._divergences + self.rho * _ORDERS
        bounds = told + np.log1p(-1 / _ORDERS) - (log(delta) + np.log(_ORDERS)) / (_ORDERS - 1)
        return max(0.0, float(bounds.min()))


def _divergence(order: int, rate: float, multiplier: float) -> float:
    from scipy.special import gammaln, logsumexp

    if rate == 1:
        return order / (2 * multiplier**2)
    k = np.arange(order + 1)
    ways = gammaln(order + 1) - gammaln(k + 1) - gammaln(order - k + 1)
    terms = ways + (order - k) * np.log1p(-rate) + k * log(rate) + (k * k - k) / (2 * multiplier**2)
    return max(0.0, float(logsumexp(terms))) / (order - 1)


def least_multiplier(rate: float, rounds: int, epsilon: float, delta: float, rho: float = 0.0) -> float:
    """The least noise with which the rounds, and what was told beside, stay within ε at δ."""
    low, high = _LEAST_NOISE, _MOST_NOISE
    if SampledRounds(rate, rounds, high, rho).epsilon(delta) > epsilon:
        raise InputError(
            "is too small to learn anything by training; give more, or take another method", field="epsilon"
        )
    while high / low > 1 + 1e-5:
        middle = sqrt(low * high)
        if SampledRounds(rate, rounds, middle, rho).epsilon(delta) > epsilon:
            low = middle
        else:
            high = middle
    return high


def delta_left(delta: float, epsilon: float, distance: float) -> float:
    """δ less what noise costs that is so far from the one the proof is about."""
    left = delta - (1 + exp(min(epsilon, 700.0))) * distance
    if left < delta / 2:
        raise InputError("is too large to mean anything; train without", field="epsilon")
    return left
