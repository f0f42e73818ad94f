"""Try, measure, try again (PDPC, steps 3 and 4): one table at several k, suppression limits and kinds of recoding.

The data is read and counted once; after that only the solver runs, and nothing is written. So a person sees what every
step towards more privacy costs before anything is released. Only the k of k-anonymity by all quasi-identifiers is
varied (it is added where the policy has none); the policy's other models stay as they are and hold in every try.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import TypeGuard, get_args

from shoal.errors import Cancelled, InfeasibleError, InputError
from shoal.io import Source
from shoal.io.frames import FrameSource, as_lazy
from shoal.measurement import Risk
from shoal.plan import Solution
from shoal.plan.dry_run import rehearse
from shoal.plan.released_classes import ReleasedClasses
from shoal.plan.solver_choice import solve_by_policy
from shoal.policy import Policy, Solve
from shoal.policy.sources import source_of
from shoal.privacy import PrivacyModel
from shoal.privacy.models.k_anonymity import KAnonymity
from shoal.results.exploration import Exploration, ExplorationOutcome, ExplorationTrial
from shoal.schema.progress import Monitor
from shoal.schema.registry import did_you_mean
from shoal.schema.requests import UseCaseRequest

KS = (2, 3, 5, 10, 20)
LIMITS = (0.0, 0.01, 0.02, 0.05, 0.1)
RECODINGS: tuple[str, ...] = get_args(Solve.model_fields["recoding"].annotation)


@dataclass(frozen=True)
class ExplorationSetting:
    recoding: str
    k: int
    limit: float


class ExploreRequest(UseCaseRequest):
    ks: tuple[int, ...] = KS
    limits: tuple[float, ...] = LIMITS
    """Shares of the records that may be suppressed."""
    recodings: tuple[str, ...] | None = None
    """Without them, global and local; where the policy minimises something else than the loss, global alone."""
    seed: int | None = None

    def settings(self, policy: Policy) -> tuple[ExplorationSetting, ...]:
        return grid(policy, self.ks, self.limits, self.recodings)


def explore(  # noqa: PLR0913  # one argument per option of `shoal explore`
    policy: Policy,
    data: object = None,
    *,
    ks: Iterable[int] = KS,
    limits: Iterable[float] = LIMITS,
    recodings: Iterable[str] | None = None,
    seed: int | None = None,
    monitor: Monitor | None = None,
) -> tuple[ExplorationTrial, ...]:
    """Every combination of the given, and what the policy itself asks for. ``data`` is a path or a table in memory.

    Without ``recodings``, global and local; where the policy minimises something else than the loss, global alone.
    """
    settings = grid(policy, ks, limits, recodings)
    return tuple(PolicyExplorer(policy, data, seed=seed, monitor=monitor).tries(settings))


def exploration_of(
    policy: Policy, data: object = None, *, seed: int | None = None, monitor: Monitor | None = None
) -> Exploration:
    """The usual grid around a policy, for the report of its release."""
    return explore_policy(policy, data, ExploreRequest(seed=seed), monitor)


def explore_policy(
    policy: Policy,
    data: object,
    request: ExploreRequest,
    monitor: Monitor | None = None,
    *,
    stoppable: bool = False,
) -> Exploration:
    """What is asked for; where that may be stopped, the tries that were made when it was, if there are any."""
    settings = request.settings(policy)
    explorer = PolicyExplorer(policy, data, seed=request.seed, monitor=monitor)
    tries: list[ExplorationTrial] = []
    complete = False
    try:
        for one in explorer.tries(settings):
            tries.append(one)  # noqa: PERF402  # one by one, so that an interrupt leaves what is there
        complete = True
    except (KeyboardInterrupt, Cancelled):
        if not (stoppable and tries):
            raise
    return Exploration(policy.name, explorer.label, explorer.problem.records, tuple(tries), complete)


def grid(
    policy: Policy, ks: Iterable[int] = KS, limits: Iterable[float] = LIMITS, recodings: Iterable[str] | None = None
) -> tuple[ExplorationSetting, ...]:
    """What is to be tried, by recoding, k and limit: all combinations, and what the policy asks for."""
    ks, limits, kinds = tuple(ks), tuple(limits), tuple(_default(policy) if recodings is None else recodings)
    settings = {ExplorationSetting(*one) for one in product(kinds, ks, limits)}
    if not settings:
        missing = next(name for name, given in (("ks", ks), ("limits", limits), ("recodings", kinds)) if not given)
        raise InputError(
            "there is nothing to try", field=missing, advice="give at least one k, one limit and one kind of recoding"
        )
    _refuse(policy, settings)
    own = own_setting(policy)
    order = (*kinds, own.recoding)
    return tuple(sorted(settings | {own}, key=lambda one: (order.index(one.recoding), one.k, one.limit)))


def own_setting(policy: Policy) -> ExplorationSetting:
    """What the policy asks for; without k-anonymity that is k = 1, which asks for nothing."""
    k = max((model.k for model in policy.models if _is_plain(model)), default=1)
    return ExplorationSetting(policy.solve.recoding, k, policy.solve.suppression_limit)


class PolicyExplorer:
    """Counted once, ready to be solved again and again."""

    def __init__(
        self, policy: Policy, data: object = None, *, seed: int | None = None, monitor: Monitor | None = None
    ) -> None:
        self.monitor = monitor or Monitor()
        self.policy = policy
        self.own = own_setting(policy)
        source = _source(policy, data)
        self.label = source.label
        question = rehearse(policy, source, seed=seed)
        self.problem = question.problem
        self._released = ReleasedClasses(self.problem, question.hierarchies)

    def tries(self, settings: Sequence[ExplorationSetting]) -> Iterator[ExplorationTrial]:
        """One after the other, so that whoever stops here has what was tried so far."""
        advance = self.monitor.progress("explore")
        for number, setting in enumerate(settings):
            advance(number, len(settings))
            yield self.attempt(setting)

    def attempt(self, setting: ExplorationSetting) -> ExplorationTrial:
        """The steps of the solver are nobody's concern; that it is to stop, it hears."""
        silent = Monitor(cancel=self.monitor.cancel)
        problem = replace(self.problem, models=_with_k(self.problem.models, setting.k), suppression_limit=setting.limit)
        wanted = self.policy.solve.model_copy(update={"recoding": setting.recoding, "suppression_limit": setting.limit})
        found, reason = None, None
        started = time.perf_counter()
        try:
            solution = solve_by_policy(problem, wanted, silent.progress("solve"))
        except InfeasibleError as error:
            reason = str(error)
        seconds = time.perf_counter() - started
        if reason is None:
            found = self._found(solution)
        own = setting == self.own
        return ExplorationTrial(setting.k, setting.limit, setting.recoding, seconds, own, found, reason)

    def _found(self, solution: Solution) -> ExplorationOutcome:
        classes = self._released.classes(solution)
        risk = Risk.of(classes)
        return ExplorationOutcome(
            levels=dict(solution.levels),
            loss=solution.loss,
            objective=solution.objective,
            optimal=solution.optimal,
            suppressed=solution.suppressed,
            suppressed_share=solution.suppressed / self.problem.records,
            smallest_class=risk.k,
            average_class_size=int(classes.records.sum()) / max(1, len(classes)),
            prosecutor_max=risk.prosecutor_max,
            prosecutor_average=risk.prosecutor_average,
        )


