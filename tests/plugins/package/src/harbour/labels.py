"""How many of the labels of the original the release still has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from shoal.measurement.usefulness.base import (
    Better,
    FigureReading,
    MeasuredFigures,
    TableComparison,
    UsefulnessMeasure,
    mean,
)


class Labels(UsefulnessMeasure):
    key = "labels"
    readings: ClassVar[Mapping[str, FigureReading]] = {
        "labels_kept": FigureReading("Labels kept", "Distinct labels for each original one.", Better.HIGHER, in_short=9)
    }

    def evaluate(self, comparison: TableComparison) -> MeasuredFigures:
        shares = [pair.released.n_unique() / pair.original.n_unique() for pair in comparison.compared]
        return MeasuredFigures({"labels_kept": mean(shares)})
