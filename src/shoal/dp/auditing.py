"""A stochastic tester: how large ε must be at least, given what a mechanism says about two neighbouring datasets.

ε bounds how much likelier any event is with a person than without. So whoever finds an event and counts how often it
happens on both sides has a lower bound on ε, whatever the proof says: the mechanism is sampled as a black box. An event
is looked for among half of the samples and counted among the other half, so that looking does not flatter it. A bound
above the stated ε refutes the mechanism; one below proves nothing, but for nasty neighbours it comes close.

>>> import numpy as np
>>> from shoal.dp.opendp_measurements import LaplaceNoise
>>> def answers(noise: LaplaceNoise, count: int) -> Samples:
...     return np.asarray(noise.add([count] * 20_000), dtype=float)
>>> right, half = LaplaceNoise(1, 1.0), LaplaceNoise(1, 2.0)
>>> audited(answers(right, 10), answers(right, 11)).refutes(1.0)
False
>>> audited(answers(half, 10), answers(half, 11)).refutes(1.0)
True
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.dp.composition import ComposedPlan
from shoal.dp.noisy_answer import with_noise
from shoal.dp.query_plan import QueryPlan
from shoal.dp.tabulation import Tabulation, checked_frames
from shoal.randomness import Randomness

Samples = NDArray[np.float64]
"""One row for each time that the mechanism was asked, one column for each figure; NaN where there was none."""
CONFIDENCE: Final = 1 - 1e-6
"""That a bound holds. A mechanism that keeps its word is refuted once in a million audits."""
SAMPLES: Final = 100_000
_CUTS: Final = 200
"""Thresholds that are tried in each figure."""


@dataclass(frozen=True)
class AuditFinding:
    """What the samples show."""

    epsilon: float
    """At least this, at the confidence that was asked for; 0 where nothing was found."""
    delta: float
    samples: int
    """On each side, among which the event was counted."""
    event: str
    """Which told most."""
    shares: tuple[float, float]
    """How often it happened on both sides."""

    def refutes(self, stated: float) -> bool:
        return self.epsilon > stated


@dataclass(frozen=True)
class _Event:
    """A figure at most, or at least, so large."""

    column: int
    cut: float
    below: bool

    @property
    def name(self) -> str:
        return f"{'≤' if self.below else '≥'} {self.cut:g}"

    def count(self, features: Samples) -> int:
        values = features[:, self.column]
        return int(np.count_nonzero(values <= self.cut if self.below else values >= self.cut))


def audited(
    first: Samples, second: Samples, *, delta: float = 0.0, confidence: float = CONFIDENCE, names: Sequence[str] = ()
) -> AuditFinding:
    """The lower bound on ε (at δ) from samples of the same mechanism on two neighbouring datasets."""
    sides = [_features(np.asarray(one, dtype=np.float64).reshape(len(one), -1)) for one in (first, second)]
    half = min(len(first), len(second)) // 2
    looked, counted = [side[:half] for side in sides], [side[half : 2 * half] for side in sides]
    tilt = _tilt(*looked)
    looked, counted = ([np.column_stack([one, one @ tilt]) for one in part] for part in (looked, counted))
    found, way = _telling(looked, half, delta, confidence)
    counts = [found.count(one) for one in counted]
    one, other = counts if way else counts[::-1]
    bound = float(_bounds(np.asarray([one]), np.asarray([other]), half, delta, confidence)[0])
    label = names[found.column] if found.column < len(names) else f"figure {found.column}"
    return AuditFinding(bound, delta, half, f"{label} {found.name}", (counts[0] / half, counts[1] / half))


def _features(samples: Samples) -> Samples:
    """The figures, whether each is there, and its lowest bit, which noise in floating point gives away."""
    there = ~np.isnan(samples)
    figures = np.where(there, samples, 0.0)
    return np.column_stack([figures, there.astype(np.float64), _lowest_bit(figures)])


def _lowest_bit(figures: Samples) -> Samples:
    """The exponent of the last binary digit that is set; nought has none."""
    mantissa, exponent = np.frexp(np.where(np.isfinite(figures), figures, 0.0))
    whole = np.abs(np.ldexp(mantissa, 53)).astype(np.int64)
    zeros = np.log2(np.maximum(whole & -whole, 1).astype(np.float64))
    return np.where(whole > 0, exponent - 53 + zeros, 2000.0)


def _tilt(first: Samples, second: Samples) -> Samples:
    """A direction in which the two sides differ: figures weighed by what a person changes, in units of their spread."""
    spread = np.maximum(np.std(np.vstack([first, second]), axis=0), 1e-300)
    apart = (first.mean(axis=0) - second.mean(axis=0)) / spread
    third = first.shape[1] // 3
    apart[third:] = 0.0  # of figures alone
    return np.asarray(np.where(np.abs(apart) > 0.01, np.sign(apart), 0.0) / spread, dtype=np.float64)


def _telling(sides: list[Samples], half: int, delta: float, confidence: float) -> tuple[_Event, bool]:
    """The event with the best bound, and whether it is likelier on the first side."""
    best, chosen = 0.0, (_Event(0, inf, below=True), True)
    for column in range(sides[0].shape[1]):
        ordered = [np.sort(side[:, column]) for side in sides]
        cuts = _cuts(*ordered)
        for below in (True, False):
            first, second = (
                np.searchsorted(one, cuts, "right") if below else len(one) - np.searchsorted(one, cuts, "left")
                for one in ordered
            )
            for way, counts in ((True, (first, second)), (False, (second, first))):
                bounds = _bounds(*counts, half, delta, confidence)
                place = int(bounds.argmax())
                if bounds[place] > best:
                    best, chosen = float(bounds[place]), (_Event(column, float(cuts[place]), below), way)
    return chosen


def _cuts(first: Samples, second: Samples) -> Samples:
    """Thresholds to try, evenly by value and by how often values are; all values where they are few."""
    pooled = np.sort(np.concatenate([first, second]))
    both = np.unique(pooled)
    if len(both) <= _CUTS:
        return both
    shares = np.linspace(0, 1, _CUTS)
    often = pooled[np.round(shares * (len(pooled) - 1)).astype(np.int64)]
    return np.unique(np.concatenate([both[np.round(shares * (len(both) - 1)).astype(np.int64)], often]))


def _bounds(
    ones: NDArray[np.int64], others: NDArray[np.int64], number: int, delta: float, confidence: float
) -> Samples:
    """ln((p − δ) / q) with p at its least and q at its greatest (Clopper and Pearson 1934), half the doubt for each."""
    from scipy.special import betaincinv

    doubt = (1 - confidence) / 2
    least = np.where(ones > 0, betaincinv(np.maximum(ones, 1), number - ones + 1, doubt), 0.0)
    greatest = np.where(others < number, betaincinv(others + 1, np.maximum(number - others, 1), 1 - doubt), 1.0)
    above = np.maximum(least - delta, 0.0)
    return np.maximum(np.log(np.maximum(above, 1e-300) / greatest), 0.0)


def audited_question(
    plan: QueryPlan | ComposedPlan,
    first: Sequence[pl.LazyFrame],
    second: Sequence[pl.LazyFrame],
    *,
    samples: int = SAMPLES,
    tabulations: int = 1,
) -> AuditFinding:
    """A question on two datasets that differ in one person: whatever is told before it is worked out further.

    Exact figures are tabulated ``tabulations`` times, which matters where rows of a person are drawn by chance; noise
    is drawn ``samples`` times in all. ε is audited at the δ that the question costs.
    """
    asked = ComposedPlan((plan,), ((0,),)) if isinstance(plan, QueryPlan) else plan
    exact = [[_tabulated(asked, frames) for _ in range(tabulations)] for frames in (first, second)]
    each = -(-samples // tabulations)
    sides = [np.empty((each * tabulations, 0))] * 2
    for place, one in enumerate(asked.plans):
        keys = pl.concat([found[place].keys for side in exact for found in side]).unique().sort(pl.all())
        drawn = [np.vstack([noisy_samples(one, found[place], each, keys) for found in side]) for side in exact]
        sides = [np.hstack(pair) for pair in zip(sides, drawn, strict=True)]
    order = Randomness().stream("audit").permutation(each * tabulations)  # halves are alike
    return audited(sides[0][order], sides[1][order], delta=float(asked.cost.delta))


def _tabulated(plan: ComposedPlan, frames: Sequence[pl.LazyFrame]) -> list[Tabulation]:
    return plan.tabulated([checked_frames(one, frames) for one in plan.plans])


def noisy_samples(plan: QueryPlan, exact: Tabulation, samples: int, keys: pl.DataFrame | None = None) -> Samples:
    """Figures of a question so many times, by group in the order of ``keys``; NaN for a group that isn't told.

    All samples are drawn at once, as so many times the groups.
    """
    groups = exact.keys.height if plan.question.keys else 1
    size = groups * samples
    many = Tabulation(
        pl.DataFrame({"place": np.arange(size)}),
        tuple(figures * samples for figures in exact.figures),
        tuple(ranked * samples for ranked in exact.ranked),
        {str(place): exact.people[str(place % groups)] for place in range(size)} if exact.people else {},
    )
    noisy = with_noise(plan, many) if size else None
    ends = [[found[end] for found in one] for one in noisy.quantiles for end in range(3)] if noisy else []
    figures = [*noisy.statistics, *ends] if noisy else []
    told = noisy.keys["place"].to_numpy() if noisy else np.arange(0)
    wanted = _places(exact.keys, keys) if keys is not None and plan.question.keys else np.arange(groups)
    count = len(figures) if noisy else len(plan.statistics) + 3 * len(plan.quantiles)
    filled = np.full((count, samples, groups), np.nan)
    for place, drawn in enumerate(figures):
        filled[place].reshape(-1)[told] = np.asarray(drawn, dtype=np.float64)
    padded = np.concatenate([filled, np.full((count, samples, 1), np.nan)], axis=2)
    return np.hstack(list(padded[:, :, wanted]))


def _places(known: pl.DataFrame, wanted: pl.DataFrame) -> NDArray[np.int64]:
    """Of wanted groups among known ones; one after the last where a group is not there."""
    found = wanted.join(known.with_row_index("\x00at"), on=known.columns, how="left", maintain_order="left")["\x00at"]
    return found.fill_null(known.height).to_numpy().astype(np.int64)
