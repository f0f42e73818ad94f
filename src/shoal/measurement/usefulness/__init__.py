"""Usefulness: how much of an original table a release still tells (ISO/IEC 20889, clause 8)."""

from shoal.measurement.usefulness.attribute_pairs import AttributeKind, AttributePair, Recode, make_comparable
from shoal.measurement.usefulness.base import Better, FigureReading, figures_in_short, readings
from shoal.measurement.usefulness.evaluation import Usefulness, measure_usefulness
from shoal.measurement.usefulness.purposes import USES, DataUse, figures_for

__all__ = [
    "USES",
    "AttributeKind",
    "AttributePair",
    "Better",
    "DataUse",
    "FigureReading",
    "Recode",
    "Usefulness",
    "figures_for",
    "figures_in_short",
    "make_comparable",
    "measure_usefulness",
    "readings",
]
