"""How useful a release is beside its original, for what it is meant."""

from __future__ import annotations

import polars as pl

from shoal.measurement import Measurement
from shoal.measurement.useful import Usefulness, measure_usefulness
from shoal.measurement.usefulness import loss_of
from shoal.policy import Policy
from shoal.policy.assessment import Assess
from shoal.randomness import Randomness
from shoal.release.pairing import Pairing, bound_hierarchies, recoded
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


def loss_beside(measured: Measurement, original: pl.DataFrame, policy: Policy) -> float | None:
    """The normalised loss by the policy's hierarchies; None where one of the attributes has none to go by."""
    quasi = measured.classes.attributes
    hierarchies = bound_hierarchies(policy, original)
    if not quasi or any(name not in hierarchies for name in quasi):
        return None
    losses = {}
    for name in quasi:
        bound, values = hierarchies[name]
        levels = range(bound.height + 1)
        losses[name] = pl.concat(
            pl.DataFrame({"label": bound.generalise(values, level).cast(pl.String), "loss": bound.loss(values, level)})
            for level in levels
        ).unique("label", keep="first", maintain_order=True)
    return loss_of(measured, losses, {name: policy.attributes[name].weight for name in quasi})
