"""Nothing of a policy is left over: every technique, hierarchy and model was bound, and no column came of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from shoal.errors import BugError
from shoal.policy import Attribute, Policy
from shoal.schema import Role


@dataclass
class BoundParts:
    """What of a policy has become part of the plan so far."""

    techniques: set[tuple[str, int]] = field(default_factory=set)
    """By attribute and place in its list."""
    table_techniques: set[str] = field(default_factory=set)
    hierarchies: set[str] = field(default_factory=set)
    """By attribute."""
    models: int = 0
    rules: set[str] = field(default_factory=set)
    """Edit rules that records are suppressed by."""


def need_all_bound(
    policy: Policy,
    attributes: Mapping[str, Attribute],
    bound: BoundParts,
    released: tuple[str, ...],
    final: tuple[str, ...],
) -> None:
    """``attributes`` are those of the table's columns, ``released`` the columns that the solver was left with and
    ``final`` those that would be written. What was not bound would not be applied, and nobody would notice."""
    left = [*_unbound(policy, attributes, bound, released), *_unnamed(policy, attributes, final)]
    if left:
        raise BugError(f"not everything in the policy was bound to the table: {'; '.join(left)}")


def _unbound(
    policy: Policy, attributes: Mapping[str, Attribute], bound: BoundParts, released: tuple[str, ...]
) -> Iterator[str]:
    for name, attribute in attributes.items():
        for place, technique in enumerate(attribute.steps):
            dropped = name not in released and technique.removes
            if (name, place) not in bound.techniques and not dropped:
                yield f"attributes.{name}: {technique.key}"
        solved = attribute.role is Role.QUASI and name in released
        if attribute.hierarchy is not None and solved and name not in bound.hierarchies:
            yield f"attributes.{name}: hierarchy {attribute.hierarchy.key}"
    yield from (key for key in policy.table_steps if key not in bound.table_techniques)
    if bound.models != len(policy.models):
        yield "privacy"
    yield from (f"rules: {rule.name}" for rule in policy.rules if rule.suppresses and rule.name not in bound.rules)


def _unnamed(policy: Policy, attributes: Mapping[str, Attribute], final: tuple[str, ...]) -> Iterator[str]:
    made = {name for technique in policy.table_steps.values() for name in technique.creates()}
    for name in final:
        if name not in attributes and name not in made:
            yield f"the column '{name}', which no attribute of the policy describes"
