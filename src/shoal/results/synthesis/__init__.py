"""What a judged synthetic table comes to: what it still tells, what attacks find, what was required of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shoal.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from shoal.results.synthesis.fidelity_result import (
        ColumnFidelityResult,
        FidelityResult,
        PairFidelityResult,
        PredictionResult,
    )
    from shoal.results.synthesis.key_result import ChildCountsResult, KeyStatisticsResult, SequenceResult
    from shoal.results.synthesis.synthetic_assessment import SyntheticAssessment, SyntheticTablesAssessment

__all__ = [
    "ChildCountsResult",
    "ColumnFidelityResult",
    "FidelityResult",
    "KeyStatisticsResult",
    "PairFidelityResult",
    "PredictionResult",
    "SequenceResult",
    "SyntheticAssessment",
    "SyntheticTablesAssessment",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "ChildCountsResult": "shoal.results.synthesis.key_result",
        "ColumnFidelityResult": "shoal.results.synthesis.fidelity_result",
        "FidelityResult": "shoal.results.synthesis.fidelity_result",
        "KeyStatisticsResult": "shoal.results.synthesis.key_result",
        "PairFidelityResult": "shoal.results.synthesis.fidelity_result",
        "PredictionResult": "shoal.results.synthesis.fidelity_result",
        "SequenceResult": "shoal.results.synthesis.key_result",
        "SyntheticAssessment": "shoal.results.synthesis.synthetic_assessment",
        "SyntheticTablesAssessment": "shoal.results.synthesis.synthetic_assessment",
    },
)
