"""A suggested policy is tried on the counts of the table before anybody runs it: what it costs, and what more it bears.

Those who look alike should differ in what is sensitive. Whether a table can bear that depends on its people: each
attribute is asked for in turn, and kept where hardly any detail is lost by it. Nothing is written.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Protocol, TypeVar

from shoal.errors import DataError, InfeasibleError
from shoal.io import Source
from shoal.plan import Problem, Solution
from shoal.plan.dry_run import rehearse
from shoal.plan.loss_causes import QUICK, loss_causes
from shoal.plan.solver_choice import solve_by_policy
from shoal.policy import Policy, Solve
from shoal.release.run import anonymise

BEARABLE = 0.1
"""By how much the loss may grow for the sake of sensitive attributes."""
FEW_RECORDS = 20_000
"""Records up to which the policy is run as a whole."""
SEED = 0
"""Techniques draw the same numbers in every trial."""


class PolicySuggestion(Protocol):
    @property
    def text(self) -> str:
        """The policy."""

    @property
    def protectable(self) -> tuple[str, ...]:
        """Sensitive attributes that l-diversity or t-closeness could be asked for."""


SuggestionT = TypeVar("SuggestionT", bound=PolicySuggestion)
Redraw = Callable[..., SuggestionT]
"""The suggestion again, with ``protected`` attributes and further ``notes``."""


def try_out(found: SuggestionT, redraw: Redraw[SuggestionT], source: Source) -> SuggestionT:
    """The suggestion with what the table can bear, and with a note where it costs more than half of the detail."""
    policy = Policy.from_text(redraw(protected=found.protectable).text)
    if not policy.quasi_identifiers or not policy.models:
        return found
    problem = _asked(policy, source)
    if problem is None or problem.counts.size > QUICK:
        return found
    plain = replace(problem, models=[model for model in problem.models if _of(model) is None])
    solved = _solved(plain, policy.solve)
    if solved is None:
        return found
    protected, solution, asked = _bearable(problem, plain, policy.solve, solved)
    names = [name for name in found.protectable if name in protected]
    if names and not _holds(redraw(protected=names).text, source, problem.records):
        names, asked, solution = [], plain, solved
    causes = loss_causes(asked, policy.solve, solution)
    notes = () if causes is None else (f"As it stands, {causes.words}.",)
    return redraw(protected=names, notes=notes)


def _asked(policy: Policy, source: Source) -> Problem | None:
    """What a run would ask the solver; None where it would stop before, which the run itself tells better."""
    try:
        return rehearse(policy, source, seed=SEED).problem
    except (DataError, InfeasibleError):
        return None


def _holds(text: str, source: Source, records: int) -> bool:
    """Whether k stays what it is for those who read other columns.

    Cells of an attribute that a model looks at are not suppressed for telling what was generalised.
    """
    if records > FEW_RECORDS:
        return False
    try:
        release = anonymise(source.scan().collect(), Policy.from_text(text), seed=SEED)
    except (DataError, InfeasibleError):
        return False
    risk = release.manifest.risk
    return risk is not None and risk.k_effective == risk.k


def _bearable(
    problem: Problem, plain: Problem, wanted: Solve, solution: Solution
) -> tuple[list[str], Solution, Problem]:
    """The attributes that can be protected together, with what is solved then."""
    limit, protected, asked = solution.loss + BEARABLE, [], plain
    for model in problem.models:
        name = _of(model)
        if name is None:
            continue
        further = replace(asked, models=[*asked.models, model])
        found = _solved(further, wanted)
        if found is not None and found.loss <= limit:
            solution, asked = found, further
            protected.append(name)
    return protected, solution, asked


def _of(model: object) -> str | None:
    """The sensitive attribute that a model looks at."""
    name = getattr(model, "attribute", None)
    return name if isinstance(name, str) else None


def _solved(problem: Problem, wanted: Solve) -> Solution | None:
    try:
        return solve_by_policy(problem, wanted)
    except InfeasibleError:
        return None
