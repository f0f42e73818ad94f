"""Fidelity: how much of an original table a synthetic one still tells, whose rows stem from no row of it."""

from shoal.measurement.fidelity.base import FidelityMeasure, fidelity_readings
from shoal.measurement.fidelity.evaluation import Fidelity, measure_fidelity
from shoal.measurement.fidelity.key_statistics import KeyStatistics, measure_keys, measure_sequence

__all__ = [
    "Fidelity",
    "FidelityMeasure",
    "KeyStatistics",
    "fidelity_readings",
    "measure_fidelity",
    "measure_keys",
    "measure_sequence",
]
