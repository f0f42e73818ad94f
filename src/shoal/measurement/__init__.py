"""Risk and usefulness, computed from tables alone: nothing here knows how a table came about."""

from shoal.measurement.risk import Known, Measurement, Risk, measure_classes

__all__ = ["Known", "Measurement", "Risk", "measure_classes"]
