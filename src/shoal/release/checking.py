"""A policy against data, without writing anything: do the columns match, do the techniques fit?"""

from __future__ import annotations

from shoal.engine.polars import PolarsEngine
from shoal.io import explained
from shoal.plan import Builder
from shoal.policy import Policy
from shoal.randomness import Randomness
from shoal.release.job import source_of


def check_against_data(policy: Policy, data: str | None) -> None:
    """Raises what a run would raise before it solves anything."""
    engine = PolarsEngine()
    source = source_of(policy, data)
    with explained(source):
        builder = Builder(policy, engine, engine.scan(source), Randomness())
        builder.bind_techniques()
        builder.problem(builder.count())
        builder.bind_ending()
