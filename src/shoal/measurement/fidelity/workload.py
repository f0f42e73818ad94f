"""How wrong are counts that somebody takes from the synthetic table? See ``usefulness.queries``.

As many records are looked at in both tables, so that a synthetic table may have more or fewer than the original.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from shoal.measurement.fidelity.base import FidelityComparison, FidelityMeasure
from shoal.measurement.usefulness.attribute_pairs import make_comparable
from shoal.measurement.usefulness.base import FigureReading, MeasuredFigures, lower
from shoal.measurement.usefulness.queries import measure_queries
from shoal.measurement.usefulness.row_sampling import sample_rows

MOST_RECORDS = 100_000
QUERIES = 500


class QueryWorkload(FidelityMeasure):
    key = "workload"
    order = 60
    readings: ClassVar[Mapping[str, FigureReading]] = {
        "query_error_mean": lower("Count error, mean", "Relative error of random counts taken from it."),
        "query_error_median": lower(
            "Count error, typical", "Half of the random counts are at most this far off.", in_short=7
        ),
    }

    def evaluate(self, comparison: FidelityComparison) -> MeasuredFigures:
        rows = min(*(frame.height for frame in comparison.sample), MOST_RECORDS)
        pairs = list(comparison.pairs)
        if any(frame.height > rows for frame in comparison.sample):
            stream = comparison.randomness.stream("fidelity", "workload")
            before, after = (
                frame[sample_rows(stream, frame.height, rows, lane=lane)]
                for lane, frame in enumerate(comparison.sample)
            )
            pairs = [make_comparable(each.name, before[each.name], after[each.name], kind=each.kind) for each in pairs]
        found = measure_queries(pairs, randomness=comparison.randomness, queries=QUERIES)
        figures = {"query_error_mean": found.mean, "query_error_median": found.median}
        notes = () if found.mean is None else (f"count error: {found.queries:,} random counts on {rows:,} records",)
        return MeasuredFigures(figures, dict.fromkeys(figures, found.problem or "no query was asked"), notes)
