"""Risk and usefulness, computed from tables alone: nothing here knows how a table came about."""

from shoal.measurement.risk.equivalence_classes import Measurement, Risk, SensitiveKnowledge, measure_classes

__all__ = ["Measurement", "Risk", "SensitiveKnowledge", "measure_classes"]
