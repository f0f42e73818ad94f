"""How many cells are exactly as they were, where it is known which record is which."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from shoal.measurement.usefulness.base import (
    FigureReading,
    MeasuredFigures,
    Need,
    TableComparison,
    UsefulnessMeasure,
    higher,
    mean,
)
from shoal.measurement.usefulness.row_sampling import unchanged
from shoal.schema.circumstances import Purpose


class UnchangedCells(UsefulnessMeasure):
    key = "unchanged_cells"
    order = 20
    readings: ClassVar[Mapping[str, FigureReading]] = {
        "cells_unchanged": higher(
            "Cells unchanged",
            "Share of cells that hold exactly the original value.",
            purposes={Purpose.INTERNAL: 1, Purpose.LINKING_BACK: 2},
            in_short=2,
        ),
    }
    needs = frozenset({Need.ALIGNED})

    def evaluate(self, comparison: TableComparison) -> MeasuredFigures:
        same = {pair.name: unchanged(pair) for pair in comparison.compared if pair.problem is None}
        return MeasuredFigures(
            {"cells_unchanged": mean(same.values())},
            {"cells_unchanged": str(Need.ALIGNED)},
            details={"unchanged": same},
        )
