"""What a high loss comes from: which attribute, or which k, and what would be lost without it.

Each answer is found by solving again, with one attribute less or with a smaller k. Where that would take long, only the
share of each attribute's own detail that is gone is told.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from shoal.errors import InfeasibleError
from shoal.plan.solver_choice import solve_by_policy
from shoal.policy import Solve
from shoal.privacy.models.k_anonymity import KAnonymity
from shoal.solve import Problem, Solution
from shoal.solve.attribute_cost import attribute_losses, problem_without

TOO_MUCH = 0.5
"""The loss from which it is said where it comes from."""
QUICK = 5_000
"""Combinations up to which the solver is asked again."""
TRIED = 3
"""Attributes that are left out, one at a time: those that lose most."""
SMALLER = {3: 2, 4: 3, 5: 3, 10: 5, 20: 10}
"""The k to compare with; half of others."""


@dataclass(frozen=True)
class LossCauses:
    """Where the loss of a solution comes from."""

    loss: float
    attributes: Mapping[str, float]
    """The loss of each attribute's own cells, the highest first."""
    without: Mapping[str, float] = field(default_factory=dict)
    """The loss of the others when the attribute is left out."""
    k: int | None = None
    smaller_k: tuple[int, float] | None = None
    """A k below the one asked for, and the loss with it."""

    @property
    def words(self) -> str:
        """One sentence for each."""
        told = [f"more than half of the detail is gone (loss {self.loss:.2f})"]
        worst = next(iter(self.attributes), None)
        if worst is not None:
            told.append(f"most of it in '{worst}' ({self.attributes[worst]:.2f} of its own)")
        told += [f"without {name}: loss {loss:.2f}" for name, loss in self.without.items() if loss < self.loss]
        if self.smaller_k is not None and self.smaller_k[1] < self.loss:
            told.append(f"with k = {self.smaller_k[0]} instead of {self.k}: loss {self.smaller_k[1]:.2f}")
        return "; ".join(told)


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
    return replace(whole, without=without, k=k, smaller_k=None if k is None else _with_smaller_k(problem, wanted, k))


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
    smaller = SMALLER.get(k, k // 2)
    if smaller < 2:
        return None
    models = [
        model.model_copy(update={"k": smaller}) if isinstance(model, KAnonymity) and model.plain else model
        for model in problem.models
    ]
    loss = _loss_of(replace(problem, models=models), wanted)
    return None if loss is None else (smaller, loss)


def _loss_of(problem: Problem, wanted: Solve) -> float | None:
    try:
        return solve_by_policy(problem, wanted).loss
    except InfeasibleError:
        return None
