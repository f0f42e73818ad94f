"""Bind: from a policy and what has to be known of the data to a plan, in this order:

1. combine attributes (they read the columns as they are),
2. suppress records by rule, sample, put identities aside for the vault,
3. the attributes' techniques in the order of the policy, attribute suppression last,
4. what the solver found: one level per quasi-identifier, the classes to withhold,
5. cut sensitive columns off, shuffle the records; or aggregate them.

Each binding may ask for counts of the table *as the steps so far leave it*; the plan says behind which step. Binding
itself touches no row: it adds nodes to a ``PlannedTable`` and puts queries to it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Generic

import polars as pl

from shoal.engine import Engine
from shoal.engine.protocol import TableT
from shoal.errors import DataError, FieldName, FieldText, InputError
from shoal.hierarchy import BoundHierarchy
from shoal.hierarchy.kinds.flat import FlatHierarchy
from shoal.plan.binding_queries import CountQuery, DescribeQuery
from shoal.plan.column_match import match_columns, needs_description
from shoal.plan.completeness import BoundParts, need_all_bound
from shoal.plan.execution import PlannedTable
from shoal.plan.hidden_columns.original_values import KeepOriginals
from shoal.plan.hidden_columns.person_tag import PERSON, TagPerson
from shoal.plan.identifier_check import refuse_unaltered
from shoal.plan.nodes import Plan, PlannedStep, PlanStage, QueryPurpose
from shoal.plan.rewrite_rules import RULES, RewriteRule
from shoal.plan.text_scrubbers import ScrubberFactory
from shoal.plan.whole_numbers import WholeNumberStep
from shoal.policy import Attribute, Policy
from shoal.policy.role_propagation import refuse_weaker_roles
from shoal.pseudonyms import Secrets
from shoal.pseudonyms.run_secrets import RunSecrets
from shoal.randomness import Randomness
from shoal.schema import Column, Counts, Step, ValueType
from shoal.schema.expressions import Expression
from shoal.schema.registry import did_you_mean
from shoal.schema.rule_counts import count_violations
from shoal.schema.type_detection import AmbiguousDate
from shoal.techniques import Context, Stage, TableTechnique, Technique
from shoal.techniques.generalisation.generalise import Generalise
from shoal.techniques.pseudonymisation.identity import Identity
from shoal.techniques.suppression.suppress_records import SuppressWhereStep


class PlanBinder(Generic[TableT]):
    def __init__(  # noqa: PLR0913  # what a plan is made of
        self,
        policy: Policy,
        engine: Engine[TableT],
        table: TableT,
        randomness: Randomness,
        secrets: Secrets | None = None,
        *,
        rules: Sequence[RewriteRule] = RULES,
    ) -> None:
        refuse_weaker_roles(policy)
        self.policy = policy
        self.randomness = randomness
        self.secrets = secrets or RunSecrets(randomness)
        self.planned = PlannedTable(engine, table, rules)
        self.source_columns = self.planned.columns
        self.attributes = self.matched = match_columns(policy, self.planned.columns)
        self.bound = BoundParts()
        self.columns = self._describe(self.attributes)
        self.described = dict(self.columns)
        self.suppressed_by_rule = 0
        self.source_records = self._records_before()
        self.from_text = {name for name, column in self.columns.items() if column.storage == pl.String()}

    @property
    def plan(self) -> Plan:
        """As it was bound so far."""
        return self.planned.plan

    def bind_techniques(self) -> None:
        """Everything that needs no solver, up to the quasi-identifiers' levels."""
        if self.policy.person:
            key = self.randomness.stream("person").key
            tag = TagPerson(self.policy.person, key)
            self.planned.add(PlannedStep(tag, "person", "", stage=PlanStage.PREPARATION))
        self._bind_combinations()
        self._check_rules()
        self._keep_originals()
        self._bind_table_techniques(Stage.BEFORE_ATTRIBUTES)
        suppressed = []
        for name, attribute in _readers_first(self.attributes):
            if attribute.is_suppressed:
                suppressed.append((name, attribute))
            else:
                self._bind_attribute(name, attribute)
        self._bind_rules()
        self._tidy()
        refuse_unaltered(self)
        for name, attribute in suppressed:
            self._bind_attribute(name, attribute)

    def _keep_originals(self) -> None:
        """An aggregated table has no records in which anything could be read back."""
        if self.policy.kind.has_classes and (quasi := self.quasi_identifiers()):
            step = KeepOriginals(quasi)
            self.planned.add(PlannedStep(step, "originals", "", stage=PlanStage.BEFORE_ATTRIBUTES))

    def quasi_identifiers(self) -> tuple[str, ...]:
        present = self.planned.columns
        return tuple(name for name in present if name in self.policy.quasi_identifiers)

    def bind_ending(self) -> None:
        left = self.planned.columns
        self._bind_table_techniques(Stage.AFTER_SOLVING)
        final = self.planned.columns
        need_all_bound(self.policy, self.matched, self.bound, left, final)

    @property
    def person(self) -> str | None:
        """The column that tells people apart, where the policy names one."""
        return PERSON if self.policy.person else None

    def _describe(self, wanted: Mapping[str, Attribute]) -> dict[str, Column]:
        """Value types of those columns that exist by now and are worth a look; the others are taken as text."""
        present = self.planned.columns
        declared = {name: attribute.declared(name) for name, attribute in wanted.items()}
        names = [name for name in needs_description(self.policy, dict(wanted)) if name in present]
        known = {name: column for name, column in declared.items() if column is not None}
        described = self._ask_types(tuple(names), known)
        if any(not column.rows for column in described.values()):
            raise DataError("there are no records to release")
        return {name: described.get(name, Column(name)) for name in wanted if name in present}

    def _ask_types(self, names: tuple[str, ...], declared: Mapping[str, Column]) -> dict[str, Column]:
        if not names:
            return {}
        return self.planned.ask(DescribeQuery(names, declared, self._foreseen()), QueryPurpose.COLUMNS)

    def _foreseen(self) -> tuple[str, ...]:
        """The columns that the solver will be asked of, where nothing is done to them or to records before that."""
        counted = (*self.quasi_identifiers(), *self.policy.modelled)
        untreated = all(name in self.source_columns and not self.matched[name].steps for name in counted)
        early = any(one.stage is Stage.BEFORE_ATTRIBUTES for one in self.policy.table_steps.values())
        return () if self.policy.person or early or not untreated or self.plan.steps else counted

    def _bind_combinations(self) -> None:
        """New columns first, in an order in which each finds its inputs: one may be made of another."""
        waiting = [
            (name, place, technique)
            for name, attribute in self.attributes.items()
            for place, technique in enumerate(attribute.steps)
            if technique.creates()
        ]
        while waiting:
            ready = next((one for one in waiting if self._inputs_there(one[0], one[2])), waiting[0])
            waiting.remove(ready)
            name, place, technique = ready
            self._refuse_missing(f"attributes.{name}", (name,))
            self._bind_step(name, technique, place)
            made = {new: self.attributes[new] for new in technique.creates()}
            self.columns |= self._describe(made)
            self.described |= {new: self.columns[new] for new in made}
        present = self.planned.columns
        self.attributes = {name: attribute for name, attribute in self.attributes.items() if name in present}

    def _inputs_there(self, name: str, technique: Technique) -> bool:
        present = self.planned.columns
        return all(read in present for read in (name, *technique.also_reads()))

    def _bind_attribute(self, name: str, attribute: Attribute) -> None:
        for place, technique in enumerate(attribute.steps):
            if not technique.creates():
                self._bind_step(name, technique, place)

    def _bind_step(self, name: str, technique: Technique, place: int) -> None:
        column = self.columns[name]
        technique = technique.resolve(self.policy.folder)
        self._refuse_missing(f"attributes.{name}", technique.also_reads())
        _refuse(f"attributes.{name}", technique.refuse(column), column)
        hierarchy = None
        if isinstance(technique, Generalise) and technique.hierarchy is None:
            hierarchy = self.bind_hierarchy(name, self.counts((name,)))
        purpose = ("attribute", name, technique.key, str(place))
        context = self.context(purpose, technique.wants(name), hierarchy, people=technique.counts_people)
        step = technique.bind(column, context)
        detail = ", ".join(filter(None, (_in_words(technique), step.report_note)))
        stage = PlanStage.of(technique, suppressed=self.attributes[name].is_suppressed)
        given = technique.model_dump(mode="json", exclude_defaults=True, by_alias=True)
        self.planned.add(PlannedStep(step, technique.key, technique.facts.clause, name, detail, stage, given))
        self.bound.techniques.add((name, place))
        self.columns[name] = technique.leaves(column)

    def _records_before(self) -> int:
        return max((column.rows for column in self.columns.values()), default=0)

    def _tidy(self) -> None:
        """Columns that came as text and now hold whole numbers that would be written with a decimal point."""
        whole = tuple(
            name
            for name, column in self.columns.items()
            if column.type is ValueType.DECIMAL and not column.scale and column.storage == pl.Float64()
            if name in self.from_text and self.attributes[name].is_released
        )
        if whole:
            self.planned.add(PlannedStep(WholeNumberStep(whole), "tidy", ""))

    def _bind_table_techniques(self, stage: Stage) -> None:
        chosen: dict[str, TableTechnique] = self.policy.table_steps
        for key in sorted(chosen, key=lambda key: (chosen[key].turn, key)):
            technique = chosen[key]
            if technique.stage is not stage:
                continue
            if isinstance(technique, Identity):
                technique = self._identity(technique)
            self._refuse_missing(key, technique.columns(None))
            reason = technique.refuse(self.columns)
            if reason:
                raise DataError(f"{key}: {reason}")
            step: Step = technique.bind(self.context(("table", key), technique.wants()))
            given = technique.model_dump(mode="json", exclude_defaults=True, by_alias=True)
            place = PlanStage(stage.value)
            self.planned.add(PlannedStep(step, key, technique.facts.clause, stage=place, parameters=given))
            self.bound.table_techniques.add(key)
            if key == "suppress_records":
                self.suppressed_by_rule = self._records_before() - self._records_left()

    def _check_rules(self) -> None:
        """That they can be computed is known before anything is done, though they are counted at the end."""
        for place, rule in enumerate(self.policy.rules):
            self._refuse_missing(f"rules.{place}", rule.columns)
            nothing = pl.LazyFrame(schema={name: self.columns[name].storage for name in rule.columns})
            count_violations(nothing, {rule.name: Expression.bind(rule.never, self.columns)})

    def _bind_rules(self) -> None:
        """Records that break an edit rule are left out once the attributes' techniques have made them what they are."""
        for place, rule in enumerate(self.policy.rules):
            if not rule.suppresses:
                continue
            self._refuse_missing(f"rules.{place}", rule.columns)
            left = self._records_left()
            step = SuppressWhereStep(Expression.bind(rule.never, self.columns), undecided=False)
            clause, given = "ISO/IEC 20889, 9.7.3", {"name": rule.name}
            self.planned.add(PlannedStep(step, "rules", clause, detail=f"rule {rule.name}", parameters=given))
            self.suppressed_by_rule += left - self._records_left()
            self.bound.rules.add(rule.name)

    def _records_left(self) -> int:
        return self.planned.ask(CountQuery(()), QueryPurpose.CHECK).total_records

    def _identity(self, technique: Identity) -> Identity:
        if not self.secrets.lasting:
            raise InputError(
                "identity: without a vault nobody could be found again",
                advice=FieldText("name one with ", FieldName("vault")),
            )
        if self.policy.solve.decoys is not None:
            raise InputError("identity: goes without solve.decoys, since there is nobody behind an invented record")
        return technique if technique.by else technique.model_copy(update={"by": self.quasi_identifiers()})

    def _refuse_missing(self, where: str, names: tuple[str, ...]) -> None:
        present = self.planned.columns
        for name in names:
            if name not in present:
                raise DataError(f"{where}: there is no column '{name}' at this point{did_you_mean(name, present)}")

    def context(
        self,
        purpose: tuple[str, ...],
        wants: tuple[tuple[str, ...], ...],
        hierarchy: BoundHierarchy | None = None,
        *,
        people: bool = False,
    ) -> Context:
        return Context(
            columns=self.columns,
            stream=self.randomness.stream(*purpose),
            counts={want: self.counts(want, self.person if people else None) for want in wants},
            hierarchy=hierarchy,
            person=self.person,
            secrets=self.secrets,
            scrubber=ScrubberFactory(self.secrets, self.policy.recogniser_files),
        )

    def counts(self, attributes: tuple[str, ...], person: str | None = None) -> Counts:
        return self.planned.ask(CountQuery(attributes, person))

    def bind_hierarchy(self, name: str, counts: Counts) -> BoundHierarchy:
        hierarchy = self.attributes[name].hierarchy or FlatHierarchy()
        column = self.columns[name]
        _refuse(f"attributes.{name}.hierarchy", hierarchy.refuse(column), column)
        self.bound.hierarchies.add(name)
        bound = hierarchy.resolve(self.policy.folder).bind(column, counts.value_counts(name))
        generalised = any(isinstance(step, Generalise) for step in self.attributes[name].steps)
        return replace(bound, marked=True) if generalised else bound


def _readers_first(attributes: Mapping[str, Attribute]) -> list[tuple[str, Attribute]]:
    """In the order of the policy, but first those that read other columns as they came."""
    return sorted(attributes.items(), key=lambda one: not any(step.reads_originals for step in one[1].steps))


def _in_words(technique: Technique) -> str:
    """The parameters that were given, as the policy writes them."""
    given = technique.model_dump(mode="json", exclude_defaults=True, by_alias=True)
    return ", ".join(f"{key} {value}" for key, value in given.items() if not isinstance(value, dict | list))


def _refuse(where: str, reason: str | None, column: Column) -> None:
    if reason is None:
        return
    advice = None
    if isinstance(column, AmbiguousDate):
        advice = f"its dates can be read as {' or '.join(column.formats)}: say which with `format:`"
    raise DataError(f"{where}: {reason}", advice=advice)
