"""What masking did to numbers as a whole.

*IL1s*: the mean over all cells of |x − x′| ÷ (√2 · S), S being the standard deviation of the original attribute
(Yancey, Winkler and Creecy 2002, in the form of Mateo-Sanz, Sebé and Domingo-Ferrer 2004). Two independent draws are
√2 · S apart in root mean square, so 0 is untouched and values near 1 say nothing of the record any more. It compares a
record with itself, so rows have to stand in the same order in both tables.

*Eigenvalues*: Σ |λ − λ′| ÷ λ over those of the correlation matrices, in falling order (the "eigen" comparison of
statistical offices, Templ and Meindl 2008), and the same for covariance matrices in units of the original's S, where
lost or added spread shows too. Directions in which the original doesn't vary (λ = 0) are left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from shoal.kernels.arrays import Floats
from shoal.measurement.usefulness.attribute_pairs import AttributePair
from shoal.measurement.usefulness.base import (
    Better,
    FigureReading,
    MeasuredFigures,
    TableComparison,
    UsefulnessMeasure,
    lower,
    mean,
)
from shoal.schema.circumstances import Purpose

_NOTHING = 1e-9
"""An eigenvalue below is that of a direction without spread."""


@dataclass(frozen=True)
class Moments:
    """Of one number: how far its mean moved, in units of the original's S, and what became of its variance."""

    attribute: str
    mean_difference: float | None = None
    variance_ratio: float | None = None
    il1s: float | None = None


@dataclass(frozen=True)
class Masking:
    moments: tuple[Moments, ...] = ()
    il1s: float | None = None
    eigen_correlation: float | None = None
    eigen_covariance: float | None = None
    il1s_problem: str | None = None
    eigen_problem: str | None = None


def measure_masking(pairs: Sequence[AttributePair], *, aligned: bool) -> Masking:
    """All numbers and dates that vary; ``aligned``: row i is the same record in both tables."""
    columns = {pair.name: pair.numbers() for pair in pairs if pair.numeric and pair.problem is None}
    moments = tuple(_moments(name, *both, aligned=aligned) for name, both in columns.items())
    lost = [moment.il1s for moment in moments if moment.il1s is not None]
    il1s = float(np.mean(lost)) if lost else None
    correlation, covariance, problem = _eigen(list(columns.values()))
    unpaired = "no number varies" if aligned or not columns else "rows can't be paired with those of the original"
    return Masking(moments, il1s, correlation, covariance, None if il1s is not None else unpaired, problem)


def il1s(before: Floats, after: Floats) -> float | None:
    """Of one attribute, over the cells that both have.

    >>> round(il1s(np.array([1.0, 2, 3]), np.array([2.0, 2, 2])), 6)
    0.471405
    """
    both = ~(np.isnan(before) | np.isnan(after))
    spread = _spread(before)
    if not both.any() or not spread:
        return None
    return float(np.abs(before[both] - after[both]).mean() / (np.sqrt(2) * spread))


def eigen_difference(before: Floats, after: Floats) -> float:
    """Of two symmetric matrices.

    >>> round(eigen_difference(np.array([[1, 0.6], [0.6, 1]]), np.array([[1, 0.2], [0.2, 1]])), 9)
    1.25
    """
    old, new = np.linalg.eigvalsh(before)[::-1], np.linalg.eigvalsh(after)[::-1]
    there = old > _NOTHING
    return float((np.abs(old - new)[there] / old[there]).sum())


def _moments(name: str, before: Floats, after: Floats, *, aligned: bool) -> Moments:
    spread, other = _spread(before), _spread(after)
    if not spread:
        return Moments(name)
    moved = float((np.nanmean(after) - np.nanmean(before)) / spread)
    ratio = None if other is None else (other / spread) ** 2
    return Moments(name, moved, ratio, il1s(before, after) if aligned else None)


def _eigen(columns: Sequence[tuple[Floats, Floats]]) -> tuple[float | None, float | None, str | None]:
    varying = [(before, after) for before, after in columns if _spread(before) and _spread(after)]
    if len(varying) < 2:
        return None, None, "fewer than two numbers that vary in both tables"
    before, after = (_complete([pair[side] for pair in varying]) for side in (0, 1))
    if min(len(before), len(after)) < 2:
        return None, None, "fewer than two records without a missing number"
    scale = before.std(axis=0, ddof=1)
    if not (scale > 0).all() or not (after.std(axis=0) > 0).all():
        return None, None, "a number doesn't vary among the records without a missing one"
    correlations = [np.atleast_2d(np.corrcoef(side, rowvar=False)) for side in (before, after)]
    covariances = [np.atleast_2d(np.cov(side / scale, rowvar=False)) for side in (before, after)]
    return eigen_difference(*correlations), eigen_difference(*covariances), None


def _complete(columns: Sequence[Floats]) -> Floats:
    matrix = np.column_stack(columns)
    return matrix[~np.isnan(matrix).any(axis=1)]


def _spread(column: Floats) -> float | None:
    """The standard deviation (n − 1); None where there are no two numbers, 0 where all are equal."""
    there = column[~np.isnan(column)]
    if len(there) < 2:
        return None
    return 0.0 if there.min() == there.max() else float(there.std(ddof=1))


class NumericDistortion(UsefulnessMeasure):
    key = "numeric_distortion"
    order = 80
    readings: ClassVar[Mapping[str, FigureReading]] = {
        "il1s": lower(
            "Record distance (IL1s)",
            "How far numbers of a record moved; near 1 they say nothing of it.",
            purposes={Purpose.INTERNAL: 4},
        ),
        "eigen_correlation": lower(
            "Structure change", "Change of the eigenvalues of the correlations.", purposes={Purpose.RESEARCH: 3}
        ),
        "eigen_covariance": lower("Structure and spread change", "Change of the eigenvalues of the covariances."),
        "mean_difference": lower(
            "Mean shift",
            "How far means moved, in standard deviations, mean over numbers.",
            purposes={Purpose.STATISTICS: 5},
        ),
        "variance_ratio": FigureReading(
            "Spread kept",
            "Released over original variance, mean over numbers.",
            Better.NEAR_ONE,
            purposes={Purpose.STATISTICS: 6},
        ),
    }

    def evaluate(self, comparison: TableComparison) -> MeasuredFigures:
        found = measure_masking(comparison.compared, aligned=comparison.aligned)
        moved = (abs(one.mean_difference) for one in found.moments if one.mean_difference is not None)
        figures = {
            "il1s": found.il1s,
            "eigen_correlation": found.eigen_correlation,
            "eigen_covariance": found.eigen_covariance,
            "mean_difference": mean(moved),
            "variance_ratio": mean(one.variance_ratio for one in found.moments if one.variance_ratio is not None),
        }
        reasons = {
            "il1s": found.il1s_problem or "no attribute of that kind",
            **dict.fromkeys(("eigen_correlation", "eigen_covariance"), found.eigen_problem or "no two numbers"),
            **dict.fromkeys(("mean_difference", "variance_ratio"), "no number varies"),
        }
        return MeasuredFigures(figures, reasons, details={"masking": found})
