"""The one seam to OpenDP: its measurements on whole numbers, made once and asked many times.

OpenDP's samplers are discrete and exact, and each measurement states what it costs by a proven map; what is stated here
is checked against that map, so an error in our arithmetic stops an answer instead of weakening it.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from itertools import accumulate
from math import exp, log, sqrt
from types import ModuleType
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from shoal.errors import BugError, InputError, install_advice

WholeNumbers = Sequence[int] | NDArray[np.int64]
"""As an array where there are many: OpenDP looks at the numbers of a list one by one."""

_LARGEST: Final = 2**62
_TRIES: Final = 20
_NEARLY: Final = 1 + 1e-9
"""Maps are computed in floating point, rounded against us."""
_NORMAL_FROM: Final = 300
"""Laplace variables that are added up: from so many on, the normal distribution is as good."""


@cache
def opendp() -> ModuleType:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it warns of optional parts that are not used here
            from opendp import prelude
    except ModuleNotFoundError:
        raise InputError("differential privacy needs OpenDP", advice=install_advice("dp")) from None
    prelude.enable_features("contrib")
    return prelude


@cache
def _whole_numbers() -> Any:
    dp = opendp()
    return dp.vector_domain(dp.atom_domain(T="i64"))


@lru_cache(maxsize=256)
def _laplace(scale: float) -> Any:
    dp = opendp()
    return dp.m.make_laplace(_whole_numbers(), dp.l1_distance(T="i64"), scale=scale)


@lru_cache(maxsize=256)
def _gaussian(scale: float) -> Any:
    dp = opendp()
    return dp.m.make_gaussian(_whole_numbers(), dp.l2_distance(T="f64"), scale=scale)


def _within(stated: float, proven: float) -> None:
    if proven > stated * _NEARLY:
        raise BugError(f"a measurement would cost {proven:g} where {stated:g} was stated")


@dataclass(frozen=True)
class LaplaceNoise:
    """Discrete Laplace noise on a vector of whole numbers: ε = L1 sensitivity / scale.

    >>> noise = LaplaceNoise(sensitivity=2, epsilon=0.5)
    >>> noise.scale, round(noise.standard_error, 2), noise.half_width(0.95)
    (4.0, 5.64, 12)
    """

    sensitivity: int
    """By how much a person can change the vector, in the sum of absolute changes."""
    epsilon: float

    @property
    def scale(self) -> float:
        return self.sensitivity / self.epsilon

    @property
    def standard_error(self) -> float:
        decay = exp(-1 / self.scale)
        return sqrt(2 * decay) / (1 - decay)

    def half_width(self, confidence: float) -> int:
        """The least w with P(|noise| ≤ w) ≥ confidence: 1 − 2·pʷ⁺¹ / (1 + p) for p = exp(−1/scale)."""
        decay = exp(-1 / self.scale)
        steps = log((1 - confidence) * (1 + decay) / 2) * -self.scale
        return max(0, _up(steps - 1))

    def half_width_of_sum(self, terms: int, confidence: float) -> float:
        """The same for so many of them added up; two sums of exponential variables, one taken from the other."""
        return self.half_width(confidence) if terms == 1 else _laplace_sum_width(terms, confidence) * self.scale

    def add(self, values: WholeNumbers) -> list[int]:
        return list(self._measurement(_clamped(values))) if len(values) else []

    @cached_property
    def _measurement(self) -> Any:
        made = _laplace(self.scale)
        _within(self.epsilon, made.map(self.sensitivity))
        return made


@dataclass(frozen=True)
class GaussianNoise:
    """Discrete Gaussian noise on a vector of whole numbers: ρ = (L2 sensitivity / scale)² / 2 (zCDP).

    >>> GaussianNoise(sensitivity=1.0, rho=0.125).scale
    2.0
    """

    sensitivity: float
    """By how much a person can change the vector, in Euclid's distance."""
    rho: float

    @property
    def scale(self) -> float:
        return self.sensitivity / sqrt(2 * self.rho)

    @property
    def standard_error(self) -> float:
        return self.scale

    def half_width(self, confidence: float) -> int:
        """The least w with P(|noise| ≤ w) ≥ confidence; for wide noise that of the normal distribution, rounded up.

        The discrete distribution has no heavier tails (Canonne, Kamath, Steinke 2020).
        """
        from scipy.special import ndtri

        if self.scale > 100:
            return _up(float(ndtri((1 + confidence) / 2)) * self.scale)
        reach = range(_up(12 * self.scale) + 2)
        weights = [(2 if place else 1) * exp(-((place / self.scale) ** 2) / 2) for place in reach]
        within = accumulate(weights)
        return next(place for place, inside in zip(reach, within, strict=True) if inside >= confidence * sum(weights))

    def half_width_of_sum(self, terms: int, confidence: float) -> float:
        """The same for so many of them added up."""
        from scipy.special import ndtri

        wide = float(ndtri((1 + confidence) / 2)) * self.scale * sqrt(terms)
        return self.half_width(confidence) if terms == 1 else wide

    def add(self, values: WholeNumbers) -> list[int]:
        return list(self._measurement(_clamped(values))) if len(values) else []

    @cached_property
    def _measurement(self) -> Any:
        made = _gaussian(self.scale)
        _within(self.rho, made.map(self.sensitivity))
        return made


