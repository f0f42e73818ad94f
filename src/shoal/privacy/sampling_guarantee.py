"""What random sampling and the suppression of small groups guarantee together: (ε, δ)-differential privacy.

Each person is drawn with chance β, by themselves; drawn people are grouped by values that were made coarser in a way
that does not depend on the data; groups of fewer than k drawn people are left out (Li, Qardaji and Su 2012, theorem 5;
Bild, Kuhn and Prasser 2018). With γ = 1 − (1 − β)·e^−ε this is (ε, δ)-differentially private where β ≤ 1 − e^−ε and

    δ ≥ max over n ≥ ⌈k/γ⌉ − 1 of P(X > γ·n), X binomial with n trials of chance β.

Decision 0026 has the proof. Whatever is rounded here is rounded to the safe side: β down, δ up.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

BLOCK = 1024
"""Sizes of groups that are looked at in one go."""
TAIL_ERROR = 1e-9
"""What a binomial tail is raised by, as a share of it: far more than its rounding."""
EDGE_ERROR = 1e-12
"""What γ·n is lowered by, as a share of it, so that rounding never leaves out a number of people at the edge."""


@dataclass(frozen=True)
class SamplingGuarantee:
    """
    >>> SamplingGuarantee.of(epsilon=1.0, delta=1e-6)
    SamplingGuarantee(epsilon=1.0, delta=1e-06, sampling=0.632120558828557..., smallest_group=...)
    """

    epsilon: float
    delta: float
    sampling: float
    """β, the chance of each person to be drawn."""
    smallest_group: int
    """k, the fewest drawn people that a released group has."""

    @classmethod
    def of(cls, epsilon: float, delta: float) -> SamplingGuarantee:
        """With the largest β that ε allows, and the least k that then does for δ."""
        sampling = largest_sampling(epsilon)
        return cls(epsilon, delta, sampling, least_group(epsilon, delta, sampling))


def largest_sampling(epsilon: float) -> float:
    """1 − e^−ε, rounded down."""
    return math.nextafter(math.nextafter(-math.expm1(-epsilon), 0.0), 0.0)


@lru_cache(maxsize=256)
def least_group(epsilon: float, delta: float, sampling: float) -> int:
    """The least k with δ(k) ≤ δ; δ(k) never rises with k, since the maximum is then over fewer n."""
    too_few, enough = 0, 1
    while delta_of(enough, epsilon, sampling) > delta:
        too_few, enough = enough, 2 * enough
    while enough - too_few > 1:
        middle = (too_few + enough) // 2
        if delta_of(middle, epsilon, sampling) > delta:
            too_few = middle
        else:
            enough = middle
    return enough


def delta_of(k: int, epsilon: float, sampling: float) -> float:
    """δ for groups of at least k drawn people.

    The maximum over endlessly many n is found in finitely many: by Chernoff's bound P(X > γ·n) ≤ e^(−n·D), D the
    relative entropy of γ and β, so once that is below the largest tail so far no later n has a larger one.
    """
    from scipy.stats import binom

    kept_out = (1 - sampling) * math.exp(-epsilon)
    gamma = 1 - kept_out
    entropy = gamma * math.log(gamma / sampling) - epsilon * kept_out
    first, largest = max(1, math.ceil(k / gamma) - 2), 0.0
    while True:
        sizes = np.arange(first, first + BLOCK, dtype=np.float64)
        drawn = np.maximum(k - 1, np.floor(sizes * gamma * (1 - EDGE_ERROR)))
        largest = max(largest, float(binom.sf(drawn, sizes, sampling).max()))
        first += BLOCK
        if math.exp(-first * entropy) <= largest:
            return min(1.0, largest * (1 + TAIL_ERROR))
