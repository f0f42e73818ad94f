"""What noisy answers say together: unbiased estimates with error bars, sums over several options, consistent counts.

>>> answers = ["yes"] * 700 + ["no"] * 300
>>> yes, no = response_counts(answers, ["yes", "no"], epsilon=1.0)
>>> round(yes.value), round(no.value), round(yes.error)
(933, 67, 30)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from math import exp, sqrt
from typing import Final

import numpy as np
from numpy.typing import NDArray

from shoal.dp.local.device import STEPS, bucket_count, hashed, window
from shoal.errors import InputError

NORMAL: Final = 1.959964
Option = Hashable


@dataclass(frozen=True)
class LocalEstimate:
    """A figure of everybody who answered, with the standard error that noise and chance give it."""

    value: float
    error: float

    @property
    def low(self) -> float:
        """Of the 95 % interval."""
        return self.value - NORMAL * self.error

    @property
    def high(self) -> float:
        return self.value + NORMAL * self.error


def response_counts(answers: Sequence[Option], options: Sequence[Option], epsilon: float) -> list[LocalEstimate]:
    """How many have each option, from answers of ``randomised_response``."""
    _checked(epsilon, options)
    told = Counter(answers)
    if set(told) - set(options):
        raise InputError("an answer is none of the options", field="answers")
    keep = exp(epsilon) / (exp(epsilon) + len(options) - 1)
    other = (1 - keep) / (len(options) - 1)
    return [_estimate(told[option], len(answers), keep, other) for option in options]


def unary_counts(answers: Sequence[Sequence[int]], options: Sequence[Option], epsilon: float) -> list[LocalEstimate]:
    """The same, from answers of ``unary``."""
    _checked(epsilon, options)
    table = np.asarray(answers, dtype=np.int64).reshape(len(answers), -1)
    if table.shape[1] != len(options) or not np.isin(table, (0, 1)).all():
        raise InputError("an answer is a list of 0 and 1, one for each option", field="answers")
    return [_estimate(int(total), len(answers), 0.5, 1 / (exp(epsilon) + 1)) for total in table.sum(axis=0)]


def hash_counts(answers: Sequence[Mapping[str, int]], options: Sequence[Option], epsilon: float) -> list[LocalEstimate]:
    """The same, from answers of ``local_hash``, for any options of interest; there may be others."""
    _checked(epsilon, options)
    buckets = bucket_count(epsilon)
    keep = exp(epsilon) / (exp(epsilon) + buckets - 1)
    told = [(answer["seed"], answer["bucket"]) for answer in answers]
    fits = (sum(hashed(option, seed, buckets) == bucket for seed, bucket in told) for option in options)
    return [_estimate(found, len(answers), keep, 1 / buckets) for found in fits]


def number_mean(answers: Sequence[int], low: float, high: float, epsilon: float) -> LocalEstimate:
    """The mean, from answers of ``bounded_number``."""
    _checked(epsilon, (0, 1))
    points = np.asarray(answers, dtype=np.float64)
    inside = window(epsilon)
    if not len(points) or points.min() < 0 or points.max() >= STEPS + inside:
        raise InputError("an answer is no point of the grid", field="answers")
    values = _read_back(epsilon)(points) * (high - low) + low
    return LocalEstimate(
        float(values.mean()), float(values.std(ddof=1) / sqrt(len(values))) if len(values) > 1 else 0.0
    )


def subset_sum(estimates: Sequence[LocalEstimate]) -> LocalEstimate:
    """Of several options together. Their errors lean against each other: what is said is on the safe side."""
    return LocalEstimate(sum(one.value for one in estimates), sqrt(sum(one.error**2 for one in estimates)))


def consistent(estimates: Sequence[LocalEstimate], people: int) -> list[float]:
    """Counts that are not below nought and add up to the people who answered, as near as can be (Wang et al. 2020)."""
    values: NDArray[np.float64] = np.asarray([one.value for one in estimates], dtype=np.float64)
    ordered = np.sort(values)[::-1]
    excess = (np.cumsum(ordered) - people) / np.arange(1, len(ordered) + 1)
    last = int(np.flatnonzero(ordered > excess)[-1])
    return [float(one) for one in np.maximum(values - excess[last], 0.0)]


def _read_back(epsilon: float) -> Callable[[NDArray[np.float64]], NDArray[np.float64]]:
    """From a point of the grid to what it stands for: its mean is a line in the value, which is undone."""
    inside = window(epsilon)
    each = 1 / (inside * exp(epsilon) + STEPS)
    points = STEPS + inside
    slope = (exp(epsilon) - 1) * each * inside
    level = each * points * (points - 1) / 2 + slope * (inside - 1) / 2
    return lambda told: (told - level) / slope / STEPS


def _estimate(found: int, people: int, keep: float, other: float) -> LocalEstimate:
    """(found − n q) / (p − q); its variance is that of the noise for as many people as are estimated."""
    value = (found - people * other) / (keep - other)
    share = min(max(value, 0.0), people)
    variance = share * keep * (1 - keep) + (people - share) * other * (1 - other)
    return LocalEstimate(value, sqrt(variance) / (keep - other))


def _checked(epsilon: float, options: Sequence[Option]) -> None:
    if not 0 < epsilon <= 50:
        raise InputError("has to be above 0 and at most 50", field="epsilon")
    if len(set(options)) < max(1, len(options)):
        raise InputError("each option once", field="options")
