"""The table's columns against the policy's attributes: nothing unnamed passes, nothing named is missing."""

from __future__ import annotations

from collections.abc import Iterator

from shoal.errors import DataError
from shoal.io.formats.detection import is_wildcard_name
from shoal.policy import EVERYTHING_ELSE, Attribute, Policy
from shoal.schema import Role
from shoal.schema.hidden_columns import HIDDEN
from shoal.schema.registry import did_you_mean


def match_columns(policy: Policy, columns: tuple[str, ...]) -> dict[str, Attribute]:
    """The attribute of each column, in the table's order; then of each column that the policy creates."""
    named = {name: attribute for name, attribute in policy.attributes.items() if name != EVERYTHING_ELSE}
    created = {new for attribute in policy.attributes.values() for step in attribute.steps for new in step.creates()}
    problems = list(_mismatches(policy, named, columns, created))
    if problems:
        raise DataError("; ".join(problems))
    default = policy.attributes.get(EVERYTHING_ELSE)
    matched = {name: named.get(name, default) for name in columns}
    matched |= {name: named[name] for name in named if name in created}
    return {name: attribute for name, attribute in matched.items() if attribute is not None}


def _mismatches(
    policy: Policy, named: dict[str, Attribute], columns: tuple[str, ...], created: set[str]
) -> Iterator[str]:
    yield from _unusable(columns)
    if EVERYTHING_ELSE not in policy.attributes:
        unnamed = [name for name in columns if name not in named]
        if unnamed:
            listed = ", ".join(f"'{name}'{did_you_mean(name, tuple(named))}" for name in unnamed)
            yield f'the policy doesn\'t name column(s) {listed} (name them, or add `"*": suppress`)'
    for name in named:
        if name not in columns and name not in created:
            yield f"the data has no column '{name}'{did_you_mean(name, columns)}"
    for name in created:
        if name in columns:
            yield f"combine would overwrite the column '{name}'"
        elif name not in named:
            yield f"name the combined column '{name}' among the attributes, with its role"
    if policy.person and policy.person not in columns:
        yield f"the data has no column '{policy.person}' that could name the person"


def _unusable(columns: tuple[str, ...]) -> Iterator[str]:
    if any(name.startswith(HIDDEN) for name in columns):
        yield f"column names that begin with '{HIDDEN}' are reserved"
    if any(map(is_wildcard_name, columns)):
        yield "a column is named '*' or '^…$', which stands for several columns; rename it"


def needs_description(policy: Policy, matched: dict[str, Attribute]) -> tuple[str, ...]:
    """Columns whose value types must be known: those that something is done to, or that something reads."""
    read = {name for technique in policy.table_steps.values() for name in technique.columns(policy.person)}
    every = (*policy.attributes.values(), *matched.values())
    read |= {also for attribute in every for step in attribute.steps for also in step.also_reads()}
    read |= set(policy.modelled)
    read |= {name for rule in policy.rules for name in rule.columns}
    return tuple(
        name
        for name, attribute in matched.items()
        if name in read or (not attribute.is_suppressed and (attribute.steps or attribute.role is Role.QUASI))
    )
