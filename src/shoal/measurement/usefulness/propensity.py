"""Can a model tell released records from original ones? (propensity score mean squared error)

Both tables are put one below the other and a logistic regression estimates for each record the chance p̂ that it comes
from the release. pMSE = Σ (p̂ − c)² ÷ N, c being the share of released records among the N (Woo et al. 2009). For a
release drawn from the distribution of the original table its expectation is (k − 1)(1 − c)² c ÷ N and its standard
deviation √(2(k − 1)) (1 − c)² c ÷ N, with k parameters of the model (Snoke et al. 2018). The *ratio* is pMSE over the
expectation: up to about 1 this model can't tell them apart (a copy has 0). The *standardised* figure is the distance
from the expectation in standard deviations.

That holds for a draw from the original table itself, as by resampling it. Two independent samples of one population
differ by the chance of both, and (1 − c)² c becomes (1 − c) c; so it is for tables in different order that are too
large and of which different records are sampled.

The model has main effects only: it sees shifted distributions of single attributes and not broken links between them.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from typing import ClassVar

import numpy as np

from shoal.kernels.arrays import Floats, Mask
from shoal.kernels.thread_limits import one_thread
from shoal.measurement.usefulness.attribute_pairs import AttributePair
from shoal.measurement.usefulness.base import (
    FigureReading,
    MeasuredFigures,
    TableComparison,
    UsefulnessMeasure,
    lower,
)
from shoal.measurement.usefulness.features import design, side_by_side
from shoal.measurement.usefulness.row_sampling import sample_rows
from shoal.randomness import Randomness
from shoal.schema.circumstances import Purpose

MOST_RECORDS = 30_000
"""Of each table; a larger one is sampled."""
MOST_LABELS = 20
"""Rarer labels of an attribute share one column."""
_HARDLY_ANY_PENALTY = 1e6
_NEAR = 1e-8
"""How flat the likelihood has to be. A label that only one of the tables has draws its chance to 0 or 1, slowly."""


@dataclass(frozen=True)
class Propensity:
    pmse: float | None = None
    expected: float | None = None
    ratio: float | None = None
    standardised: float | None = None
    parameters: int = 0
    sampled: bool = False
    problem: str | None = None


def measure_propensity(
    pairs: Sequence[AttributePair], *, randomness: Randomness, aligned: bool = False, most: int = MOST_RECORDS
) -> Propensity:
    """Attributes that can't be compared are left out. Of aligned tables the same rows are sampled in both."""
    usable = [pair for pair in pairs if pair.problem is None and pair.single_labelled]
    if not usable:
        return Propensity(problem="no attribute can be compared")
    stream = randomness.stream("usefulness", "propensity")
    before = sample_rows(stream, len(usable[0].original), most)
    after = before if aligned else sample_rows(stream, len(usable[0].released), most, lane=1)
    matrix = design(*side_by_side(usable, before, after, MOST_LABELS))
    sampled = max(len(usable[0].original), len(usable[0].released)) > most
    parameters = int(np.linalg.matrix_rank(matrix.T @ matrix, hermitian=True)) + 1 if matrix.shape[1] else 1
    if parameters == 1:
        return Propensity(0.0, 0.0, None, None, 1, sampled, "no attribute varies")
    released = np.repeat([False, True], [len(before), len(after)])
    found = score(_chances(matrix, released), released, parameters, independent=sampled and not aligned)
    return replace(found, sampled=sampled)


def score(chances: Floats, released: Mask, parameters: int, *, independent: bool = False) -> Propensity:
    """The figures for given propensity scores.

    >>> found = score(np.array([0.25, 0.5, 0.5, 0.75]), np.array([False, False, True, True]), 3)
    >>> found.pmse, found.expected, found.ratio, found.standardised
    (0.03125, 0.0625, 0.5, -0.5)
    """
    number, share = len(released), float(released.mean())
    unit = (1 - share) * share / number * (1 if independent else 1 - share)
    pmse = float(((chances - share) ** 2).mean())
    expected, deviation = (parameters - 1) * unit, sqrt(2 * (parameters - 1)) * unit
    return Propensity(pmse, expected, pmse / expected, (pmse - expected) / deviation, parameters)


def _chances(matrix: Floats, released: Mask) -> Floats:
    """Maximum likelihood but for a trace of a penalty, so that tables which fall apart completely have a finite fit."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(C=_HARDLY_ANY_PENALTY, solver="newton-cholesky", max_iter=50, tol=_NEAR)
    with one_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", message=".*(singular|ill-conditioned|Hessian).*")
        model.fit(matrix, released)
    chances: Floats = model.predict_proba(matrix)[:, 1]
    return chances


class PropensityScore(UsefulnessMeasure):
    key = "propensity"
    order = 50
    readings: ClassVar[Mapping[str, FigureReading]] = {
        "pmse": lower("Propensity error", "How well a model tells released from original records; 0 is not at all."),
        "pmse_ratio": lower(
            "Propensity ratio",
            "The propensity error over that of a resampled original; up to 1 is as good.",
            purposes={Purpose.TEST_DATA: 5, Purpose.RESEARCH: 4},
            in_short=7,
        ),
        "pmse_standardised": lower("Propensity, standardised", "Distance from a resampled original in deviations."),
    }

    def evaluate(self, comparison: TableComparison) -> MeasuredFigures:
        found = measure_propensity(comparison.compared, randomness=comparison.randomness, aligned=comparison.aligned)
        figures = {"pmse": found.pmse, "pmse_ratio": found.ratio, "pmse_standardised": found.standardised}
        reasons = dict.fromkeys(figures, found.problem or "no attribute varies")
        rows = max(comparison.original.height, comparison.released.height)
        sampled = (f"propensity: a random sample of {MOST_RECORDS:,} of {rows:,} records",) if found.sampled else ()
        return MeasuredFigures(figures, reasons, sampled)
