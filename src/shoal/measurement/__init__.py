"""Risk and usefulness, computed from tables alone: nothing here knows how a table came about."""

from shoal.measurement.risk import Measurement, Risk, measure_classes

__all__ = ["Measurement", "Risk", "measure_classes"]
