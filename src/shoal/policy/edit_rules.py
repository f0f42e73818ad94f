"""Edit rules (ISO/IEC 20889, 9.7.3): what never holds of a record, so that a release that says it is wrong.

Perturbing columns apart from each other makes combinations that nobody has. A rule says which of them matter.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import polars as pl
from pydantic import AfterValidator, Field

from shoal.policy.default_attribute import EVERYTHING_ELSE
from shoal.policy.yaml_tree import TreePath
from shoal.schema import Column
from shoal.schema.expressions import Expression, names_in, of_one_record
from shoal.schema.parameters import Parameters
from shoal.schema.registry import did_you_mean
from shoal.schema.rule_counts import RuleCount, count_violations
from shoal.schema.type_detection import detect

if TYPE_CHECKING:
    from shoal.policy.model import Policy


class OnViolation(StrEnum):
    REPORT = "report"
    REFUSE = "refuse"
    SUPPRESS = "suppress"


class EditRule(Parameters):
    """A condition that no record meets."""

    name: str = Field(pattern=r"^[\w][\w .-]{0,99}$", description="What reports call it.")
    never: Annotated[str, AfterValidator(of_one_record)] = Field(
        description="What holds of no record, as \"sex = 'male' AND department = 'gynaecology'\"."
    )
    on_violation: OnViolation = Field(
        default=OnViolation.REPORT,
        description="report: released records that break it are counted; refuse: one of them stops the run; suppress: "
        "those that break it once techniques are done are left out.",
    )

    @property
    def suppresses(self) -> bool:
        return self.on_violation is OnViolation.SUPPRESS

    @property
    def columns(self) -> tuple[str, ...]:
        return names_in(self.never)


def problems_of_rules(policy: Policy) -> Iterator[tuple[TreePath, str]]:
    made = {new for attribute in policy.attributes.values() for step in attribute.steps for new in step.creates()}
    known = (*(name for name in policy.attributes if name != EVERYTHING_ELSE), *sorted(made))
    seen: set[str] = set()
    for place, rule in enumerate(policy.rules):
        if rule.name in seen:
            yield ("rules", place, "name"), f"another rule is called '{rule.name}' too"
        seen.add(rule.name)
        for name in rule.columns:
            attribute = policy.attributes.get(name)
            if name not in known and EVERYTHING_ELSE not in policy.attributes:
                yield ("rules", place, "never"), f"there is no attribute '{name}'{did_you_mean(name, known)}"
            elif rule.on_violation is OnViolation.REFUSE and (name not in known or not _is_seen(attribute)):
                yield ("rules", place, "never"), f"'{name}' is not released, so nobody could see the rule broken"
    if any(rule.on_violation is OnViolation.REFUSE for rule in policy.rules) and not policy.kind.has_records:
        yield ("rules",), "on_violation: refuse is for records, and there are none in an aggregated table"


def _is_seen(attribute: object) -> bool:
    return getattr(attribute, "is_released", True)


def declared_columns(policy: Policy) -> dict[str, Column]:
    """Columns whose value type the policy says."""
    said = {name: attribute.declared(name) for name, attribute in policy.attributes.items()}
    return {name: column for name, column in said.items() if column is not None}


def rule_columns(
    rules: Sequence[EditRule], declared: Mapping[str, Column], frame: pl.LazyFrame, present: Sequence[str]
) -> dict[str, Column]:
    """The columns of the rules, with their value types."""
    names = [name for name in dict.fromkeys(one for rule in rules for one in rule.columns) if name in present]
    return detect(frame, names, {name: declared[name] for name in names if name in declared}) if names else {}


def computable_rules(
    rules: Sequence[EditRule], columns: Mapping[str, Column], present: Sequence[str]
) -> dict[str, Expression]:
    """By name, the rules of which every column is there."""
    chosen = (rule for rule in rules if all(name in columns and name in present for name in rule.columns))
    return {rule.name: Expression.bind(rule.never, columns) for rule in chosen}


def source_violations(policy: Policy, source: pl.LazyFrame) -> dict[str, RuleCount]:
    """By rule, how often the original breaks it; without those over columns that a run makes."""
    there = source.collect_schema().names()
    columns = rule_columns(policy.rules, declared_columns(policy), source, there)
    return count_violations(source, computable_rules(policy.rules, columns, there))
