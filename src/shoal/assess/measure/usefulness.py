"""How useful a release is beside its original, for what it is meant."""

from __future__ import annotations

import polars as pl

from shoal.assess.comparison.paired_tables import MEASURING, TablePair, bound_hierarchy, recoded
from shoal.measurement import Measurement
from shoal.measurement.usefulness import Usefulness, measure_usefulness
from shoal.measurement.usefulness.information_loss import Generalised, cell_figures, unknown_labels
from shoal.policy import Policy
from shoal.policy.assessment import Assess
from shoal.results.measured_table import CELL_FIGURES, CellFigures
from shoal.schema import Role

_OTHER_RECORDS = "the release has more or fewer records than the original"


def measure_pair(pair: TablePair, own: Assess, policy: Policy | None) -> Usefulness:
    """All figures; of attributes that the policy replaces (direct identifiers), none."""
    replaced = () if policy is None else tuple(n for n, a in policy.attributes.items() if a.role is Role.DIRECT)
    names = [name for name in pair.released.columns if name not in replaced]
    in_order = None if pair.rows_original == pair.rows_released else False
    return measure_usefulness(
        pair.original,
        pair.released,
        attributes=names,
        randomness=MEASURING,
        target=own.target,
        purpose=own.purpose,
        recode=recoded(policy, pair),
        aligned=in_order,
    )


def cells_beside(measured: Measurement, before: Measurement, policy: Policy | None) -> CellFigures:
    """By the policy's hierarchies, if it has one for each attribute and the release was made by it."""
    if policy is None:
        return CellFigures.unknown("only a policy says what released values stand for")
    if measured.invented:
        return CellFigures.unknown(f"{measured.invented:,} of the records are invented, and nobody can tell which")
    attributes = {}
    for name in measured.classes.attributes:
        counted = before.released.group_by(pl.col(name).alias("value"), maintain_order=True).agg(
            pl.col("records").sum()
        )
        bound = bound_hierarchy(policy, name, counted)
        if bound is None:
            return CellFigures.unknown(f"column '{name}' is altered before it is generalised")
        attributes[name] = Generalised.by(bound, counted, bound.height, policy.attributes[name].weight)
    figures = cell_figures(measured, attributes)
    if figures:
        return CellFigures(figures, {name: _OTHER_RECORDS for name in CELL_FIGURES if name not in figures})
    unknown = unknown_labels(measured, attributes)
    told = ", ".join(f"{number:,} of '{name}'" for name, number in unknown.items())
    return CellFigures.unknown(f"released labels that the policy does not make: {told}")
