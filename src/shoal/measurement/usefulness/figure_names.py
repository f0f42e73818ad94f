"""The figures under the names that JSON and reports know them by, and the reasons where one is missing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from shoal.measurement.usefulness.associations import Association, AssociationMeasure, mean_difference
from shoal.measurement.usefulness.distances import DistributionDistance
from shoal.measurement.usefulness.learning import LearningResult
from shoal.measurement.usefulness.numeric_distortion import Masking
from shoal.measurement.usefulness.propensity import Propensity
from shoal.measurement.usefulness.queries import QueryError


def distance_figures(distances: Sequence[DistributionDistance]) -> dict[str, float | None]:
    figures: dict[str, float | None] = {}
    for name in ("total_variation", "wasserstein", "kolmogorov_smirnov"):
        found = [value for distance in distances if (value := getattr(distance, name)) is not None]
        figures |= {f"{name}_mean": mean(found), f"{name}_max": max(found, default=None)}
    return figures


def association_figures(associations: Sequence[Association]) -> dict[str, float | None]:
    each = {f"{measure}_difference": mean_difference(associations, measure) for measure in AssociationMeasure}
    return {**each, "association_difference": mean_difference(associations)}


def learning_figures(learning: LearningResult) -> dict[str, float | None]:
    figures: dict[str, float | None] = {}
    for score in ("accuracy", "balanced_accuracy", "f1", "r2"):
        for side in ("original", "released", "baseline"):
            scores = getattr(learning, side)
            figures[f"{score}_{side}"] = None if scores is None else getattr(scores, score)
    return {**figures, "learning_kept": learning.kept}


def masking_figures(masking: Masking) -> dict[str, float | None]:
    moved = (abs(one.mean_difference) for one in masking.moments if one.mean_difference is not None)
    return {
        "il1s": masking.il1s,
        "eigen_correlation": masking.eigen_correlation,
        "eigen_covariance": masking.eigen_covariance,
        "mean_difference": mean(moved),
        "variance_ratio": mean(one.variance_ratio for one in masking.moments if one.variance_ratio is not None),
    }


def reason(name: str, propensity: Propensity, queries: QueryError, learning: LearningResult, masking: Masking) -> str:
    if name.startswith("pmse"):
        return propensity.problem or "no attribute varies"
    if name.startswith("query"):
        return queries.problem or "no query was asked"
    if name == "learning_kept":
        return learning.problem or "the original itself teaches no more than the baseline"
    if name.startswith(("accuracy", "balanced", "f1", "r2")):
        return learning.problem or f"it is no figure of {learning.task}"
    if name.startswith("eigen"):
        return masking.eigen_problem or "no two numbers"
    return _REASONS.get(name) or masking.il1s_problem or "no attribute of that kind"


_REASONS = {
    "cells_unchanged": "rows can't be paired with those of the original",
    **dict.fromkeys(("total_variation_mean", "total_variation_max"), "no category can be compared"),
    **dict.fromkeys(
        (f"{name}_{kind}" for name in ("wasserstein", "kolmogorov_smirnov") for kind in ("mean", "max")),
        "no number that varies can be compared",
    ),
    **dict.fromkeys(("mean_difference", "variance_ratio"), "no number varies"),
    "pearson_difference": "no two numbers vary in both tables",
    "cramers_v_difference": "no two categories vary in both tables",
    "theils_u_difference": "no two categories vary in both tables",
    "correlation_ratio_difference": "no category and number vary in both tables",
    "association_difference": "no two attributes vary in both tables",
}


def mean(values: Iterable[float]) -> float | None:
    found = list(values)
    return float(np.mean(found)) if found else None
