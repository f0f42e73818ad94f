"""Which attributes go together in both tables: the matrix of associations, and how far it has moved."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from shoal.measurement.fidelity.base import FidelityComparison, FidelityMeasure
from shoal.measurement.usefulness.associations import AssociationMeasure, mean_difference, measure_associations
from shoal.measurement.usefulness.base import FigureReading, MeasuredFigures, lower
from shoal.measurement.usefulness.row_sampling import sample_rows

MOST_ATTRIBUTES = 60
"""Of a wider table so many are drawn by lot: a matrix of more is no picture."""


class PairAssociations(FidelityMeasure):
    key = "pair_associations"
    order = 20
    readings: ClassVar[Mapping[str, FigureReading]] = {
        "association_difference": lower(
            "Associations", "Mean change of how far two columns go together (0 to 1).", in_short=4
        ),
        "association_max": lower("Worst association", "The same for the pair that changed most."),
    }

    def evaluate(self, comparison: FidelityComparison) -> MeasuredFigures:
        pairs = comparison.pairs
        notes: tuple[str, ...] = ()
        if len(pairs) > MOST_ATTRIBUTES:
            stream = comparison.randomness.stream("fidelity", "associations")
            pairs = [pairs[place] for place in sample_rows(stream, len(pairs), MOST_ATTRIBUTES)]
            notes = (f"associations: of {MOST_ATTRIBUTES} columns, by lot",)
        found = [
            each for each in measure_associations(pairs, corrected=True) if each.measure != AssociationMeasure.THEILS_U
        ]
        differences = [each.difference for each in found if each.difference is not None]
        figures = {
            "association_difference": mean_difference(found),
            "association_max": max(differences, default=None),
        }
        reasons = dict.fromkeys(figures, "no two columns vary in both tables")
        return MeasuredFigures(figures, reasons, notes, {"associations": tuple(found)})
