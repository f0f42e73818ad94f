"""A policy against data, without writing anything: do the columns match, do the techniques fit?"""

from __future__ import annotations

from shoal.engine.polars import PolarsEngine
from shoal.io import Source, explained
from shoal.plan import PlanBinder, build_problem
from shoal.policy import Policy
from shoal.policy.sources import source_of
from shoal.pseudonyms.rehearsal_secrets import RehearsalSecrets
from shoal.randomness import Randomness


def check_against_data(policy: Policy, data: str | Source | None) -> None:
    """Raises what a run would raise before it solves anything."""
    engine, randomness = PolarsEngine(), Randomness()
    source = source_of(policy, data)
    with explained(source):
        binder = PlanBinder(policy, engine, engine.scan(source), randomness, RehearsalSecrets(randomness))
        binder.bind_techniques()
        build_problem(binder)
        binder.bind_ending()
        binder.planned.execute()
