"""Usefulness: how much of an original table a release still tells (ISO/IEC 20889, clause 8)."""

from shoal.measurement.useful.comparable import Kind, Pair, Recode, make_comparable
from shoal.measurement.useful.measuring import Usefulness, measure_usefulness
from shoal.measurement.useful.purposes import READINGS, USES, Better, Reading, Use

__all__ = [
    "READINGS",
    "USES",
    "Better",
    "Kind",
    "Pair",
    "Reading",
    "Recode",
    "Use",
    "Usefulness",
    "make_comparable",
    "measure_usefulness",
]
