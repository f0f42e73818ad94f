"""How far the distribution of one attribute has moved.

*Total variation* ½ Σ |p − q| over the labels: the share of records that would have to change their label.
*Kolmogorov–Smirnov* max |F − G| over the numbers (Smirnov 1948). *Wasserstein-1* ∫ |F − G| (Vallender 1974), the mean
distance by which numbers have to be moved, as a share of the original's range.

Missing cells are left out of the distances and counted beside them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl

from shoal.kernels.arrays import Floats
from shoal.measurement.usefulness.attribute_pairs import AttributePair
from shoal.measurement.usefulness.base import (
    FigureReading,
    MeasuredFigures,
    TableComparison,
    UsefulnessMeasure,
    lower,
    mean,
)
from shoal.measurement.usefulness.label_spread import leaf_shares
from shoal.schema.circumstances import Purpose


@dataclass(frozen=True)
class DistributionDistance:
    """Of one attribute; a figure that makes no sense for it, or can't be had, is None."""

    attribute: str
    kind: str
    missing_before: float
    missing_after: float
    total_variation: float | None = None
    wasserstein: float | None = None
    kolmogorov_smirnov: float | None = None
    unmatched: float | None = None
    """The share of released cells whose label is none of the original's."""
    problem: str | None = None


def measure_distance(pair: AttributePair) -> DistributionDistance:
    shares = (pair.before.missing, pair.after.missing)
    if pair.problem is not None:
        return DistributionDistance(pair.name, pair.kind, *shares, problem=pair.problem)
    if not pair.numeric:
        return DistributionDistance(
            pair.name, pair.kind, *shares, total_variation=_category_distance(pair), unmatched=_unmatched(pair)
        )
    before, after = (column[~np.isnan(column)] for column in pair.numbers())
    moved = wasserstein(before, after)
    return DistributionDistance(
        pair.name,
        pair.kind,
        *shares,
        wasserstein=moved,
        kolmogorov_smirnov=kolmogorov_smirnov(before, after),
        problem=None if moved is not None else "the original has one value only, so its range is no measure",
    )


def total_variation(before: pl.Series, after: pl.Series) -> float:
    """Of two columns of labels; nulls are left out.

    >>> total_variation(pl.Series(["a", "a", "b", "b"]), pl.Series(["a", "a", "a", "c"]))
    0.5
    """
    return _half_difference(_shares(before), _shares(after))


def kolmogorov_smirnov(before: Floats, after: Floats) -> float:
    """
    >>> kolmogorov_smirnov(np.array([1.0, 2, 3, 4]), np.array([3.0, 4, 5, 6]))
    0.5
    """
    _, first, second = _steps(before, after)
    return float(np.abs(first - second).max())


def wasserstein(before: Floats, after: Floats) -> float | None:
    """None where the original's range is nothing to measure by, though the numbers have moved.

    >>> wasserstein(np.array([0.0, 10.0]), np.array([1.0, 10.0]))
    0.05
    """
    points, first, second = _steps(before, after)
    moved = float((np.abs(first - second)[:-1] * np.diff(points)).sum())
    width = float(before.max() - before.min())
    if not moved:
        return 0.0
    return moved / width if width else None


def _steps(before: Floats, after: Floats) -> tuple[Floats, Floats, Floats]:
    """All numbers in order, and the two distribution functions there."""
    before, after = np.sort(before), np.sort(after)
    points = np.unique(np.concatenate((before, after)))
    first, second = (np.searchsorted(column, points, side="right") / len(column) for column in (before, after))
    return points, first, second


def _category_distance(pair: AttributePair) -> float:
    if pair.single_labelled:
        return total_variation(pair.recoded, pair.released)
    return _half_difference(_shares(pair.original), leaf_shares(pair))


def _shares(labels: pl.Series) -> pl.DataFrame:
    counted = labels.drop_nulls().alias("label").value_counts(name="records")
    return counted.select("label", share=pl.col("records") / max(len(labels) - labels.null_count(), 1))


def _half_difference(before: pl.DataFrame, after: pl.DataFrame) -> float:
    both = before.join(after, on="label", how="full", coalesce=True, suffix="_after").fill_null(0.0).sort("label")
    return float(np.abs(both["share"].to_numpy() - both["share_after"].to_numpy()).sum() / 2)


def _unmatched(pair: AttributePair) -> float:
    known = pair.labels.is_in(pair.recoded.unique().drop_nulls().implode()).to_numpy()
    return float(1 - known[pair.codes[pair.codes >= 0]].mean())


class DistributionDistances(UsefulnessMeasure):
    key = "distances"
    order = 30
    readings: ClassVar[Mapping[str, FigureReading]] = {
        "total_variation_mean": lower(
            "Category shift",
            "Share of records that changed label, mean over attributes.",
            purposes={Purpose.TEST_DATA: 1},
            in_short=3,
        ),
        "total_variation_max": lower(
            "Greatest category shift", "The same for the attribute that moved most.", purposes={Purpose.STATISTICS: 4}
        ),
        "wasserstein_mean": lower(
            "Number shift",
            "How far numbers moved as a share of their range, mean over attributes.",
            purposes={Purpose.TEST_DATA: 2},
            in_short=4,
        ),
        "wasserstein_max": lower("Greatest number shift", "The same for the attribute that moved most."),
        "kolmogorov_smirnov_mean": lower(
            "Distribution gap", "Greatest gap of the cumulative shares, mean over numbers."
        ),
        "kolmogorov_smirnov_max": lower(
            "Greatest distribution gap", "The same for the attribute that moved most.", purposes={Purpose.TEST_DATA: 3}
        ),
    }

    def evaluate(self, comparison: TableComparison) -> MeasuredFigures:
        distances = tuple(measure_distance(pair) for pair in comparison.compared)
        figures: dict[str, float | None] = {}
        for name in ("total_variation", "wasserstein", "kolmogorov_smirnov"):
            found = [value for distance in distances if (value := getattr(distance, name)) is not None]
            figures |= {f"{name}_mean": mean(found), f"{name}_max": max(found, default=None)}
        kinds = {name: "category" if name.startswith("total_variation") else "number that varies" for name in figures}
        reasons = {name: f"no {kind} can be compared" for name, kind in kinds.items()}
        return MeasuredFigures(figures, reasons, details={"distances": distances})
