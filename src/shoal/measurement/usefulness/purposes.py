"""Which figures matter for what the data is to be used for.

The six uses are those of ISO/IEC 20889, clause 8. It asks for the wanted usefulness to be settled before techniques are
chosen; so a policy declares its purpose and the report shows the figures that this purpose stands or falls with.
"""

from __future__ import annotations

from dataclasses import dataclass

from shoal.measurement.usefulness.base import readings
from shoal.schema.circumstances import Purpose

CLAUSE = "ISO/IEC 20889, 8"


@dataclass(frozen=True)
class DataUse:
    """One use of de-identified data and the figures that tell whether the release is fit for it."""

    title: str
    needs: str
    figures: tuple[str, ...]
    clause: str = CLAUSE


USES: dict[Purpose, DataUse] = {
    Purpose.TEST_DATA: DataUse(
        "Testing software",
        "Values that look and spread like real ones, gaps included; single records need not be true.",
        ("total_variation_mean", "wasserstein_mean", "kolmogorov_smirnov_max", "missing_after", "pmse_ratio"),
    ),
    Purpose.STATISTICS: DataUse(
        "Statistical reporting",
        "Counts, means and spreads of the population.",
        (
            "query_error_median",
            "query_error_mean",
            "rows_kept",
            "total_variation_max",
            "mean_difference",
            "variance_ratio",
        ),
    ),
    Purpose.RESEARCH: DataUse(
        "Publishing for research",
        "Relations between attributes, for questions that nobody knows yet.",
        (
            "association_difference",
            "pearson_difference",
            "eigen_correlation",
            "pmse_ratio",
            "learning_kept",
            "rows_kept",
        ),
    ),
    Purpose.ANALYTICS: DataUse(
        "Analytics on behalf of others",
        "Models that work on real records, and the statistics they rest on.",
        (
            "learning_kept",
            "accuracy_released",
            "f1_released",
            "r2_released",
            "association_difference",
            "query_error_median",
        ),
    ),
    Purpose.INTERNAL: DataUse(
        "Trusted internal use",
        "True values, record by record.",
        ("cells_unchanged", "rows_kept", "missing_after", "il1s"),
    ),
    Purpose.LINKING_BACK: DataUse(
        "Lawful linking back",
        "Every record still there, to be led back to its person by those appointed.",
        ("rows_kept", "cells_unchanged", "missing_after"),
    ),
}


def figures_for(purpose: Purpose) -> tuple[str, ...]:
    """The figures that a use stands or falls with: those that it names, and those that name it."""
    also = tuple(name for name, reading in readings().items() if purpose in reading.purposes)
    return tuple(dict.fromkeys((*USES[purpose].figures, *also)))
