"""What becomes of each table of a schema, found out before anything is copied; all that is wrong with it at once.

Nothing passes that the policy doesn't name: a table, a column, a key whose two ends would no longer fit, a column that
has to be unique and would not be.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from shoal.errors import DataError
from shoal.io.database_schemas.catalogue import Catalogue, CheckRule, ForeignKey, TableColumn, TableFacts, UniqueKey
from shoal.io.database_schemas.definitions import holds_text, may_name_somebody, names_any, view_for
from shoal.io.options import DatabaseOptions
from shoal.plan.column_match import match_columns, needs_description
from shoal.policy import Attribute, Policy
from shoal.policy.multi_table import MultiTablePolicy
from shoal.policy.references import Reference, ReferenceEnd, why_apart
from shoal.pseudonyms import Uniqueness
from shoal.schema import Role
from shoal.schema.registry import did_you_mean
from shoal.techniques.cryptographic.encryption.encrypt import Encrypt
from shoal.techniques.pseudonymisation.pseudonymise import Pseudonymise
from shoal.techniques.randomisation.permute import Permute

Lost = Callable[[str, str], None]
"""Told of what is not copied, and why."""


@dataclass(frozen=True)
class TablePlan:
    """One table: as it is, and what the policy makes of it."""

    facts: TableFacts
    policy: Policy = field(repr=False)
    entry: str
    """What the policy calls it."""
    attributes: Mapping[str, Attribute] = field(repr=False)

    @cached_property
    def suppressed(self) -> frozenset[str]:
        return frozenset(name for name, one in self.attributes.items() if not one.is_released)

    @property
    def rewritten(self) -> tuple[str, ...]:
        return tuple(name for name in self.facts.by_name if name not in self.unchanged | self.suppressed)

    @cached_property
    def unchanged(self) -> frozenset[str]:
        """Columns that are copied as they are and that nothing else is made of."""
        described = set(needs_description(self.without_idle_roles, dict(self.attributes)))
        touched = {name for name, one in self.attributes.items() if one.steps} | {self.policy.person}
        read = described - {name for name, one in self.attributes.items() if one.role is Role.QUASI and not one.steps}
        return frozenset(self.facts.by_name) - self.suppressed - touched - read

    @cached_property
    def without_idle_roles(self) -> Policy:
        """Quasi-identifiers that nothing is done to need no watching where no model counts them."""
        idle = {
            name: one.model_copy(update={"role": Role.INSENSITIVE})
            for name, one in self.policy.attributes.items()
            if one.role is Role.QUASI and not one.steps
        }
        policy = self.policy.model_copy(update={"attributes": {**self.policy.attributes, **idle}})
        return policy.placed(self.policy.text, self.policy.folder)

    def kept(self, columns: tuple[str, ...]) -> bool:
        return not self.suppressed & set(columns)


@dataclass(frozen=True)
class CopyPlan:
    """The tables, parents before their children."""

    tables: tuple[TablePlan, ...]
    views: Mapping[str, str]
    not_copied: tuple[str, ...]
    """What is in the schema and not in the copy, in words."""
    cycles: tuple[str, ...] = ()
    """Tables that refer to each other in circles; their references are made once all are filled."""

    @cached_property
    def by_name(self) -> dict[str, TablePlan]:
        return {one.facts.name: one for one in self.tables}


def plan_copy(several: MultiTablePolicy, catalogue: Catalogue, target: str, *, lasting: bool = False) -> CopyPlan:
    """Raises with everything that stands against it. ``lasting``: a vault keeps what pseudonyms were given."""
    planning = _Planning(several, catalogue, target, lasting)
    tables = planning.tables()
    problems = [*planning.problems, *_wrong_with(tables, catalogue)]
    if problems:
        raise DataError("; ".join(problems))
    lost = [f"table {name} (left out)" for name in several.leave_out]
    cut = {name: planning.cut(plan, tables, lost) for name, plan in tables.items()}
    lost += catalogue.further
    views = dict(_views(catalogue, set(tables) - {name for name in tables if tables[name].suppressed}, target, lost))
    order, circles = in_order({name: {key.parent for key in one.foreign_keys} for name, one in cut.items()})
    return CopyPlan(tuple(replace(tables[name], facts=cut[name]) for name in order), views, tuple(lost), circles)


class _Planning:
    def __init__(self, several: MultiTablePolicy, catalogue: Catalogue, target: str, lasting: bool) -> None:  # noqa: FBT001
        self.several, self.catalogue, self.target, self.lasting = several, catalogue, target, lasting
        self.problems: list[str] = []

    def tables(self) -> dict[str, TablePlan]:
        """By the name that the database has for them."""
        known, found = self.catalogue.by_name, dict[str, TablePlan]()
        if self.several.joined.unlink:
            self.problems.append("joined.unlink is for a release; a copy keeps its keys")
        for entry, policy in self.several.tables.items():
            name = entry
            if isinstance(policy.source, DatabaseOptions):
                if policy.source.table is None:
                    self.problems.append(f"table '{entry}': a query is no table that can be copied")
                    continue
                name = policy.source.table
            if name not in known:
                self.problems.append(f"there is no table '{name}'{did_you_mean(name, tuple(known))}")
                continue
            plan = self._table(known[name], entry, policy)
            if plan is not None:
                found[name] = plan
        for name in self.several.leave_out:
            if name not in known:
                self.problems.append(f"leave_out: there is no table '{name}'{did_you_mean(name, tuple(known))}")
        named = {*found, *self.several.leave_out, *self._entries()}
        unnamed = [name for name in known if name not in named]
        if unnamed:
            listed = ", ".join(f"'{name}'" for name in unnamed)
            self.problems.append(f"the policy doesn't name table(s) {listed} (name them, or add them to `leave_out`)")
        return found

    def _entries(self) -> set[str]:
        tables = ((entry, policy.source) for entry, policy in self.several.tables.items())
        return {source.table or "" if isinstance(source, DatabaseOptions) else entry for entry, source in tables}

    def _table(self, facts: TableFacts, entry: str, policy: Policy) -> TablePlan | None:
        wrong = list(_not_for_copies(policy, lasting=self.lasting))
        try:
            attributes = match_columns(policy, tuple(facts.by_name))
        except DataError as error:
            wrong.append(error.message)
        self.problems += [f"table '{facts.name}': {one}" for one in wrong]
        return None if wrong else TablePlan(facts, policy, entry, attributes)

    def cut(self, plan: TablePlan, tables: Mapping[str, TablePlan], lost: list[str]) -> TableFacts:
        """The table without what can't be kept; ``lost`` is told."""
        facts, own = plan.facts, f"{plan.facts.name}."

        def left(what: str, why: str) -> None:
            lost.append(f"{what} of {facts.name} ({why})")

        key = facts.primary_key
        if key is not None and not plan.kept(key.columns):
            left("primary key", "a column is suppressed")
            key = None
        lost += [f"column {own}{name} (suppressed)" for name in facts.by_name if name in plan.suppressed]
        lost += [f"index {name} of {facts.name} (over expressions or some rows)" for name in facts.odd_indexes]
        columns = tuple(self._column(plan, one, left) for one in facts.columns if one.name not in plan.suppressed)
        return replace(
            facts,
            columns=columns,
            primary_key=key,
            unique_keys=tuple(_kept_keys(plan, facts.unique_keys, left)),
            foreign_keys=tuple(_kept_references(plan, tables, left)),
            indexes=tuple(one for one in facts.indexes if plan.kept(one.columns)),
            checks=tuple(_kept_checks(plan, self.catalogue.kind == self.target, left)),
            comment=_comment(facts.comment, "comment", left),
        )

    def _column(self, plan: TablePlan, column: TableColumn, left: Lost) -> TableColumn:
        same = column.name in plan.unchanged
        default = column.default
        if default is not None and (not same or holds_text(default) or self.catalogue.kind != self.target):
            left(f"default of column {column.name}", "it may hold a value" if same else "the column is rewritten")
            default = None
        numbered = column.numbered and same
        if column.numbered and not numbered:
            left(f"numbering of column {column.name}", "the column is rewritten")
        if column.computed:
            left(f"computation of column {column.name}", "its values are copied")
            default = None
        comment = _comment(column.comment, f"comment of column {column.name}", left)
        return replace(column, default=default, numbered=numbered, computed=False, comment=comment)


