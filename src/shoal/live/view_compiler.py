"""From a policy of one table to a view: each attribute's own technique objects, bound as for a run, said in SQL.

A run may count, and search for the levels of quasi-identifiers; a view can do neither. So the levels are stated, and
what a technique would have to learn from the data is refused. Every problem of a table is told at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

import polars as pl

from shoal.errors import DataError, InputError, SourceError
from shoal.hierarchy import BoundHierarchy, Hierarchy
from shoal.hierarchy.kinds.flat import FlatHierarchy
from shoal.hierarchy.kinds.redact import RedactionHierarchy
from shoal.live.served_tables import ServedColumn, ServedTable, ServedView
from shoal.live.sql.refusal import ELSE, REASONS, NotInSqlError
from shoal.live.sql.row_rules import RowRule
from shoal.live.sql.steps import StepVisitor
from shoal.live.sql.words import Sql, SqlWords
from shoal.policy import Attribute, Policy
from shoal.policy.default_attribute import EVERYTHING_ELSE
from shoal.pseudonyms.secrets import Secrets
from shoal.randomness import Randomness
from shoal.schema.columns import Column
from shoal.schema.registry import did_you_mean
from shoal.schema.roles import Role
from shoal.techniques import Context, Technique
from shoal.techniques.generalisation.generalise import Generalise
from shoal.techniques.pseudonymisation.pseudonymise import Pseudonymise

_NOTHING: Final = pl.DataFrame(schema={"value": pl.String(), "records": pl.Int64()})
_TABLE: Final = "t"


@dataclass(frozen=True)
class Pads:
    """Where views find the two halves of a domain's key."""

    inner: str
    outer: str


@dataclass(frozen=True)
class ViewCompiler:
    """``pads`` says, by domain, where views of this server find a key; None where there is no vault."""

    words: SqlWords
    secrets: Secrets | None = field(default=None, repr=False)
    pads: Mapping[str, Pads] = field(default_factory=dict)

    def compile(  # noqa: PLR0913  # what a view is made of
        self,
        role: str,
        policy: Policy,
        table: ServedTable,
        levels: Mapping[str, int],
        *,
        rows: str | None = None,
        conditions: tuple[Sql, ...] = (),
    ) -> ServedView:
        problems = [*_unmatched(policy, table), *_of_the_whole(policy), *_unknown_levels(policy, levels)]
        shown: dict[str, Sql] = {}
        kept, notes = set(), {}
        for name, served in table.columns.items():
            attribute = policy.attributes.get(name)
            if attribute is None or not attribute.is_released:
                continue
            try:
                shown[name] = self._shown(attribute, served, _level(policy, attribute, name, levels))
            except (NotInSqlError, DataError, InputError) as error:
                problems.append(f"column '{name}': {_without_column(str(error), name)}")
                continue
            notes[name] = _in_words(attribute, levels.get(name))
            if shown[name] == self._read(name):
                kept.add(name)
        rule = self._rule(rows, table, problems)
        if not problems and not shown:
            problems.append("nothing of the table would be seen; leave it out of the policy")
        if problems:
            raise InputError(f"role '{role}', table '{table.name}': {'; '.join(dict.fromkeys(problems))}")
        return ServedView(role, table.name, shown, (*conditions, *rule), frozenset(kept), notes)

    def _read(self, name: str) -> Sql:
        return self.words.name(_TABLE, name)

    def _rule(self, rows: str | None, table: ServedTable, problems: list[str]) -> tuple[Sql, ...]:
        if rows is None:
            return ()
        known = {name: one for name, one in table.columns.items() if one.computable}
        read = {n: self.words.in_utc(self._read(n)) if one.in_utc else self._read(n) for n, one in known.items()}
        try:
            return (RowRule(rows, {name: one.column for name, one in known.items()}, self.words, read).sql(),)
        except InputError as error:
            problems.append(str(error))
            return ()

    def _shown(self, attribute: Attribute, served: ServedColumn, level: int | None) -> Sql:
        column, x = served.column, self._read(served.column.name)
        if (attribute.type or column.type) is not column.type or attribute.format is not None:
            raise NotInSqlError(f"the server holds {column.type}; another type or format is not compiled")
        if not served.computable and (attribute.steps or level):
            raise NotInSqlError(f"no technique is compiled for the type {served.declared}; suppress the column")
        if served.in_utc and (attribute.steps or level):
            x = self.words.in_utc(x)
        for technique in attribute.steps:
            x, column = self._applied(technique, attribute, column, x)
        if level is None:
            return x
        hierarchy: Hierarchy = attribute.hierarchy or FlatHierarchy()
        bound = _bound(hierarchy, column)
        return StepVisitor(self.words, column).level(bound, level, x)

    def _applied(
        self, technique: Technique, attribute: Attribute, column: Column, x: Sql
    ) -> tuple[Sql, Column]:
        if reason := technique.refuse(column):
            raise NotInSqlError(reason)
        if technique.key in REASONS:
            raise NotInSqlError(f"{technique.key}: {REASONS[technique.key]}")
        bound, pads = None, None
        if isinstance(technique, Generalise):
            bound = _bound(technique.hierarchy or attribute.hierarchy or FlatHierarchy(), column)
            technique = technique.model_copy(update={"hierarchy": None})
            if isinstance(bound.height, int) and isinstance(technique, Generalise) and technique.level > bound.height:
                if attribute.hierarchy is None or not isinstance(attribute.hierarchy, RedactionHierarchy):
                    raise NotInSqlError(f"there is no level {technique.level}, the highest is {bound.height}")
        if isinstance(technique, Pseudonymise):
            if self.secrets is None:
                raise NotInSqlError("pseudonyms that last need a vault")
            found = self.pads.get(technique.domain_of(column.name))
            pads = None if found is None else (found.inner, found.outer)
        elif technique.wants(column.name):
            raise NotInSqlError(f"{technique.key}: it depends on the values of the whole table")
        context = Context({column.name: column}, Randomness().stream("live"), hierarchy=bound, secrets=self.secrets)
        step = technique.bind(column, context)
        try:
            return StepVisitor(self.words, column, pads).sql(step, x), technique.leaves(column)
        except NotInSqlError as error:
            said = str(error)
            raise NotInSqlError(f"{technique.key}: {said}" if said == ELSE else said) from None