Noise = LaplaceNoise | GaussianNoise


@dataclass(frozen=True)
class KeyRelease:
    """Which groups are there, where that is not public: counts of people with noise, from a threshold on.

    A person is in at most ``groups`` of them and counts once in each. A group that one person alone makes appears with
    a probability of at most δ / groups.
    """

    groups: int
    epsilon: float
    delta: float

    @property
    def scale(self) -> float:
        return self.groups / self.epsilon

    @property
    def threshold(self) -> int:
        """P(1 + noise ≥ threshold) ≤ δ / groups; higher where OpenDP, which rounds against us, needs it to be."""
        return self._fitted[0]

    def released(self, people: Mapping[str, int]) -> dict[str, int]:
        """Groups that reach the threshold, with their noisy numbers of people, in the order of their names."""
        found = self._measurement(dict(people)) if people else {}
        return {key: found[key] for key in sorted(found)}

    @property
    def _measurement(self) -> Any:
        return self._fitted[1]

    @cached_property
    def _fitted(self) -> tuple[int, Any]:
        dp = opendp()
        domain = dp.map_domain(dp.atom_domain(T=str), dp.atom_domain(T="i64"))
        metric = dp.l01inf_distance(dp.absolute_distance(T="i64"))
        decay = exp(-1 / self.scale)
        threshold = 2 + max(0, _up(-self.scale * log(self.delta / self.groups * (1 + decay))))
        for _ in range(_TRIES):
            made = dp.m.make_laplace_threshold(domain, metric, scale=self.scale, threshold=threshold)
            epsilon, delta = made.map((self.groups, self.groups, 1))
            if delta <= self.delta:
                break
            threshold += max(1, _up(self.scale / 8))
        _within(self.epsilon, epsilon)
        _within(self.delta, delta)
        return threshold, made


