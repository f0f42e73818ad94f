"""What the solver is asked: the table's combinations, the levels of each quasi-identifier, the models to be met."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.engine.protocol import TableT, TooManyCombinationsError
from shoal.errors import DataError
from shoal.hierarchy import BoundHierarchy
from shoal.hierarchy.value_order import ValueOrder
from shoal.plan.binder import PlanBinder
from shoal.plan.binding_queries import CountQuery, PopulationQuery
from shoal.plan.nodes import PlannedStep, PlanStage, QueryPurpose
from shoal.plan.roll_up import RollUpLevel, RollUpState
from shoal.policy import Policy
from shoal.schema import Counts
from shoal.solve import Ladder, Problem, SensitiveAttribute, build_ladder
from shoal.solve.population_join import join_population
from shoal.solve.problem import SensitiveCounts


@dataclass(frozen=True)
class BoundProblem:
    counts: Counts
    """By the quasi-identifiers and the sensitive attributes that models look at."""
    hierarchies: Mapping[str, BoundHierarchy]
    readings: Mapping[str, ValueOrder]
    """How those sensitive attributes are ordered and grouped."""
    problem: Problem
    rolled_up: bool
    """Whether it was counted on higher levels than the data's own."""


def build_problem(binder: PlanBinder[TableT]) -> BoundProblem:
    """Counts the table as the techniques leave it; a roll-up, where one is needed, becomes a step of the plan."""
    policy, quasi = binder.policy, binder.quasi_identifiers()
    counts, rolled_up = _count(binder, quasi)
    if not counts.total_records:
        raise DataError("there are no records to release")
    combinations, where = counts.project(quasi)
    population = None
    if policy.population is not None:
        joined = join_population(
            combinations, binder.planned.ask(PopulationQuery(quasi, policy=policy), QueryPurpose.SOLVING)
        )
        combinations, population, where = joined.counts, joined.population, joined.place[where]
    hierarchies = {name: _hierarchy(binder, rolled_up, name, combinations) for name in quasi}
    readings = {name: _reading(binder, name, counts) for name in policy.modelled}
    problem = Problem(
        combinations,
        [_ladder(binder, rolled_up, name, hierarchies[name], combinations) for name in quasi],
        [model.for_table(combinations.total_people) for model in policy.models],
        {name: sensitive_counts(reading, counts, where) for name, reading in readings.items()},
        population,
        policy.solve.suppression_limit,
    )
    binder.bound.models = len(problem.models)
    return BoundProblem(counts, hierarchies, readings, problem, bool(rolled_up.rungs))


def _count(binder: PlanBinder[TableT], quasi: tuple[str, ...]) -> tuple[Counts, RollUpState]:
    policy = binder.policy
    asked = CountQuery((*quasi, *policy.modelled), binder.person)
    rolled_up = RollUpState()
    while True:
        try:
            return binder.planned.ask(asked, QueryPurpose.SOLVING), rolled_up
        except TooManyCombinationsError:
            # A population would have to be rolled up alike, by values that the table may not have.
            further = None if policy.population is not None else _roll_up(binder, rolled_up, quasi)
            if further is None:
                raise
            rolled_up = further


def _roll_up(binder: PlanBinder[TableT], rolled_up: RollUpState, quasi: tuple[str, ...]) -> RollUpState | None:
    """The finest quasi-identifier is raised by a level, for the engine to count again; None if none can be."""

    def first_rung(name: str) -> RollUpLevel:
        counts = binder.counts((name,))
        bound = binder.bind_hierarchy(name, counts)
        _, highest = _allowed(binder.policy, name, bound)
        # The top would take the whole attribute away; that is for a person to decide.
        return RollUpLevel(bound, counts.values_of(name), highest=min(highest, bound.height - 1))

    lowest = {name: low for name, (low, _) in binder.policy.solve.levels.items()}
    further = rolled_up.further(quasi, first_rung, lowest)
    if further is None:
        return None
    higher, name, step = further
    detail = f"level {step.level} of {step.bound.height} before counting: there were too many combinations"
    planned = PlannedStep(step, "roll_up", "ISO/IEC 20889, 9.6", name, detail, PlanStage.COUNTING)
    binder.planned.add(planned)
    return higher


def _hierarchy(binder: PlanBinder[TableT], rolled_up: RollUpState, name: str, counts: Counts) -> BoundHierarchy:
    rung = rolled_up.rungs.get(name)
    return binder.bind_hierarchy(name, counts) if rung is None else rung.bound


def _ladder(
    binder: PlanBinder[TableT], rolled_up: RollUpState, name: str, hierarchy: BoundHierarchy, counts: Counts
) -> Ladder:
    """The levels that the solver may choose: those of the policy, and none below what was counted on."""
    low, high = _allowed(binder.policy, name, hierarchy)
    rung = rolled_up.rungs.get(name)
    return build_ladder(
        hierarchy,
        counts.values_of(name).alias(name),
        bounds=(low if rung is None else max(low, rung.level), high),
        weight=binder.attributes[name].weight,
    )


def _allowed(policy: Policy, name: str, hierarchy: BoundHierarchy) -> tuple[int, int]:
    return policy.solve.levels.get(name, (0, hierarchy.height))


def _reading(binder: PlanBinder[TableT], name: str, counts: Counts) -> ValueOrder:
    grouped = binder.attributes[name].hierarchy is not None
    return ValueOrder(binder.columns[name], binder.bind_hierarchy(name, counts) if grouped else None)


def sensitive_counts(reading: ValueOrder, counts: Counts, where: NDArray[np.int64]) -> SensitiveCounts:
    """Of a sensitive attribute, whose combinations with others lie at ``where`` among those without it."""
    name = reading.column.name
    values = counts.values_of(name)
    known = SensitiveAttribute(reading.order(values), reading.tree(values), reading.numbers(values))
    return known.tally(counts, where, name)
