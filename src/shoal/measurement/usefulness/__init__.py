"""Usefulness: how much of an original table a release still tells (ISO/IEC 20889, clause 8)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shoal.lazy_exports import lazy_exports

if TYPE_CHECKING:
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

__getattr__ = lazy_exports(
    __name__,
    {
        "USES": "shoal.measurement.usefulness.purposes",
        "AttributeKind": "shoal.measurement.usefulness.attribute_pairs",
        "AttributePair": "shoal.measurement.usefulness.attribute_pairs",
        "Better": "shoal.measurement.usefulness.base",
        "DataUse": "shoal.measurement.usefulness.purposes",
        "FigureReading": "shoal.measurement.usefulness.base",
        "Recode": "shoal.measurement.usefulness.attribute_pairs",
        "Usefulness": "shoal.measurement.usefulness.evaluation",
        "figures_for": "shoal.measurement.usefulness.purposes",
        "figures_in_short": "shoal.measurement.usefulness.base",
        "make_comparable": "shoal.measurement.usefulness.attribute_pairs",
        "measure_usefulness": "shoal.measurement.usefulness.evaluation",
        "readings": "shoal.measurement.usefulness.base",
    },
)
