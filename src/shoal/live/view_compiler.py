"""From a policy of one table to a view: each attribute's own technique objects, bound as for a run, said in SQL.

A run may count, and search for the levels of quasi-identifiers; a view can do neither. So the levels are stated, and
what a technique would have to learn from the data is refused. Every problem of a table is told at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from shoal.errors import DataError, InputError
from shoal.live.attribute_steps import beyond_rows, bind_attribute, stated_level, unknown_levels, unmatched
from shoal.live.served_tables import ServedColumn, ServedTable, ServedView
from shoal.live.sql.refusal import ELSE, NotInSqlError
from shoal.live.sql.row_rules import RowRule
from shoal.live.sql.steps import StepVisitor
from shoal.live.sql.words import Sql, SqlWords
from shoal.policy import Attribute, Policy
from shoal.pseudonyms.secrets import Secrets
from shoal.schema.roles import Role
from shoal.techniques.pseudonymisation.pseudonymise import Pseudonymise

_TABLE: Final = "t"


@dataclass(frozen=True)
class Pads:
    """Where views find the two halves of a domain's key."""

    inner: str
    outer: str


@dataclass(frozen=True)
class ViewCompiler:
    """``pads`` says, by domain, where views of this server find a key."""

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
        problems = [*unmatched(policy, tuple(table.columns)), *beyond_rows(policy), *unknown_levels(policy, levels)]
        shown: dict[str, Sql] = {}
        notes = {}
        for name, served in table.columns.items():
            attribute = policy.attributes.get(name)
            if attribute is None or not attribute.is_released:
                continue
            try:
                level = stated_level(policy, name, levels)
                shown[name] = self._shown(attribute, served, level)
                notes[name] = _in_words(attribute, level)
            except (NotInSqlError, DataError, InputError) as error:
                about = f"column '{name}': "
                problems.append(f"{about}{str(error).removeprefix(about)}")
        rule = self._rule(rows, table, problems)
        if not problems and not shown:
            problems.append("nothing of the table would be seen; leave it out of the policy")
        if problems:
            raise InputError(f"role '{role}', table '{table.name}': {'; '.join(dict.fromkeys(problems))}")
        return ServedView(role, table.name, shown, (*conditions, *rule), notes)

    def _read(self, served: ServedColumn, *, computed: bool) -> Sql:
        x = self.words.name(_TABLE, served.column.name)
        return self.words.in_utc(x) if computed and served.in_utc else x

    def _rule(self, rows: str | None, table: ServedTable, problems: list[str]) -> tuple[Sql, ...]:
        if rows is None:
            return ()
        known = {name: one for name, one in table.columns.items() if one.computable}
        read = {name: self._read(one, computed=True) for name, one in known.items()}
        try:
            return (RowRule(rows, {name: one.column for name, one in known.items()}, self.words, read).sql(),)
        except InputError as error:
            problems.append(str(error))
            return ()

    def _shown(self, attribute: Attribute, served: ServedColumn, level: int | None) -> Sql:
        column = served.column
        if (attribute.type or column.type) is not column.type or attribute.format is not None:
            raise NotInSqlError(f"the server holds {column.type}; another type or format is not compiled")
        computed = bool(attribute.steps or level)
        if computed and not served.computable:
            raise NotInSqlError(f"no technique is compiled for the type {served.declared}; suppress the column")
        bound, x = bind_attribute(attribute, column, level, self.secrets), self._read(served, computed=computed)
        for one in bound.steps:
            pads = self.pads.get(one.domain or "")
            try:
                visitor = StepVisitor(self.words, one.column, None if pads is None else (pads.inner, pads.outer))
                x = visitor.sql(one.step, x)
            except NotInSqlError as error:
                raise NotInSqlError(f"{one.key}: {error}" if str(error) == ELSE else str(error)) from None
        if bound.level is None:
            return x
        return StepVisitor(self.words, bound.level.column).level(bound.level.bound, bound.level.level, x)


def pseudonym_domains(policy: Policy) -> Iterator[str]:
    """Whose keys the views of a policy read."""
    for name, attribute in policy.attributes.items():
        for technique in attribute.steps:
            if isinstance(technique, Pseudonymise) and technique.is_keyed:
                yield technique.domain_of(name)


def _in_words(attribute: Attribute, level: int | None) -> str:
    said = [technique.key for technique in attribute.steps]
    if attribute.role is Role.QUASI:
        said.append(f"level {level}")
    return ", ".join(said) or "as it is"
