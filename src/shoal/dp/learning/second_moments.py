r"""Noisy second moments Σ w wᵀ of w = (x, 1): what regression and principal components are worked out of.

**Why it protects.** x is scaled into [−1, 1]^d with ‖x‖₂ ≤ N. What a person adds is the upper triangle of
w wᵀ, whose last entry counts them. With W = N² + 1 ≥ ‖w‖₂² and entries within ±1,

    Σ_{i≤j} (wᵢwⱼ)² = (‖w‖₂⁴ + Σ wᵢ⁴) / 2 ≤ (W² + W) / 2,    Σ_{i≤j} |wᵢwⱼ| = (‖w‖₁² + ‖w‖₂²) / 2 .

References: Dwork, Talwar, Thakurta, Zhang (STOC 2014); Vu, Slavković (ICDMW 2009) for regression.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np

from shoal.dp.learning.fixed_point import UNITS, LearningBudget, PersonalSums, Reals, Wholes
from shoal.dp.learning.public_box import PublicBox

_BATCH = 4096
"""Rows whose products are in memory at once."""


@dataclass(frozen=True)
class SecondMoments:
    count: float
    """Of people, with noise, at least one."""
    mean: Reals
    covariance: Reals
    """About the mean, over the count; noise may have made it indefinite."""
    deviation: float
    """Standard deviation of the noise in an entry of it."""


def moment_sums(box: PublicBox) -> PersonalSums:
    size = box.features + 1
    length = box.norm**2 + 1
    return PersonalSums(
        entries=size * (size + 1) // 2,
        l1=((box.l1 + 1) ** 2 + length) / 2,
        l2=sqrt((length**2 + length) / 2),
    )


def exact_moments(scaled: Reals, sums: PersonalSums) -> Wholes:
    """The upper triangle, row after row, in whole units."""
    total = np.zeros(sums.entries, dtype=np.int64)
    first, second = np.triu_indices(scaled.shape[1] + 1)
    for start in range(0, len(scaled), _BATCH):
        part = scaled[start : start + _BATCH]
        rows = np.column_stack([part, np.ones(len(part))])
        total += sums.units(rows[:, first] * rows[:, second]).sum(axis=0)
    return total


def noisy_moments(scaled: Reals, box: PublicBox, budget: LearningBudget) -> SecondMoments:
    sums = moment_sums(box)
    noise = sums.noise(budget)
    told = sums.noisy(exact_moments(scaled, sums), noise)
    size = box.features + 1
    products = np.zeros((size, size))
    products[np.triu_indices(size)] = told
    products += np.triu(products, 1).T
    count = max(1.0, float(products[-1, -1]))
    mean = np.clip(products[-1, :-1] / count, -1.0, 1.0)
    covariance = products[:-1, :-1] / count - np.outer(mean, mean)
    return SecondMoments(count, mean, covariance, noise.standard_error / UNITS / count)
