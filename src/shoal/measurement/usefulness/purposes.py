"""What each figure says in plain words, and which of them matter for what the data is to be used for.

The six uses are those of ISO/IEC 20889, clause 8. It asks for the wanted usefulness to be settled before techniques are
chosen; so a policy declares its purpose and the report shows the figures that this purpose stands or falls with.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from shoal.schema.circumstances import Purpose

CLAUSE = "ISO/IEC 20889, 8"


class Better(StrEnum):
    LOWER = "lower"
    HIGHER = "higher"
    NEAR_ONE = "near one"


@dataclass(frozen=True)
class FigureReading:
    """How a figure is read."""

    title: str
    meaning: str
    better: Better


@dataclass(frozen=True)
class DataUse:
    """One use of de-identified data and the figures that tell whether the release is fit for it."""

    title: str
    needs: str
    figures: tuple[str, ...]
    clause: str = CLAUSE


def _lower(title: str, meaning: str) -> FigureReading:
    return FigureReading(title, meaning, Better.LOWER)


def _higher(title: str, meaning: str) -> FigureReading:
    return FigureReading(title, meaning, Better.HIGHER)


READINGS: dict[str, FigureReading] = {
    "rows_kept": _higher("Records written", "Released records, starred and invented ones too, for each original one."),
    "missing_before": _lower("Missing before", "Share of original cells that are empty or suppressed."),
    "missing_after": _lower("Missing after", "Share of released cells that are empty or suppressed."),
    "cells_unchanged": _higher("Cells unchanged", "Share of cells that hold exactly the original value."),
    "total_variation_mean": _lower("Category shift", "Share of records that changed label, mean over attributes."),
    "total_variation_max": _lower("Greatest category shift", "The same for the attribute that moved most."),
    "wasserstein_mean": _lower(
        "Number shift", "How far numbers moved as a share of their range, mean over attributes."
    ),
    "wasserstein_max": _lower("Greatest number shift", "The same for the attribute that moved most."),
    "kolmogorov_smirnov_mean": _lower("Distribution gap", "Greatest gap of the cumulative shares, mean over numbers."),
    "kolmogorov_smirnov_max": _lower("Greatest distribution gap", "The same for the attribute that moved most."),
    "pearson_difference": _lower("Correlation change", "Mean change of the correlation of two numbers."),
    "cramers_v_difference": _lower("Association change", "Mean change of Cramér's V of two categories."),
    "theils_u_difference": _lower("Predictability change", "Mean change of how far one category tells another."),
    "correlation_ratio_difference": _lower("Group effect change", "Mean change of how far a category tells a number."),
    "association_difference": _lower("All associations change", "Mean change over all pairs of attributes."),
    "pmse": _lower("Propensity error", "How well a model tells released from original records; 0 is not at all."),
    "pmse_ratio": _lower(
        "Propensity ratio", "The same over what resampling the original would give; up to 1 is as good."
    ),
    "pmse_standardised": _lower("Propensity, standardised", "Distance from a resampled original in deviations."),
    "query_error_mean": _lower("Count error, mean", "Relative error of counts taken from the release."),
    "query_error_median": _lower("Count error, typical", "Half of the counts are at most this far off."),
    "accuracy_original": _higher("Accuracy, original", "Share of right predictions when learning from the original."),
    "accuracy_released": _higher("Accuracy, release", "Share of right predictions when learning from the release."),
    "accuracy_baseline": _higher("Accuracy, baseline", "Share of right predictions by the most frequent class."),
    "balanced_accuracy_original": _higher("Balanced accuracy, original", "Mean over the classes of those found."),
    "balanced_accuracy_released": _higher("Balanced accuracy, release", "Mean over the classes of those found."),
    "balanced_accuracy_baseline": _higher("Balanced accuracy, baseline", "Mean over the classes of those found."),
    "f1_original": _higher("F1, original", "Balance of found and falsely named, mean over the classes."),
    "f1_released": _higher("F1, release", "Balance of found and falsely named, mean over the classes."),
    "f1_baseline": _higher("F1, baseline", "Balance of found and falsely named, mean over the classes."),
    "r2_original": _higher("Explained variance, original", "Share of the target's variance that is predicted."),
    "r2_released": _higher("Explained variance, release", "Share of the target's variance that is predicted."),
    "r2_baseline": _higher("Explained variance, baseline", "Share of the target's variance that is predicted."),
    "learning_kept": _higher("Learning kept", "What is left of the gain over guessing; 1 is all of it."),
    "il1s": _lower("Record distance (IL1s)", "How far numbers of a record moved; near 1 they say nothing of it."),
    "eigen_correlation": _lower("Structure change", "Change of the eigenvalues of the correlations."),
    "eigen_covariance": _lower("Structure and spread change", "Change of the eigenvalues of the covariances."),
    "mean_difference": _lower("Mean shift", "How far means moved, in standard deviations, mean over numbers."),
    "variance_ratio": FigureReading(
        "Spread kept", "Released over original variance, mean over numbers.", Better.NEAR_ONE
    ),
}
"""Of every figure, by its name in JSON."""

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
