"""An attribute of a policy bound for values that come one by one: the same steps as in a run, without counts.

What a technique would have to learn from a whole table is refused, and so is what is drawn anew each time: whoever asks
often enough would average it out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import polars as pl

from shoal.errors import SourceError
from shoal.hierarchy import BoundHierarchy, Hierarchy
from shoal.hierarchy.kinds.flat import FlatHierarchy
from shoal.hierarchy.kinds.redact import MOST_LEVELS, RedactionHierarchy
from shoal.live.sql.refusal import NotInSqlError
from shoal.policy import Attribute, Policy
from shoal.policy.default_attribute import EVERYTHING_ELSE
from shoal.pseudonyms.secrets import Secrets
from shoal.randomness import Randomness
from shoal.schema.columns import Column
from shoal.schema.registry import did_you_mean
from shoal.schema.roles import Role
from shoal.schema.steps import Scope, Step
from shoal.schema.values import ValueType
from shoal.techniques import Context, Technique
from shoal.techniques.generalisation.generalise import Generalise, GeneralisedOutput
from shoal.techniques.generalisation.round import Round, RoundingMethod
from shoal.techniques.pseudonymisation.pseudonymise import Pseudonymise

_NOTHING: Final = pl.DataFrame(schema={"value": pl.Null(), "records": pl.Int64()})


@dataclass(frozen=True)
class LiveStep:
    """A bound step, the column that it gets, and the domain whose key it uses."""

    step: Step
    column: Column
    key: str
    domain: str | None = None


@dataclass(frozen=True)
class LiveLevel:
    """A quasi-identifier's level."""

    bound: BoundHierarchy
    level: int
    column: Column


@dataclass(frozen=True)
class LiveAttribute:
    """All that is done to one column, in order."""

    column: Column
    steps: tuple[LiveStep, ...] = ()
    level: LiveLevel | None = None

    def shown(self, values: pl.Series) -> pl.Series:
        """What a run would release of these values."""
        frame = values.alias(self.column.name).to_frame()
        for one in self.steps:
            frame = one.step.apply(frame)
        found = frame[self.column.name]
        return found if self.level is None else self.level.bound.generalise(found, self.level.level)


def bind_attribute(
    attribute: Attribute, column: Column, level: int | None, secrets: Secrets | None = None
) -> LiveAttribute:
    """A NotInSqlError or InputError says why not."""
    given, steps = column, []
    for technique in attribute.steps:
        step = _bound_step(technique, attribute, column, secrets)
        steps.append(step)
        column = technique.leaves(column)
    if level is None:
        return LiveAttribute(given, tuple(steps))
    bound = _bound(attribute.hierarchy or FlatHierarchy(), column)
    return LiveAttribute(given, tuple(steps), LiveLevel(bound, level, column))


def stated_level(policy: Policy, name: str, levels: Mapping[str, int]) -> int | None:
    """Of a quasi-identifier: stated by the caller, or fixed by the policy."""
    if policy.attributes[name].role is not Role.QUASI:
        return None
    if name in levels:
        return levels[name]
    low, high = policy.solve.levels.get(name, (0, 1))
    if low != high:
        raise NotInSqlError("nothing searches here for the level of a quasi-identifier; state it with `levels`")
    return low


def unmatched(policy: Policy, columns: tuple[str, ...]) -> Iterator[str]:
    """What only one of both has. Nothing that the policy doesn't name is seen."""
    if EVERYTHING_ELSE not in policy.attributes:
        for name in columns:
            if name not in policy.attributes:
                yield f"the policy doesn't name column '{name}'{did_you_mean(name, tuple(policy.attributes))}"
    for name in policy.attributes:
        if name != EVERYTHING_ELSE and name not in columns:
            yield f"there is no column '{name}'{did_you_mean(name, columns)}"


def beyond_rows(policy: Policy) -> Iterator[str]:
    """What a policy asks that takes more than one row at a time."""
    for key in policy.table_steps:
        yield f"{key} is for a whole table, and here there is none"
    rest = policy.attributes.get(EVERYTHING_ELSE)
    if rest is not None and rest.is_released:
        yield "what the policy doesn't name can only be suppressed"


def unknown_levels(policy: Policy, levels: Mapping[str, int]) -> Iterator[str]:
    known = tuple(name for name, one in policy.attributes.items() if one.role is Role.QUASI)
    for name in levels:
        if name not in known:
            yield f"levels: '{name}' is no quasi-identifier of the policy{did_you_mean(name, known)}"


def _bound_step(technique: Technique, attribute: Attribute, column: Column, secrets: Secrets | None) -> LiveStep:
    if reason := technique.refuse(column):
        raise NotInSqlError(reason)
    _refuse_beyond_values(technique)
    bound, domain, given = None, None, technique
    if isinstance(technique, Generalise):
        if technique.output is not GeneralisedOutput.RANGE:
            raise NotInSqlError("only ranges are compiled, no midpoints and no random values")
        bound = _bound(technique.hierarchy or attribute.hierarchy or FlatHierarchy(), column)
        given = technique.model_copy(update={"hierarchy": None})
    if isinstance(technique, Pseudonymise):
        if secrets is None:
            raise NotInSqlError("pseudonyms that last need a vault")
        domain = technique.domain_of(column.name)
    if given.wants(column.name):
        raise NotInSqlError(f"{technique.key}: it depends on the values of the whole table")
    context = Context({column.name: column}, Randomness().stream("live"), hierarchy=bound, secrets=secrets)
    step = given.bind(column, context)
    if step.scope is Scope.TABLE:
        raise NotInSqlError(f"{technique.key}: it takes the whole table")
    return LiveStep(step, column, technique.key, domain)


def _refuse_beyond_values(technique: Technique) -> None:
    """By what the technique says of itself: whether equal values become equal ones, whatever stands beside them."""
    nearest = isinstance(technique, Round) and technique.method is RoundingMethod.NEAREST
    if technique.facts.random and not nearest:
        raise NotInSqlError(f"{technique.key}: what is drawn anew for each query averages out over many of them")
    if technique.searches_text:
        raise NotInSqlError(f"{technique.key}: finding names in free text takes more than SQL; suppress the column")
    if technique.also_reads() or technique.creates():
        raise NotInSqlError(f"{technique.key}: it reads or makes other columns")


def _bound(hierarchy: Hierarchy, column: Column) -> BoundHierarchy:
    if reason := hierarchy.refuse(column):
        raise NotInSqlError(reason)
    redacts = isinstance(hierarchy, RedactionHierarchy)
    if not hierarchy.data_independent and not redacts:
        raise NotInSqlError(f"the groups of {hierarchy.key} depend on the values of the whole table")
    if isinstance(hierarchy, RedactionHierarchy) and hierarchy.align:
        raise NotInSqlError("with `align` a label depends on the longest value of the data")
    try:
        return hierarchy.bind(column, _longest(column) if redacts else _NOTHING)
    except SourceError as error:
        raise NotInSqlError(str(error)) from None


def _longest(column: Column) -> pl.DataFrame:
    """As long a value as there can be: how many levels a redaction has goes by the longest."""
    value = 10**18 if column.type is ValueType.INTEGER else "x" * MOST_LEVELS
    return pl.DataFrame({"value": [value], "records": [1]})
