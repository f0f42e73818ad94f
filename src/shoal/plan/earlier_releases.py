"""Solving with earlier releases in view: so that what all releases say together keeps the privacy models.

The table is counted by the quasi-identifiers *and* by the classes that people have in earlier releases. The models have
to hold in each group of people who are alike in all of that; the earlier classes can't be generalised any more. Groups
that miss them are left out. So are, from an earlier class of which a few people would be missing now, as many groups as
it takes until those who are missing are k themselves. Decision 0035 has the argument.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.engine.protocol import TableT
from shoal.errors import InfeasibleError, InputError
from shoal.hierarchy import FlatHierarchy
from shoal.plan.binder import PlanBinder
from shoal.plan.binding_queries import CountQuery
from shoal.plan.hidden_columns.earlier_class import EARLIER, NEWCOMER, EarlierClasses, TagEarlier
from shoal.plan.nodes import PlannedStep, PlanStage, QueryPurpose
from shoal.plan.solver_problem import BoundProblem, sensitive_counts
from shoal.privacy import PrivacyModel
from shoal.privacy.models.k_anonymity import KAnonymity
from shoal.schema import Column
from shoal.schema.progress import Progress
from shoal.solve import Problem, Solution, build_ladder, solve_lattice
from shoal.techniques.suppression.suppress_records import WithholdClassesStep

_NO_WEIGHT = 1e-9


@dataclass(frozen=True)
class EarlierCost:
    """What it costs to have earlier releases in view."""

    names: tuple[str, ...]
    k: int
    """The fewest people who are alike in all releases."""
    left_out: int
    """Records that are not released for that."""
    loss_alone: float
    """Of the table solved by itself."""
    loss: float
    """With what is left out, which is lost whole."""


def tag_earlier(binder: PlanBinder[TableT], earlier: EarlierClasses) -> None:
    """Before anything else is bound, while people are still named."""
    if binder.policy.person != earlier.person:
        raise InputError("earlier releases are found again by `person`, which the policy has to name", field="after")
    if binder.policy.solve.recoding != "global" or binder.policy.solve.decoys is not None:
        raise InputError("with earlier releases in view, recoding is global and nobody is made up", field="after")
    if binder.policy.read_back.found == "suppress":
        raise InputError("cells that are suppressed afterwards would tell people of a group apart", field="after")
    binder.planned.add(PlannedStep(TagEarlier(earlier), "earlier", "", stage=PlanStage.PREPARATION))


def solve_with_earlier(
    binder: PlanBinder[TableT], earlier: EarlierClasses, alone: BoundProblem, progress: Progress | None = None
) -> EarlierCost:
    """Leave out what has to be, and bind the policy to the levels that were found."""
    policy = binder.policy
    by_itself = solve_lattice(alone.problem, policy.solve.utility, progress=progress)
    joint = _joint_problem(binder, alone)
    found = solve_lattice(joint, policy.solve.utility, progress=progress)
    groups = _groups(joint, found)
    withheld = _with_company(joint, groups, found.withheld, earlier, _least(policy.models))
    left_out = int(joint.counts.records[withheld].sum())
    if left_out > joint.allowed:
        raise InfeasibleError(
            f"with earlier releases in view {left_out} of {joint.records} records can't be released, and "
            f"solve.suppression_limit allows {joint.allowed}"
        )
    if withheld.all():
        raise InfeasibleError("with earlier releases in view no record can be released")
    if withheld.any():
        combinations = joint.counts.frame().filter(pl.Series(withheld))
        step = WithholdClassesStep(joint.counts.attributes, combinations, drop=True)
        detail = "earlier releases in view"
        clause = "ISO/IEC 20889, 9.3.4"
        binder.planned.add(PlannedStep(step, "suppress_records", clause, detail=detail, stage=PlanStage.SOLUTION))
        binder.suppressed_by_rule += left_out
    levels = {name: (level, level) for name, level in found.levels.items() if name != EARLIER}
    solve = policy.solve.model_copy(update={"levels": levels})
    binder.policy = policy.model_copy(update={"solve": solve})
    kept = joint.counts.people_in(np.where(withheld, groups.max() + 1, groups), int(groups.max()) + 2)[:-1]
    return EarlierCost(
        earlier.names, int(kept[kept > 0].min()), left_out, by_itself.loss, _loss(joint, found, withheld)
    )


def _least(models: Sequence[PrivacyModel]) -> int:
    return max((model.k for model in models if isinstance(model, KAnonymity)), default=2)


def _joint_problem(binder: PlanBinder[TableT], alone: BoundProblem) -> Problem:
    problem, quasi = alone.problem, alone.problem.counts.attributes
    if alone.rolled_up or problem.population is not None:
        raise InputError("with earlier releases in view the table has to be counted as it is", field="after")
    modelled = tuple(alone.readings)
    counts = binder.planned.ask(CountQuery((*quasi, EARLIER, *modelled), binder.person), QueryPurpose.SOLVING)
    combinations, where = counts.project((*quasi, EARLIER))
    fixed = FlatHierarchy().bind(Column(EARLIER), combinations.value_counts(EARLIER))
    ladder = build_ladder(fixed, combinations.values_of(EARLIER).alias(EARLIER), bounds=(0, 0), weight=_NO_WEIGHT)
    tallies = {name: sensitive_counts(alone.readings[name], counts, where) for name in modelled}
    return replace(problem, counts=combinations, ladders=(*problem.ladders, ladder), tallies=tallies)


def _groups(joint: Problem, found: Solution) -> NDArray[np.int64]:
    """For each combination, the group of those who are alike in what is released and was released before."""
    counts = joint.counts
    cells = [
        ladder.groups[found.levels[ladder.attribute]][counts.codes[:, place]]
        for place, ladder in enumerate(joint.ladders)
    ]
    _, group = np.unique(np.column_stack(cells), axis=0, return_inverse=True)
    return group.reshape(-1).astype(np.int64)


def _with_company(
    joint: Problem, groups: NDArray[np.int64], withheld: NDArray[np.bool_], earlier: EarlierClasses, k: int
) -> NDArray[np.bool_]:
    """Withhold further groups until those of an earlier class who are missing are nobody, or k at least."""
    counts, withheld = joint.counts, withheld.copy()
    numbers = counts.values_of(EARLIER).cast(pl.Int64).to_numpy()[counts.codes[:, counts.attributes.index(EARLIER)]]
    sizes = counts.people_in(groups, int(groups.max()) + 1)
    outside = len(earlier.people)
    there = counts.people_in(np.where(withheld, outside, numbers), outside + 1)[:-1]
    missing = earlier.people - there
    few = np.flatnonzero((missing > 0) & (missing < k) & (there > 0))
    for number in few[few != NEWCOMER]:
        mine = np.unique(groups[(numbers == number) & ~withheld])
        lacking = k - int(missing[number])
        for group in mine[np.lexsort((mine, sizes[mine]))]:
            if lacking <= 0:
                break
            withheld |= groups == group
            lacking -= int(sizes[group])
    return withheld


def _loss(joint: Problem, found: Solution, withheld: NDArray[np.bool_]) -> float:
    levels = np.tile(
        np.array([found.levels[ladder.attribute] for ladder in joint.ladders], dtype=np.int8), (joint.counts.size, 1)
    )
    return joint.loss(levels, withheld)