def _is_plain(model: PrivacyModel) -> TypeGuard[KAnonymity]:
    """k-anonymity by all quasi-identifiers."""
    return isinstance(model, KAnonymity) and model.plain


def _with_k(models: Sequence[PrivacyModel], k: int) -> tuple[PrivacyModel, ...]:
    return (KAnonymity(k=k), *(model for model in models if not _is_plain(model)))


def _source(policy: Policy, data: object) -> Source:
    if data is None or isinstance(data, str | Path):
        return source_of(policy, None if data is None else str(data))
    if isinstance(data, Source):
        return data
    return FrameSource(as_lazy(data))


def _default(policy: Policy) -> tuple[str, ...]:
    return ("global", "local") if policy.solve.utility == "loss" else ("global",)


def _refuse(policy: Policy, settings: Iterable[ExplorationSetting]) -> None:
    for one in settings:
        if one.k < 1:
            raise InputError(f"{one.k} is too low; k is a whole number from 1 on", field="ks")
        if not 0 <= one.limit <= 1:
            raise InputError(f"{one.limit:g} is not a share of the records, from 0 to 1", field="limits")
        if one.recoding not in RECODINGS:
            hint = did_you_mean(one.recoding, RECODINGS)
            raise InputError(
                f"unknown kind '{one.recoding}'{hint}", field="recodings", advice=f"one of {', '.join(RECODINGS)}"
            )
        if one.recoding != "global" and policy.solve.utility != "loss":
            raise InputError(
                f"{one.recoding} minimises the loss, the policy asks for {policy.solve.utility}",
                field="recodings",
                advice="explore recoding global only, or take solve.utility out",
            )
    if not policy.quasi_identifiers:
        raise InputError("there is nothing to explore: the policy has no quasi-identifier")
    if not policy.kind.has_classes:
        raise InputError("there is nothing to explore: privacy models are for records, the policy aggregates them")
