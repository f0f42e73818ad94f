"""What a high loss comes from: which attribute, or which k, and what would be lost without it.

Each answer is found by solving again: with one attribute less, with as many less as it takes to keep half of the
detail, or with a smaller k. Where that would take long, only what each attribute loses of its own is told.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from shoal.errors import InfeasibleError
from shoal.plan.solver_choice import solve_by_policy
from shoal.policy import PRESETS, Solve
from shoal.privacy.models.k_anonymity import KAnonymity
from shoal.solve import Problem, Solution
from shoal.solve.attribute_cost import attribute_losses, problem_without

TOO_MUCH = 0.5
"""The loss from which it is said where it comes from."""
QUICK = 5_000
"""Combinations up to which the solver is asked again."""
TRIED = 3
"""Attributes that are left out, one at a time: those that lose most."""
ALL = 0.995
"""The loss from which nothing is said to be left."""


@dataclass(frozen=True)
class LossCauses:
    """Where the loss of a solution comes from."""

    loss: float
    attributes: Mapping[str, float]
    """The loss of each attribute's own cells, the highest first."""
    without: Mapping[str, float] = field(default_factory=dict)
    """The loss of the others when the attribute is left out."""
    without_several: tuple[tuple[str, ...], float] | None = None
    """Where one is not enough: which to leave out so that half of the detail stays, and the loss then."""
    k: int | None = None
    smaller_k: tuple[int, float] | None = None
    """A k below the one asked for, and the loss with it."""
    k_alone: float | None = None
    """The loss with no model but k-anonymity, where others are asked for too."""

    @property
    def words(self) -> str:
        """What is gone, then what would help, each with the loss that it would leave."""
        much = "nothing" if self.loss >= ALL else "less than half"
        told = [f"{much} of the detail of the quasi-identifiers is left (loss {self.loss:.2f})"]
        worst = next(iter(self.attributes), None)
        if worst is not None and self.attributes[worst] > self.loss:
            told.append(f"most is lost in '{worst}' ({self.attributes[worst]:.2f} of its own)")
        told += [f"without {name}: loss {loss:.2f}" for name, loss in self.without.items() if loss < self.loss]
        if self.without_several is not None:
            names, loss = self.without_several
            told.append(f"without {', '.join(names[:-1])} and {names[-1]}: loss {loss:.2f}")
        if self.smaller_k is not None and self.smaller_k[1] < self.loss:
            k, loss = self.smaller_k
            told.append(f"with k = {k} instead of {self.k}{_asked_by(k)}: loss {loss:.2f}")
        if self.k_alone is not None and self.k_alone < self.loss:
            told.append(f"with k-anonymity as the only model: loss {self.k_alone:.2f}")
        if len(told) == 1 and self.loss >= ALL:
            told.append("there are too few people: combine the data with other data, or give counts by group")
        return "; ".join(told)


def _asked_by(k: int) -> str:
    """The use cases of the guide for which a k is enough."""
    cases = " and ".join(str(case) for case, preset in PRESETS.items() if preset.k == k)
    return f" (enough for {cases})" if cases else ""


def loss_causes(problem: Problem, wanted: Solve, solution: Solution) -> LossCauses | None:
    """Of a solution whose loss is more than half; None of others."""
    if not solution.levels or solution.loss <= TOO_MUCH:
        return None
    lost = attribute_losses(problem, solution)
    worst_first = dict(sorted(lost.items(), key=lambda one: -one[1]))
    whole = LossCauses(solution.loss, worst_first)
    if problem.counts.size > QUICK or problem.population is not None:
        return whole
    without = _without_each(problem, wanted, list(worst_first)[:TRIED])
    k = next((model.k for model in problem.models if isinstance(model, KAnonymity) and model.plain), None)
    return replace(
        whole,
        without=without,
        without_several=_without_several(problem, wanted, without),
        k=k,
        smaller_k=None if k is None else _with_smaller_k(problem, wanted, k),
        k_alone=_with_k_alone(problem, wanted),
    )


def _without_several(
    problem: Problem, wanted: Solve, one_less: Mapping[str, float]
) -> tuple[tuple[str, ...], float] | None:
    """One more at a time, each the one without which least is lost."""
    left_out: list[str] = []
    without, left = one_less, problem
    while without and len(left_out) < TRIED:
        best = next(iter(without))
        left_out.append(best)
        if without[best] <= TOO_MUCH:
            return (tuple(left_out), without[best]) if len(left_out) > 1 else None
        left = problem_without(left, best)
        without = _without_each(left, wanted, [ladder.attribute for ladder in left.ladders])
    return None


def _without_each(problem: Problem, wanted: Solve, names: list[str]) -> dict[str, float]:
    if len(problem.ladders) < 2:
        return {}
    found = {name: _loss_of(problem_without(problem, name), wanted) for name in names if _can_go(problem, name)}
    known = {name: loss for name, loss in found.items() if loss is not None}
    return dict(sorted(known.items(), key=lambda one: one[1]))


def _can_go(problem: Problem, name: str) -> bool:
    """Whether no model counts by it in particular."""
    return not any(name in getattr(model, "attributes", ()) for model in problem.models)


def _with_smaller_k(problem: Problem, wanted: Solve, k: int) -> tuple[int, float] | None:
    smaller = max((preset.k for preset in PRESETS.values() if preset.k and preset.k < k), default=k - 1)
    if smaller < 2:
        return None
    models = [
        model.model_copy(update={"k": smaller}) if isinstance(model, KAnonymity) and model.plain else model
        for model in problem.models
    ]
    loss = _loss_of(replace(problem, models=models), wanted)
    return None if loss is None else (smaller, loss)


def _with_k_alone(problem: Problem, wanted: Solve) -> float | None:
    alone = [model for model in problem.models if isinstance(model, KAnonymity)]
    return _loss_of(replace(problem, models=alone), wanted) if 0 < len(alone) < len(problem.models) else None


def _loss_of(problem: Problem, wanted: Solve) -> float | None:
    try:
        return solve_by_policy(problem, wanted).loss
    except InfeasibleError:
        return None
