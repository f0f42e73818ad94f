"""What follows from what releases say together, by rules that are data (``composition.yaml``)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib.resources import files

import yaml

from shoal.results.composition_result import CompositionOutcome, CompositionReason, CompositionResult
from shoal.schema.parameters import Parameters

_ORDER = tuple(CompositionOutcome)


class CompositionRule(Parameters):
    above: float
    """The largest figure that nothing follows from."""
    outcome: CompositionOutcome
    text: str


class CompositionRules(Parameters):
    source: str
    rules: dict[str, CompositionRule]


@cache
def composition_rules() -> CompositionRules:
    text = files("shoal.govern").joinpath("composition.yaml").read_text(encoding="utf-8")
    return CompositionRules.model_validate(yaml.safe_load(text))


def judged(result: CompositionResult) -> CompositionResult:
    """With what follows, the gravest first."""
    rules = composition_rules().rules
    reasons = []
    for name, figure in _figures(result):
        rule = rules[name]
        if figure > rule.above:
            percent = "under 0.1 %" if figure < 0.001 else f"{figure:.1%}"
            told = rule.text.format(figure=figure, percent=percent, k=result.k_required, effective_k=result.effective_k)
            reasons.append(CompositionReason(outcome=rule.outcome, rule=name, text=told))
    reasons.sort(key=lambda one: -_ORDER.index(one.outcome))
    outcome = reasons[0].outcome if reasons else CompositionOutcome.PASS
    return result.model_copy(update={"outcome": outcome, "reasons": tuple(reasons)})


def _figures(result: CompositionResult) -> Iterator[tuple[str, float]]:
    yield ("below" if result.exact else "expected-below"), float(result.below)
    if not result.exact and result.effective_k is not None:
        most = min((pair.most for pair in result.pairs), default=result.k_required)
        yield "elimination", max(result.k_required - most, 0)
    yield "certain", sum(result.certain.values())
    yield "epsilon", float(result.epsilon)
    yield "beside-records", int(result.beside_records)
    yield "same-recipient", sum(one.same for one in result.collusion)
    yield "left-out", 0 if result.joint is None else result.joint.left_out_below
    yield "narrowed", max((float(share) for share in result.narrowed.values()), default=0.0)
    yield "unread", sum(result.unread.values())
    yield "strangers", len(result.strangers)
    yield "unfitted", sum(result.unfitted.values())
