"""A policy bound to data without writing anything: do the columns match, do the techniques fit, what would be done?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from shoal.engine.polars import PolarsEngine
from shoal.io import Source, explained
from shoal.plan.binder import PlanBinder
from shoal.plan.solver_problem import BoundProblem, build_problem
from shoal.policy import Policy
from shoal.policy.sources import source_of
from shoal.pseudonyms.run_secrets import RehearsalSecrets
from shoal.randomness import Randomness


@dataclass(frozen=True)
class DryRun:
    """A policy that is bound to a source up to what the solver is asked."""

    source: Source
    binder: PlanBinder[Any]
    question: BoundProblem


def rehearse(policy: Policy, source: Source, *, seed: int | None = None) -> BoundProblem:
    """What the solver of a run would be asked."""
    return bind_to_source(policy, source, seed=seed).question


def bind_to_source(policy: Policy, source: Source, *, seed: int | None = None) -> DryRun:
    """Raises what a run would raise before it solves anything. Pseudonyms are made up: no vault is asked."""
    engine, randomness = PolarsEngine(), Randomness(seed)
    with explained(source):
        binder = PlanBinder(policy, engine, engine.scan(source), randomness, RehearsalSecrets(randomness))
        binder.bind_techniques()
        return DryRun(source, binder, build_problem(binder))


def bind_whole(policy: Policy, data: str | Source | None) -> DryRun:
    """With what comes after the solver too, as if it had left all levels as they are."""
    bound = bind_to_source(policy, source_of(policy, data))
    with explained(bound.source):
        bound.binder.bind_ending()
    return bound


def check_against_data(policy: Policy, data: str | Source | None) -> None:
    """Raises what a run would raise before it solves anything, steps that see the whole table included."""
    bound = bind_whole(policy, data)
    with explained(bound.source):
        bound.binder.planned.execute()