@dataclass(frozen=True)
class ConcentratedKeyRelease:
    """Which values are there and how often, where that is not public, in zCDP: Gaussian noise, from a threshold on.

    A person has at most ``rows`` of what is counted. Values of few rows are left out beforehand, and as much is taken
    off all counts: that can't make two tables differ more, and spares the time of values that nobody would see.
    """

    rows: int
    rho: float
    delta: float

    @property
    def scale(self) -> float:
        return self.rows / sqrt(2 * self.rho)

    @property
    def threshold(self) -> int:
        """What a noisy count has to reach."""
        return self._fitted[0] + self._taken_off

    @property
    def _taken_off(self) -> int:
        return max(1, self._fitted[0] // 16)

    def released(self, counts: Mapping[str, int]) -> dict[str, int]:
        """Values that reach the threshold with their noisy counts, in the order of their names."""
        taken_off = self._taken_off
        kept = {key: count - taken_off for key, count in counts.items() if count > taken_off}
        names = list(kept)  # by number, since OpenDP takes a name to end at a zero byte
        found = self._fitted[1]({str(place): kept[name] for place, name in enumerate(names)}) if kept else {}
        named = {names[int(place)]: count + taken_off for place, count in found.items()}
        return {name: named[name] for name in sorted(named)}

    @cached_property
    def _fitted(self) -> tuple[int, Any]:
        from scipy.special import ndtri

        dp = opendp()
        domain = dp.map_domain(dp.atom_domain(T=str), dp.atom_domain(T="i64"))
        metric = dp.l02inf_distance(dp.absolute_distance(T="i64"))
        threshold = self.rows + 1 + _up(-float(ndtri(self.delta / self.rows)) * self.scale)
        for _ in range(_TRIES):
            made = dp.m.make_gaussian_threshold(domain, metric, scale=self.scale, threshold=threshold)
            rho, delta = made.map((self.rows, self.rows, self.rows))
            if delta <= self.delta:
                break
            threshold += max(1, _up(self.scale / 8))
        _within(self.rho, rho)
        _within(self.delta, delta)
        return threshold, made


@dataclass(frozen=True)
class NoisyChoice:
    """One of several candidates, the better its score the likelier (permute-and-flip; ISO's exponential mechanism)."""

    sensitivity: int
    """By how much a person can change one score."""
    epsilon: float

    def chosen(self, scores: WholeNumbers) -> int:
        return int(self._measurement(_clamped(scores)))

    @cached_property
    def _measurement(self) -> Any:
        dp = opendp()
        space = _whole_numbers(), dp.linf_distance(T="i64")
        scale = 2 * self.sensitivity / self.epsilon
        made = dp.m.make_noisy_max(*space, dp.max_divergence(), scale=scale)
        _within(self.epsilon, made.map(self.sensitivity))
        return made


@dataclass(frozen=True)
class ConcentratedChoice:
    """As ``NoisyChoice``, in zCDP: the exponential mechanism by Gumbel noise, ρ = (2 · sensitivity / scale)² / 8."""

    sensitivity: int
    rho: float

    @property
    def scale(self) -> float:
        return self.sensitivity / sqrt(2 * self.rho)

    def chosen(self, scores: WholeNumbers) -> int:
        return int(self._measurement(_clamped(scores)))

    @cached_property
    def _measurement(self) -> Any:
        dp = opendp()
        space = _whole_numbers(), dp.linf_distance(T="i64")
        made = dp.m.make_noisy_max(*space, dp.zero_concentrated_divergence(), scale=self.scale)
        _within(self.rho, made.map(self.sensitivity))
        return made


@cache
def _laplace_sum_width(terms: int, confidence: float) -> float:
    """Of a sum S of n Laplace variables of scale 1: w with P(|S| ≤ w) = confidence.

    P(S > w) = Σⱼ C(n−1+j, j) · 2^−(n+j) · Q(n−j, w) for j < n, with the regularised upper gamma function Q.
    """
    from scipy.special import gammaincc, gammaln, ndtri

    if terms > _NORMAL_FROM:
        return float(ndtri((1 + confidence) / 2)) * sqrt(2 * terms)
    steps = np.arange(terms)
    weights = np.exp(gammaln(terms + steps) - gammaln(terms) - gammaln(steps + 1) - (terms + steps) * log(2))
    low, high = 0.0, 20 * sqrt(2 * terms)
    for _ in range(80):
        middle = (low + high) / 2
        beyond = 2 * float(weights @ gammaincc(terms - steps, middle))
        low, high = (middle, high) if beyond > 1 - confidence else (low, middle)
    return high


def _clamped(values: WholeNumbers) -> NDArray[np.int64]:
    """What OpenDP can hold. To clamp a number can't make two of them differ more, so no one's protection is less."""
    if isinstance(values, np.ndarray):
        return np.clip(values, -_LARGEST, _LARGEST)
    return np.asarray([max(-_LARGEST, min(_LARGEST, int(value))) for value in values], dtype=np.int64)


def _up(number: float) -> int:
    return int(-(-number // 1))
