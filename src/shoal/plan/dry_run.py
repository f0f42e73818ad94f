"""A policy against data, without writing anything: do the columns match, do the techniques fit?"""

from __future__ import annotations

from shoal.engine.polars import PolarsEngine
from shoal.engine.polars.table import PolarsTable
from shoal.io import Source, explained
from shoal.plan import BoundProblem, PlanBuilder, build_problem
from shoal.policy import Policy
from shoal.policy.sources import source_of
from shoal.pseudonyms.rehearsal_secrets import RehearsalSecrets
from shoal.randomness import Randomness


def check_against_data(policy: Policy, data: str | Source | None) -> None:
    """Raises what a run would raise before it solves anything."""
    source = source_of(policy, data)
    with explained(source):
        builder = _bound(policy, source, seed=None)
        build_problem(builder)
        builder.bind_ending()


def rehearse(policy: Policy, source: Source, *, seed: int | None = None) -> BoundProblem:
    """What the solver of a run would be asked, counted on this machine; no vault is touched."""
    with explained(source):
        return build_problem(_bound(policy, source, seed=seed))


def _bound(policy: Policy, source: Source, *, seed: int | None) -> PlanBuilder[PolarsTable]:
    engine, randomness = PolarsEngine(), Randomness(seed)
    builder = PlanBuilder(policy, engine, engine.scan(source), randomness, RehearsalSecrets(randomness))
    builder.bind_techniques()
    return builder
