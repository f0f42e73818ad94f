"""How useful a release is beside its original, for what it is meant."""

from __future__ import annotations

import polars as pl

from shoal.measurement import Measurement
from shoal.measurement.useful import Usefulness, measure_usefulness
from shoal.measurement.usefulness import Generalised, cell_figures
from shoal.policy import Policy
from shoal.policy.assessment import Assess
from shoal.randomness import Randomness
from shoal.release.pairing import Pairing, bound_hierarchy, recoded
from shoal.schema import Role


def measure_pair(pair: Pairing, own: Assess, policy: Policy | None, randomness: Randomness) -> Usefulness:
    """All figures; of attributes that the policy replaces (direct identifiers), none."""
    replaced = () if policy is None else tuple(n for n, a in policy.attributes.items() if a.role is Role.DIRECT)
    names = [name for name in pair.released.columns if name not in replaced]
    in_order = None if pair.rows_original == pair.rows_released else False
    return measure_usefulness(
        pair.original,
        pair.released,
        attributes=names,
        randomness=randomness,
        target=own.target,
        purpose=own.purpose,
        recode=recoded(policy, pair),
        aligned=in_order,
    )


def cells_beside(measured: Measurement, before: Measurement, policy: Policy) -> dict[str, float]:
    """Loss and its like by the policy's hierarchies; nothing where one of the attributes has none to go by."""
    attributes = {}
    for name in measured.classes.attributes:
        counted = before.released.group_by(pl.col(name).alias("value"), maintain_order=True).agg(
            pl.col("records").sum()
        )
        bound = bound_hierarchy(policy, name, counted)
        if bound is None:
            return {}
        attributes[name] = Generalised.by(bound, counted, bound.height, policy.attributes[name].weight)
    return cell_figures(measured, attributes)