def pseudonym_domains(policy: Policy) -> Iterator[str]:
    """Whose keys the views of a policy read."""
    for name, attribute in policy.attributes.items():
        for technique in attribute.steps:
            if isinstance(technique, Pseudonymise) and technique.is_keyed:
                yield technique.domain_of(name)


def _bound(hierarchy: Hierarchy, column: Column) -> BoundHierarchy:
    if reason := hierarchy.refuse(column):
        raise NotInSqlError(reason)
    if not hierarchy.data_independent and not isinstance(hierarchy, RedactionHierarchy):
        raise NotInSqlError(f"the groups of {hierarchy.key} depend on the values of the whole table")
    try:
        return hierarchy.bind(column, _NOTHING.with_columns(pl.col("value").cast(column.storage)))
    except SourceError as error:
        raise NotInSqlError(str(error)) from None


def _level(policy: Policy, attribute: Attribute, name: str, levels: Mapping[str, int]) -> int | None:
    """Stated for the role, or fixed by the policy."""
    if attribute.role is not Role.QUASI:
        return None
    if name in levels:
        return levels[name]
    low, high = policy.solve.levels.get(name, (0, 1))
    if low != high:
        raise NotInSqlError("a view can't search for the level of a quasi-identifier; state it with `levels`")
    return low


def _unmatched(policy: Policy, table: ServedTable) -> Iterator[str]:
    """Columns that only one of both has. Nothing that the policy doesn't name is seen."""
    if EVERYTHING_ELSE not in policy.attributes:
        for name in table.columns:
            if name not in policy.attributes:
                yield f"the policy doesn't name column '{name}'{did_you_mean(name, tuple(policy.attributes))}"
    for name in policy.attributes:
        if name != EVERYTHING_ELSE and name not in table.columns:
            yield f"there is no column '{name}'{did_you_mean(name, tuple(table.columns))}"


def _of_the_whole(policy: Policy) -> Iterator[str]:
    for key in policy.table_steps:
        yield f"{key} is for a whole table, and a view has none before it"
    if policy.attributes.get(EVERYTHING_ELSE, None) is not None and policy.attributes[EVERYTHING_ELSE].is_released:
        yield "what the policy doesn't name can only be suppressed"


def _unknown_levels(policy: Policy, levels: Mapping[str, int]) -> Iterator[str]:
    known = tuple(name for name, one in policy.attributes.items() if one.role is Role.QUASI)
    for name in levels:
        if name not in known:
            yield f"levels: '{name}' is no quasi-identifier of the policy{did_you_mean(name, known)}"


def _in_words(attribute: Attribute, level: int | None) -> str:
    said = [technique.key for technique in attribute.steps]
    if attribute.role is Role.QUASI:
        said.append(f"level {level}" if level else "level 0")
    return ", ".join(said) or "as it is"


def _without_column(message: str, name: str) -> str:
    return message.removeprefix(f"column '{name}': ")
