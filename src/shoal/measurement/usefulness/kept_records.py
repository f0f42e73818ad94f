"""How many records were written, and how many cells of them are empty or suppressed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from shoal.measurement.usefulness.base import (
    FigureReading,
    MeasuredFigures,
    TableComparison,
    UsefulnessMeasure,
    higher,
    lower,
    mean,
)
from shoal.measurement.usefulness.distances import measure_distance
from shoal.schema.circumstances import Purpose


class KeptRecords(UsefulnessMeasure):
    key = "kept_records"
    order = 10
    readings: ClassVar[Mapping[str, FigureReading]] = {
        "rows_kept": higher(
            "Records written",
            "Released records, starred and invented ones too, for each original one.",
            purposes={Purpose.STATISTICS: 3, Purpose.RESEARCH: 6, Purpose.INTERNAL: 2, Purpose.LINKING_BACK: 1},
            in_short=1,
        ),
        "missing_before": lower("Missing before", "Share of original cells that are empty or suppressed."),
        "missing_after": lower(
            "Missing after",
            "Share of released cells that are empty or suppressed.",
            purposes={Purpose.TEST_DATA: 4, Purpose.INTERNAL: 3, Purpose.LINKING_BACK: 3},
        ),
    }

    def evaluate(self, comparison: TableComparison) -> MeasuredFigures:
        distances = [measure_distance(pair) for pair in comparison.compared]
        return MeasuredFigures(
            {
                "rows_kept": comparison.released.height / comparison.original.height,
                "missing_before": mean(distance.missing_before for distance in distances),
                "missing_after": mean(distance.missing_after for distance in distances),
            }
        )
