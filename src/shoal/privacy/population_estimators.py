"""How many people are unique in the population, estimated from a sample (Dankar, El Emam et al. 2012).

All that an estimate sees is how many classes of each size the sample has. With n people in the sample, N in the
population, c₁ classes of one person, and the sampling fraction f = n/N:

- *Zayatz* turns the chance of a class of s people to show one of them, p(s) = s·C(N − s, n − 1)/C(N, n), into the
  chance that a sample unique is a population unique: U = c₁² ÷ Σ p(s) over the classes of the sample.
- *Pitman* takes the sizes for a draw from Pitman's sampling formula, whose θ and α are those of greatest likelihood:
  U = Γ(θ + 1)/Γ(θ + α)·N^α. Where α would leave [0, 1), the best of that range is taken (α = 0 is Ewens' formula).
- *SNB* takes size − 1 in the population for negative binomial (α, β), which Bernoulli sampling thins out. The number K
  of classes in the population is the modified Shlosser estimator (Haas et al. 1995), α and β are those that expect as
  many classes of one and of two people as the sample has: U = K·β^α.
- *Dankar* takes Pitman up to f = 0.1, above that the lower of SNB and Zayatz.

SNB gives no estimate up to f = 0.1. There, on samples of census data, it says anything from half the truth to several
times as much, and half the truth would let people through. Zayatz says too much there, which is the safe side.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import exp, inf, lgamma, log, log1p, pi

import numpy as np

from shoal.errors import DataError
from shoal.kernels.arrays import Floats, Integers

SMALL_FRACTION = 0.1
"""The sampling fraction up to which Dankar's rule takes Pitman's model."""
NEAR = 1e-12
"""How near a root has to be found."""
STEPS = 500
"""Halving alone would need fewer than a hundred."""


@dataclass(frozen=True)
class SampleSizes:
    """``numbers[i]`` classes of the sample have ``sizes[i]`` people; sizes go up."""

    sizes: Integers
    numbers: Integers

    @classmethod
    def of(cls, people: Integers) -> SampleSizes:
        sizes, numbers = np.unique(people[people > 0], return_counts=True)
        return cls(sizes, numbers.astype(np.int64))

    @property
    def people(self) -> int:
        return int(self.sizes @ self.numbers)

    @property
    def classes(self) -> int:
        return int(self.numbers.sum())

    def of_size(self, size: int) -> int:
        return int(self.numbers[self.sizes == size].sum())

    def without_uniques(self, number: int) -> SampleSizes:
        """After that many classes of one person are taken away."""
        left = self.numbers - number * (self.sizes == 1)
        return SampleSizes(self.sizes[left > 0], left[left > 0])


def uniques(sample: SampleSizes, population: int, model: str) -> float | None:
    """The estimated number of people who are unique in the population; None where the model gives no estimate."""
    if sample.people > population:
        raise DataError(
            f"the table has {sample.people} people, the population is said to have {population}",
            advice="give the size of the population that the table was drawn from",
        )
    alone = sample.of_size(1)
    if not alone or sample.people == population:
        return float(alone)
    return ESTIMATORS[model](sample, population)


def zayatz(sample: SampleSizes, population: int) -> float:
    one = sum(
        number * _one_is_drawn(size, sample.people, population)
        for size, number in zip(sample.sizes.tolist(), sample.numbers.tolist(), strict=True)
    )
    return min(float(population), float(sample.of_size(1) ** 2 / one))


def pitman(sample: SampleSizes, population: int) -> float:
    if sample.people == sample.classes:
        return float(population)
    if _slope_of_alpha(sample, 0.0) <= 0:
        return _theta(sample, 0.0)
    alpha = _root(lambda alpha: _slope_of_alpha(sample, alpha), 0.0, 1 - 1e-9)
    theta = _theta(sample, alpha)
    return min(float(population), exp(lgamma(theta + 1) - lgamma(theta + alpha) + alpha * log(population)))


def snb(sample: SampleSizes, population: int) -> float | None:
    from scipy.special import expit

    fraction = sample.people / population
    if fraction <= SMALL_FRACTION or not sample.of_size(2):
        return None
    classes = _classes_in_population(sample, fraction)

    def surplus(odds: float) -> float:
        return float(_expected_uniques(sample, fraction, np.array([odds]))[0] * classes - sample.of_size(1))

    odds = np.linspace(-20, 20, 161)
    above = _expected_uniques(sample, fraction, odds) * classes > sample.of_size(1)
    crossings = np.flatnonzero(above[1:] != above[:-1])
    roots = np.array([_root(surplus, odds[place], odds[place + 1]) for place in crossings])
    if not len(roots):
        return None
    beta = expit(roots)
    return min(float(population), float((classes * beta ** _matching_alpha(sample, fraction, beta)).max()))


def dankar(sample: SampleSizes, population: int) -> float:
    if sample.people <= SMALL_FRACTION * population:
        return pitman(sample, population)
    other = snb(sample, population)
    return min(zayatz(sample, population), inf if other is None else other)


ESTIMATORS: dict[str, Callable[[SampleSizes, int], float | None]] = {
    "dankar": dankar,
    "pitman": pitman,
    "zayatz": zayatz,
    "snb": snb,
}


def _one_is_drawn(size: int, drawn: int, population: int) -> float:
    """The chance that exactly one of ``size`` people is among those drawn from the population without putting back."""
    others = size - 1
    if population - drawn < others:
        return 0.0
    missed = _log_rising(population - drawn - others + 1, others) - _log_rising(population - others, others)
    return size * drawn / population * exp(missed)


def _log_rising(first: float, steps: float) -> float:
    """ln Γ(first + steps)/Γ(first), exact to steps·ln(first) roundings however large ``first`` is.

    The difference of two values of ``gammaln`` is not: in a population of a billion it has lost ten digits.
    """
    last = first + steps
    leading = (last - 0.5) * log1p(steps / first) + steps * log(first) - steps
    return leading + _stirling_rest(last) - _stirling_rest(first)


def _stirling_rest(x: float) -> float:
    if x < 10:
        return lgamma(x) - ((x - 0.5) * log(x) - x + 0.5 * log(2 * pi))
    return 1 / (12 * x) - 1 / (360 * x**3) + 1 / (1260 * x**5) - 1 / (1680 * x**7)


def _slope_of_alpha(sample: SampleSizes, alpha: float) -> float:
    """How the likelihood of Pitman's formula grows with α, at the best θ for it."""
    from scipy.special import digamma

    theta, classes = _theta(sample, alpha), sample.classes
    if alpha:
        between_classes = (classes - 1 - theta * _harmonic(theta, alpha, classes)) / alpha
    else:
        between_classes = classes * (classes - 1) / (2 * theta)
    within_classes = digamma(sample.sizes - alpha) - digamma(1 - alpha)
    return between_classes - float(sample.numbers @ within_classes)


