"""All figures of fidelity of a synthetic table beside its original, in one go."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from shoal.errors import BugError, DataError
from shoal.measurement.fidelity.base import MOST_RECORDS, FidelityComparison, fidelity_measures
from shoal.measurement.usefulness.attribute_pairs import make_comparable
from shoal.measurement.usefulness.row_sampling import sample_rows
from shoal.randomness import Randomness
from shoal.schema.progress import Progress

if TYPE_CHECKING:
    from shoal.measurement.fidelity.column_shapes import ColumnShape
    from shoal.measurement.fidelity.marginals import MarginalDistance
    from shoal.measurement.fidelity.predictions import Prediction
    from shoal.measurement.usefulness.associations import Association


@dataclass(frozen=True)
class Fidelity:
    """What a synthetic table still tells. ``figures`` are named as measures declare them."""

    figures: Mapping[str, float | None]
    reasons: Mapping[str, str]
    """Why a figure is missing."""
    shapes: Mapping[str, ColumnShape]
    column_distances: Mapping[str, MarginalDistance]
    pair_distances: Mapping[tuple[str, ...], MarginalDistance]
    associations: tuple[Association, ...]
    predictions: tuple[Prediction, ...]
    notes: tuple[str, ...]
    """What was sampled or left out by intention."""


def measure_fidelity(  # noqa: PLR0913  # the tables, and what is asked of them
    original: pl.DataFrame,
    synthetic: pl.DataFrame,
    *,
    control: pl.DataFrame | None = None,
    targets: Sequence[str] = (),
    randomness: Randomness,
    progress: Progress | None = None,
) -> Fidelity:
    """Compare the columns that both tables have, which have to be of the same types."""
    names = [name for name in original.columns if name in synthetic.columns]
    if not names:
        raise DataError("the original and the synthetic table have no column in common: they can't belong together")
    for frame, whose in ((original, "original"), (synthetic, "synthetic table")):
        if not frame.height:
            raise DataError(f"the {whose} has no records, so there is nothing to compare")
    if unknown := [name for name in targets if name not in names]:
        raise DataError(f"there is no column '{unknown[0]}' in both tables to predict")
    stream = randomness.stream("fidelity", "sample")
    before, after = (
        frame.select(names)[sample_rows(stream, frame.height, MOST_RECORDS, lane=lane)]
        if frame.height > MOST_RECORDS
        else frame.select(names)
        for lane, frame in enumerate((original, synthetic))
    )
    pairs = [make_comparable(name, before[name], after[name]) for name in names]
    if control is not None:
        control = control.select(names)
    comparison = FidelityComparison(original, synthetic, control, (before, after), pairs, targets, randomness)
    found = []
    measures = fidelity_measures()
    for number, one in enumerate(measures):
        if progress:
            progress(number, len(measures))
        measured = one().evaluate(comparison)
        if measured.figures.keys() != one.readings.keys():
            raise BugError(f"the measure '{one.key}' has to give the figures that it declares")
        found.append(measured)
    figures = {name: value for one in found for name, value in one.figures.items()}
    reasons = {name: told for one in found for name, told in one.reasons.items()}
    sampled = max(original.height, synthetic.height) > MOST_RECORDS
    notes = (f"most figures: a random sample of {MOST_RECORDS:,} records of each table",) if sampled else ()
    return Fidelity(
        figures,
        {name: reasons.get(name, "it can't be had") for name in figures if figures[name] is None},
        notes=(*notes, *(note for one in found for note in one.notes)),
        **{name: detail for one in found for name, detail in one.details.items()},
    )