def _comment(comment: str | None, what: str, left: Lost) -> str | None:
    if comment is not None and may_name_somebody(comment):
        left(what, "it may hold a value")
        return None
    return comment


def _not_for_copies(policy: Policy, *, lasting: bool) -> Iterator[str]:
    if policy.models:
        yield "privacy models are for a release; a copy changes values only (leave `privacy` out; use_case: test-data)"
    for key in policy.table_steps:
        yield f"{key} changes which rows there are; a copy keeps every row of the tables"
    if any(rule.suppresses for rule in policy.rules):
        yield "rules that leave records out are for a release; a copy keeps every row"
    for name, attribute in policy.attributes.items():
        for step in attribute.steps:
            if isinstance(step, Pseudonymise) and not step.is_keyed and not lasting:
                yield (
                    f"attributes.{name}: random pseudonyms need a vault, or a copy that goes on after an interruption "
                    "would give the same value two (or use method: keyed)"
                )


def _wrong_with(tables: Mapping[str, TablePlan], catalogue: Catalogue) -> Iterator[str]:
    entries = {plan.entry: plan.policy for plan in tables.values()}
    for plan in tables.values():
        for key in plan.facts.foreign_keys:
            if key.elsewhere or key.parent not in tables or catalogue.by_name.get(key.parent) is None:
                continue
            parent = tables[key.parent]
            if not plan.kept(key.columns) or not parent.kept(key.parent_columns):
                continue
            for own, other in zip(key.columns, key.parent_columns, strict=True):
                ends = ReferenceEnd(plan.entry, own), ReferenceEnd(parent.entry, other)
                if why := why_apart(entries, Reference(*ends)):
                    yield f"{ends[0]} refers to {ends[1]} (a foreign key of the database), but {why}"
        for unique in plan.facts.keys:
            yield from _collisions(plan, unique)


