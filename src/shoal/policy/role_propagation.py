"""What is computed from columns has the strictest role among them; a weaker one needs a reason.

Roles by strictness: a direct identifier names a person alone; a quasi-identifier does with others, so k has to count
it; a sensitive attribute is what nobody should learn; an insensitive one neither. What is made of a quasi-identifier
and a sensitive attribute is a quasi-identifier: it singles people out. What it tells of the sensitive one is beyond the
models that look at that, and a warning says so.

Where values go from column to column: a technique computes new columns (``creates``), and ``aggregate`` publishes
groups, smallest and largest values. Techniques that only look at other columns (``permute within``, ``microaggregate
with``) leave each value in its own column; what becomes of a direct identifier there is measured, not told from the
policy.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shoal.errors import PolicyError, PolicyProblem
from shoal.policy.default_attribute import EVERYTHING_ELSE
from shoal.policy.yaml_tree import TreePath, dotted
from shoal.schema import Role
from shoal.techniques.statistical.aggregation.aggregate import Aggregate

if TYPE_CHECKING:
    from shoal.policy.model import Attribute, Policy

STRICTNESS: Mapping[Role, int] = {Role.INSENSITIVE: 0, Role.SENSITIVE: 1, Role.QUASI: 2, Role.DIRECT: 3}


@dataclass(frozen=True)
class ComputedColumn:
    """A column that a technique computes from others."""

    name: str
    inputs: tuple[str, ...]
    role: Role
    """The strictest among the inputs."""

    @property
    def made_of(self) -> str:
        return ", ".join(f"'{name}'" for name in self.inputs)


def computed_columns(policy: Policy) -> dict[str, ComputedColumn]:
    """By name; where one is made of another, whatever role was declared in between hides nothing."""
    inputs: dict[str, tuple[str, ...]] = {}
    for name, attribute in policy.attributes.items():
        for step in attribute.steps:
            for new in step.creates():
                inputs[new] = tuple(dict.fromkeys((*inputs.get(new, ()), *step.also_reads(), name)))
    found: dict[str, ComputedColumn] = {}
    for _ in inputs:
        found = {new: ComputedColumn(new, read, _strictest(policy, read, found)) for new, read in inputs.items()}
    return found


def _strictest(policy: Policy, names: tuple[str, ...], computed: Mapping[str, ComputedColumn]) -> Role:
    return max((_role_of(policy, name, computed) for name in names), key=STRICTNESS.__getitem__)


def _role_of(policy: Policy, name: str, computed: Mapping[str, ComputedColumn]) -> Role:
    """An unnamed column is one that nobody has looked at: as strict as can be. A role with a reason is believed."""
    attribute = policy.attributes.get(name) or policy.attributes.get(EVERYTHING_ELSE)
    declared = Role.DIRECT if attribute is None else attribute.role
    if name not in computed or (attribute is not None and attribute.because):
        return declared
    return max(declared, computed[name].role, key=STRICTNESS.__getitem__)


def problems_of_roles(policy: Policy) -> Iterator[tuple[TreePath, str]]:
    for one, attribute in _weakened(policy):
        if not attribute.because:
            yield (
                ("attributes", one.name, "role"),
                f"'{one.name}' is computed from {one.made_of}, so its role is {one.role}, not {attribute.role}; "
                "give it that one, or say with `because` why it tells less",
            )
    yield from _published(policy)
    yield from _never_applied(policy)


def warnings_of_roles(policy: Policy) -> Iterator[str]:
    for one, weaker in _weakened(policy):
        yield f"'{one.name}' is {weaker.role}, though it is computed from {one.made_of}: {weaker.because}"
    for one in computed_columns(policy).values():
        told = [name for name in one.inputs if name in policy.modelled]
        if told and one.name in policy.quasi_identifiers:
            yield f"'{one.name}' tells of {', '.join(told)}, and no model on {', '.join(told)} looks at it"
    for name in dict.fromkeys(name for _, name in _shown(policy)):
        attribute = policy.attributes.get(name)
        if attribute is not None and attribute.role is Role.DIRECT and attribute.because:
            yield f"'{name}' is published by aggregate, though it is a direct identifier: {attribute.because}"


def accepted_tells(policy: Policy) -> frozenset[tuple[str, str]]:
    """Pairs of a column and one computed from it that may tell it, for a reason that the policy gives."""
    computed = computed_columns(policy)

    def inputs(name: str, *, believed: bool, seen: frozenset[str]) -> Iterator[str]:
        attribute = policy.attributes.get(name)
        believed = believed or (attribute is not None and bool(attribute.because))
        for read in computed[name].inputs if name in computed and name not in seen else ():
            if believed:
                yield read
            yield from inputs(read, believed=believed, seen=seen | {name})

    return frozenset((read, name) for name in computed for read in inputs(name, believed=False, seen=frozenset()))


def refuse_weaker_roles(policy: Policy) -> None:
    """For policies that were made in Python, which nobody has checked as a whole."""
    problems = [PolicyProblem(0, 0, dotted(path), message) for path, message in problems_of_roles(policy)]
    if problems:
        raise PolicyError(problems)


def _weakened(policy: Policy) -> Iterator[tuple[ComputedColumn, Attribute]]:
    taken = _taken_out(policy)
    for one in computed_columns(policy).values():
        attribute = policy.attributes.get(one.name)
        if attribute is None or not attribute.is_released or one.name in taken:
            continue
        if STRICTNESS[attribute.role] < STRICTNESS[one.role]:
            yield one, attribute


def _published(policy: Policy) -> Iterator[tuple[TreePath, str]]:
    computed = computed_columns(policy)
    for key, name in _shown(policy):
        attribute = policy.attributes.get(name)
        believed = attribute is not None and attribute.because
        if not believed and _role_of(policy, name, computed) is Role.DIRECT:
            yield (Aggregate.key, key), f"would publish '{name}', a direct identifier; say with `because` why it may"


def _shown(policy: Policy) -> list[tuple[str, str]]:
    """Groups are published by name, and a smallest or largest value is some person's own."""
    technique = policy.table_steps.get(Aggregate.key)
    if not isinstance(technique, Aggregate):
        return []
    return [("by", name) for name in technique.by] + [("measures", name) for name in technique.extremes]


def _never_applied(policy: Policy) -> Iterator[tuple[TreePath, str]]:
    """New columns are made first, so what they take out of the table is gone before anything else is done to it."""
    for name, by in _taken_out(policy).items():
        attribute = policy.attributes.get(name)
        others = [] if attribute is None else [one.key for one in attribute.steps if not (one.creates() or one.removes)]
        if others:
            yield ("attributes", name, "technique"), f"{by} takes '{name}' out before {others[0]} could be applied"


def _taken_out(policy: Policy) -> dict[str, str]:
    """Columns that are not in the table any more once new ones were computed from them, and by what."""
    return {
        name: step.key
        for attribute in policy.attributes.values()
        for step in attribute.steps
        if step.creates()
        for name in step.also_alters()
        if name not in step.creates()
    }
