"""Training in rounds: a random sample, its clipped gradients, noise, a step (DP-SGD: Abadi and others 2016).

Nothing but noisy sums of ``ClippedGradients`` is learnt from records; steps (Adam) and all that is drawn later are made
of these. With noise, the sum is rounded to a grid first and noise of whole steps is added:

- one person more or less moves the sum by at most ``bound``; rounding of W weights moves it by at most √W steps more,
  and arithmetic (53 bits, sums of up to 50,000 records; rates are chosen for 4,000) by less than a fiftieth of that;
- the grid is chosen such that the noise, whose scale is fixed, is z times all of this.

A record takes part in a round by a random word against a whole number, so the rate is exactly what is accounted for.
Of a person with m records some take part with probability 1 − (1 − q)^m, and each is clipped to an m-th of the bound.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import cos, expm1, log1p, pi, sqrt
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray

from shoal.dp.bulk_gaussian import SCALE, BulkGaussian
from shoal.errors import BugError, InputError
from shoal.kernels.arrays import Floats, Integers
from shoal.randomness import Randomness
from shoal.synth.deep_generator.architecture import Architecture, Weights
from shoal.synth.deep_generator.clipped_gradients import ClippedGradients

_ROUNDING: Final = 1.02
"""Steps for each weight's root that rounding and arithmetic may add to what a person moves."""
_WARM: Final = 10
_FIRST, _SECOND = 0.9, 0.999
_WORD: Final = 2.0**32


@dataclass(frozen=True)
class TrainingPlan:
    """How long, how fast, on how many."""

    rounds: int = 400
    rate: float = 0.1
    """The share of records in a round."""
    speed: float = 0.02
    information: float = 0.5
    """λ, below 1."""
    bound: float | None = None
    """Longest gradient of a person; none for no clipping."""
    multiplier: float = 0.0
    """Noise in units of what a person can move; 0 for none."""
    progress: Callable[[int, int | None], None] = field(default=lambda _done, _total: None, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.multiplier and self.bound is None:
            raise BugError("noise protects only where gradients are clipped")

    @property
    def exact_rate(self) -> float:
        """What is drawn, and accounted for: a whole number of 2⁻³²."""
        return max(1.0, round(self.rate * _WORD)) / _WORD

    def person_rate(self, rows_per_person: int) -> float:
        """How likely it is that a person takes part in a round."""
        return self.exact_rate if rows_per_person == 1 else -expm1(rows_per_person * log1p(-min(self.exact_rate, 0.5)))


@dataclass(frozen=True)
class TrainingRecords:
    """Records as codes."""

    codes: Integers
    number: float
    """How many there are, as far as may be known: with noise where there is a budget."""
    rows_per_person: int = 1


@dataclass(frozen=True)
class PrivateSum:
    """The one place where records become numbers that may be used: a clipped sum with noise on a grid."""

    gradients: ClippedGradients
    plan: TrainingPlan
    noise: BulkGaussian | None

    @property
    def grid(self) -> float:
        """The step of the grid, in units of gradients."""
        steps = SCALE / self.plan.multiplier - _ROUNDING * sqrt(len(self.gradients.architecture.free))
        if steps < 100:
            raise InputError("is too small for a network of this size; give more, or fewer columns", field="epsilon")
        return (self.plan.bound or 0.0) / steps

    def of(self, weights: Weights, codes: Integers, rows_per_person: int) -> Floats:
        """The sum over some records, of which a person has so many at most."""
        plan = self.plan
        found = self.gradients.summed(weights, codes, None if plan.bound is None else plan.bound / rows_per_person)
        if self.noise is None:
            return found.packed
        rounded = np.rint(found.packed / self.grid).astype(np.int64)
        return (rounded + self.noise.draw(len(rounded))).astype(np.float64) * self.grid


def trained(
    architecture: Architecture,
    beginning: Weights,
    records: TrainingRecords,
    plan: TrainingPlan,
    chance: Randomness,
) -> Weights:
    """Weights after all rounds. With noise, who takes part and the noise are drawn anew each time, from no seed."""
    if plan.multiplier and chance.seeded:
        raise BugError("noise that protects people was to be drawn from a seed")
    chance = Randomness() if plan.multiplier else chance
    noise = BulkGaussian(chance) if plan.multiplier else None
    private = PrivateSum(ClippedGradients(architecture, plan.information), plan, noise)
    sampling, ids = chance.stream("synth", "deep", "sample"), np.arange(len(records.codes), dtype=np.uint64)
    expected = max(1.0, plan.exact_rate * records.number)
    weights = architecture.packed(beginning)
    first, second = np.zeros_like(weights), np.zeros_like(weights)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        for number in range(plan.rounds):
            plan.progress(number, plan.rounds)
            codes = records.codes[_taking_part(sampling.words(ids, number)[:, 0], plan)]
            gradient = private.of(architecture.unpacked(weights), codes, records.rows_per_person) / expected
            first = _FIRST * first + (1 - _FIRST) * gradient
            second = _SECOND * second + (1 - _SECOND) * gradient**2
            towards = first / (1 - _FIRST ** (number + 1)) / (np.sqrt(second / (1 - _SECOND ** (number + 1))) + 1e-8)
            weights = weights - plan.speed * _pace(number, plan.rounds) * towards
    finally:
        torch.set_num_threads(threads)
    return architecture.unpacked(weights)


def _taking_part(words: NDArray[np.uint64], plan: TrainingPlan) -> NDArray[np.bool_]:
    """By the upper 32 bits, so that a rate of 1 takes all."""
    return (words >> np.uint64(32)).astype(np.float64) < plan.exact_rate * _WORD


def _pace(number: int, rounds: int) -> float:
    return min(1.0, (number + 1) / _WARM) * (0.05 + 0.95 * (1 + cos(pi * number / rounds)) / 2)