def _collisions(plan: TablePlan, key: UniqueKey) -> Iterator[str]:
    if not plan.kept(key.columns):
        return
    alone = len(key.columns) == 1
    for column in key.columns:
        attribute = plan.attributes[column]
        if not keeps_distinct(attribute, alone=alone):
            names = ", ".join(step.key for step in attribute.steps)
            what = f"'{column}' has to be unique" if alone else f"({', '.join(key.columns)}) has to be unique"
            yield (
                f"table '{plan.facts.name}': {what}, and {names} may give two rows the same value in '{column}' "
                "(pseudonymise it, or suppress it)"
            )


def keeps_distinct(attribute: Attribute, *, alone: bool) -> bool:
    """Whether different values stay different, whatever they are; ``alone``: the column is a key by itself."""
    if not attribute.steps:
        return True
    if len(attribute.steps) > 1:
        return False
    (step,) = attribute.steps
    if isinstance(step, Pseudonymise):
        return step.uniqueness is Uniqueness.UNIQUE or step.is_key
    return isinstance(step, Encrypt) or (alone and isinstance(step, Permute))


def _kept_keys(plan: TablePlan, keys: tuple[UniqueKey, ...], left: Lost) -> Iterator[UniqueKey]:
    for key in keys:
        if plan.kept(key.columns):
            yield key
        else:
            left(f"unique constraint {key.name or ', '.join(key.columns)}", "a column is suppressed")


def _kept_references(plan: TablePlan, tables: Mapping[str, TablePlan], left: Lost) -> Iterator[ForeignKey]:
    for key in plan.facts.foreign_keys:
        named = f"foreign key ({', '.join(key.columns)})"
        if key.elsewhere or key.parent not in tables:
            left(named, "its table is not copied")
        elif not plan.kept(key.columns) or not tables[key.parent].kept(key.parent_columns):
            left(named, "a column is suppressed")
        else:
            yield key


def _kept_checks(plan: TablePlan, same_kind: bool, left: Lost) -> Iterator[CheckRule]:  # noqa: FBT001
    rewritten = set(plan.facts.by_name) - plan.unchanged
    for check in plan.facts.checks:
        if not same_kind:
            left(f"check {check.name or ''}".strip(), "the copy is in another dialect")
        elif names_any(check.condition, rewritten):
            left(f"check {check.name or ''}".strip(), "a column is rewritten")
        elif holds_text(check.condition):
            left(f"check {check.name or ''}".strip(), "it may hold a value")
        else:
            yield check


def _views(catalogue: Catalogue, whole: set[str], target: str, lost: list[str]) -> Iterator[tuple[str, str]]:
    """Those that read nothing but copied tables, and other such views."""
    known, waiting, why = set(whole), {view.name: view for view in catalogue.views}, dict[str, str]()
    progress = True
    while waiting and progress:
        progress = False
        for name, view in list(waiting.items()):
            try:
                query = view_for(view.definition, catalogue.kind, target, known, _place(catalogue))
            except ValueError as error:
                why[name] = str(error)
                continue
            progress = True
            known.add(name)
            del waiting[name]
            yield name, query
    lost += [f"view {name} ({why[name]})" for name in waiting]


def _place(catalogue: Catalogue) -> str | None:
    return catalogue.db_schema


def in_order(parents: Mapping[str, set[str]]) -> tuple[list[str], tuple[str, ...]]:
    """Parents first. Where tables refer to each other in circles, the first of them by name is taken.

    >>> in_order({"visits": {"patients"}, "patients": {"patients"}})
    (['patients', 'visits'], ())
    >>> in_order({"a": {"b"}, "b": {"a"}, "c": {"a"}})
    (['a', 'b', 'c'], ('a',))
    """
    left = {name: {one for one in of if one != name and one in parents} for name, of in parents.items()}
    order, circles = [], []
    while left:
        ready = sorted(name for name, of in left.items() if not of)
        if not ready:
            ready = [min(_in_circle(left))]
            circles += ready
        for name in ready:
            del left[name]
        order += ready
        left = {name: of - set(ready) for name, of in left.items()}
    return order, tuple(circles)


def _in_circle(left: Mapping[str, set[str]]) -> set[str]:
    """Tables that are their own ancestors, not those that only descend from a circle."""
    name, seen = min(left), list[str]()
    while name not in seen:
        seen.append(name)
        name = min(left[name])
    return set(seen[seen.index(name) :])
