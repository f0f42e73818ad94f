"""A policy against data, without writing anything: do the columns match, do the techniques fit?"""

from __future__ import annotations

from shoal.engine.polars import PolarsEngine
from shoal.io import Source, explained
from shoal.plan import Builder, ask
from shoal.policy import Policy
from shoal.pseudonyms.rehearsal import Rehearsal
from shoal.randomness import Randomness
from shoal.release.job import source_of


def check_against_data(policy: Policy, data: str | Source | None) -> None:
    """Raises what a run would raise before it solves anything."""
    engine, randomness = PolarsEngine(), Randomness()
    source = source_of(policy, data)
    with explained(source):
        builder = Builder(policy, engine, engine.scan(source), randomness, Rehearsal(randomness))
        builder.bind_techniques()
        ask(builder)
        builder.bind_ending()
