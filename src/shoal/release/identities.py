"""Sealed identities, put aside record by record, go to the vault before the release appears: never the other way round.

A release that can't be followed up would be worse than an entry in the vault that belongs to no release.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from shoal.plan import IdentityStep, Plan
from shoal.pseudonyms import Secrets

AT_ONCE = 200_000


def has_identities(plan: Plan) -> bool:
    """Whether what was put aside is needed until the release is committed."""
    return any(isinstance(planned.step, IdentityStep) for planned in plan)


def keep_identities(plan: Plan, output: pl.LazyFrame, aside: Path, secrets: Secrets | None) -> None:
    for planned in plan:
        if isinstance(planned.step, IdentityStep) and secrets is not None:
            _keep(planned.step, output, aside, secrets)


def _keep(step: IdentityStep, output: pl.LazyFrame, aside: Path, secrets: Secrets) -> None:
    codes = output.select(pl.col(step.into).cast(pl.String))
    both = pl.concat([codes, pl.scan_ipc(aside).select(step.aside)], how="horizontal")
    # Records of one person share a code where the policy says so; the vault keeps it once.
    for batch in both.collect_batches(chunk_size=AT_ONCE):
        once = batch.unique(step.into, keep="first", maintain_order=True)
        identities, by = step.opened(once[step.into], once[step.aside])
        secrets.remember(step.domain, once[step.into], identities, by)