def _theta(sample: SampleSizes, alpha: float) -> float:
    """The θ > 0 of greatest likelihood in Pitman's formula for a given α.

    There Σ 1/(θ + iα) over 0 < i < classes equals Σ 1/(θ + i) over 0 < i < people. No θ above people² can be it.
    """
    classes, people = sample.classes, sample.people

    def slope(log_theta: float) -> float:
        theta = exp(log_theta)
        return theta * (_harmonic(theta, alpha, classes) - _harmonic(theta, 1.0, people))

    return exp(_root(slope, log(1e-9), 2 * log(people)))


def _harmonic(start: float, step: float, number: int) -> float:
    """Σ 1/(start + i·step) over 0 < i < number."""
    from scipy.special import digamma

    if not step:
        return (number - 1) / start
    return float(digamma(start / step + number) - digamma(start / step + 1)) / step


def _classes_in_population(sample: SampleSizes, fraction: float) -> float:
    sizes, numbers, rest = sample.sizes, sample.numbers, 1 - fraction
    square = fraction * fraction
    shown = sizes * square * (1 - square) ** (sizes - 1) @ numbers
    missed = rest**sizes * ((1 + fraction) ** sizes - 1) @ numbers
    odds = (rest**sizes @ numbers) / (sizes * fraction * rest ** (sizes - 1) @ numbers)
    return float(sample.classes + sample.of_size(1) * shown / missed * odds**2)


def _matching_alpha(sample: SampleSizes, fraction: float, beta: Floats) -> Floats:
    """The α with which pairs ÷ uniques in the sample are as expected: the positive root of a quadratic equation."""
    ratio = sample.of_size(2) / sample.of_size(1)
    hidden = (1 - fraction) * (1 - beta)
    scale = fraction * (1 - beta) / (2 * (1 - hidden) ** 2)
    squared, linear = scale * hidden, scale * (2 - hidden) - ratio * hidden / (1 - hidden)
    both = np.abs(linear) + np.sqrt(linear**2 + 4 * squared * ratio)
    return np.where(linear > 0, 2 * ratio / both, both / (2 * squared))


def _expected_uniques(sample: SampleSizes, fraction: float, odds: Floats) -> Floats:
    """The share of the population's classes that show one person in the sample, by the log odds of β."""
    from scipy.special import expit

    beta = expit(odds)
    alpha = _matching_alpha(sample, fraction, beta)
    hidden = (1 - fraction) * (1 - beta)
    return np.asarray(fraction * (beta / (1 - hidden)) ** alpha * (1 + alpha * hidden / (1 - hidden)))


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    """Where the function changes its sign; the end nearer to zero where it does not.

    By Ridders' method, which halves first: the secant of Brent's begins near α = 0, where the slope is all rounding.
    """
    from scipy.optimize import ridder

    at_low, at_high = function(low), function(high)
    if (at_low > 0) == (at_high > 0):
        return low if abs(at_low) < abs(at_high) else high
    return float(ridder(function, low, high, xtol=NEAR, maxiter=STEPS))
