"""What would happen to each column, for people and as JSON: ``shoal plan``.

From the policy alone it says what is known before any data is seen. Bound to data it adds value types, the levels that
the solver may choose from, how each step runs, what had to be asked of the data and how often that is read. No value of
the data is in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from shoal.errors import InputError
from shoal.io import Source, explained
from shoal.plan.dry_run import DryRun, bind_whole
from shoal.plan.nodes import Plan, PlannedStep, PlanStage, QueryPurpose
from shoal.plan.reader_view import RECODINGS, what_the_reader_sees
from shoal.policy import EVERYTHING_ELSE, Attribute, Policy
from shoal.policy.edit_rules import source_violations
from shoal.privacy import PrivacyModel
from shoal.schema import Role, Scope
from shoal.schema.notebook_html import card, grid, listing, short
from shoal.techniques import TableTechnique, Technique, table_techniques, techniques

READERS = {
    QueryPurpose.COLUMNS: "the engine, to find its value type",
    QueryPurpose.BINDING: "its techniques, to be bound to it",
    QueryPurpose.CHECK: "a check that its techniques do something",
    QueryPurpose.SOLVING: "the solver, as counts of combinations",
}


class _Described(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class StepDescription(_Described):
    """One technique, or what the solver decides; ``number`` and what follows it are known only of a bound plan."""

    technique: str
    title: str
    clause: str = Field(description="The clause of the standard that it answers for.")
    stage: str = Field(description="When it has its turn.")
    chosen_by: str = Field(description="policy or solver")
    parameters: dict[str, Any] = Field(description="As the policy gives them.")
    number: int | None = Field(default=None, description="Its place in the plan, from 1.")
    scope: str | None = Field(default=None, description="row: record by record; table: it sees its columns whole; …")
    queries: int | None = Field(default=None, description="How often the data is read for it to be bound.")
    barrier: int | None = Field(default=None, description="The step that has to have run before; 0 for none.")

    @property
    def words(self) -> str:
        """The technique with its parameters."""
        given = ", ".join(f"{key} {_value(key, value)}" for key, value in self.parameters.items() if value is not None)
        return f"{self.technique}: {given}" if given else self.technique


def _value(key: str, value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{inner} {_value(inner, each)}" for inner, each in value.items())
    if isinstance(value, list | tuple):
        told = dict.fromkeys(map(str, value)) if key == "levels" else map(str, value)
        return (" to " if key == "levels" else " ").join(told)
    return str(value)


class ColumnDescription(_Described):
    name: str
    role: str
    type: str | None = Field(description="The value type, declared or found.")
    released: bool
    reader_sees: str
    read_by: tuple[str, ...] = Field(default=(), description="Who reads it before it is written, and what for.")
    steps: tuple[StepDescription, ...]


class ModelDescription(_Described):
    model: str
    title: str
    clause: str
    promise: str


class RuleDescription(_Described):
    name: str
    never: str = Field(description="What holds of no record.")
    on_violation: str
    violations: int | None = Field(default=None, description="Records of the data that break it; null without data.")


class PassDescription(_Described):
    """How often the source is read up to the written output; measuring that reads the output, not the source."""

    questions: int = Field(description="For binding, checks and the solver's counts.")
    whole_table: int = Field(description="For steps that see columns whole.")
    write: int = 1
    total: int


class PlanDescription(_Described):
    policy: str
    recipient: str | None = Field(default=None, description="Whom the release is for, by the policy's use case.")
    engine: str = Field(default="polars", description="What runs the steps.")
    refused: tuple[str, ...] = Field(default=(), description="Why a run would stop before it writes anything.")
    bound: bool
    source: str | None
    records: int | None
    columns: tuple[ColumnDescription, ...]
    suppressed: tuple[str, ...] = Field(description="Columns that are not released.")
    table: tuple[StepDescription, ...] = Field(description="Techniques on the whole table.")
    models: tuple[ModelDescription, ...]
    rules: tuple[RuleDescription, ...] = Field(default=(), description="Edit rules.")
    solve: dict[str, Any] | None = Field(description="How the models are to be reached; null without any.")
    passes: PassDescription | None
    plan: dict[str, Any] | None = Field(description="Every step in order, with its queries.")

    def to_dict(self) -> dict[str, Any]:
        return self.model_dump(mode="json")

    def __repr__(self) -> str:
        return short("PlanDescription", self.policy, self._figures())

    def __str__(self) -> str:
        return repr(self)

    def _repr_html_(self) -> str:
        rows = [
            (one.name, one.role, one.type or "", ", then ".join(step.technique for step in one.steps) or "nothing",
             one.reader_sees)
            for one in self.columns
        ]  # fmt: skip
        header = ("column", "role", "type", "what is done", "what the reader sees")
        models = listing("Privacy models", (f"{one.title}: {one.promise}" for one in self.models))
        return card(
            f"Plan: {self.policy}", self._figures(), grid(header, rows), models, listing("Refused", self.refused)
        )

    def _figures(self) -> dict[str, str]:
        known = {} if self.records is None else {"records": f"{self.records:,}"}
        figures = {**known, "columns": str(len(self.columns)), "left out": str(len(self.suppressed))}
        return figures | ({} if self.passes is None else {"passes over the data": str(self.passes.total)})


def describe_refused(policy: Policy, why: InputError, *, engine: str = "polars") -> PlanDescription:
    """What the policy alone tells, and why a run of it would stop."""
    return describe_policy(policy, engine=engine).model_copy(update={"refused": (str(why),)})


def describe_policy(policy: Policy, *, engine: str = "polars") -> PlanDescription:
    """What the policy alone tells; columns that it doesn't name stand under ``*``."""
    columns = tuple(_column(policy, name, attribute) for name, attribute in policy.attributes.items())
    return _described(policy, columns, tuple(map(_table_step, policy.table_steps.values())), engine)


def describe_bound(policy: Policy, data: str | Source | None, *, engine: str = "polars") -> PlanDescription:
    """What would be done to this data. It is read, and nothing is written."""
    bound = bind_whole(policy, data)
    plan = bound.binder.plan
    columns = tuple(_bound_column(policy, name, bound) for name in bound.binder.matched)
    own = (numbered for numbered in _numbered(plan) if numbered[1].attribute is None)
    table = tuple(_bound_step(number, one) for number, one in own if one.technique in policy.table_steps)
    return _described(policy, columns, table, engine).model_copy(
        update={
            "bound": True,
            "source": bound.source.label,
            "records": bound.binder.source_records or bound.question.counts.total_records,
            "passes": passes_of(plan),
            "plan": plan.to_dict(),
            "rules": _rules(policy, bound.source),
        }
    )


def passes_of(plan: Plan) -> PassDescription:
    questions = sum(1 for asked in plan.queries if asked.query.reads_source)
    whole = sum(1 for planned in plan if planned.step.scope in (Scope.TABLE, Scope.REDUCE))
    return PassDescription(questions=questions, whole_table=whole, total=questions + whole + 1)


def _described(
    policy: Policy, columns: tuple[ColumnDescription, ...], table: tuple[StepDescription, ...], engine: str
) -> PlanDescription:
    solve = policy.solve.model_dump(mode="json", exclude={"levels"})
    return PlanDescription(
        policy=policy.name,
        recipient=None if policy.preset is None else policy.preset.title,
        engine=engine,
        bound=False,
        source=None,
        records=None,
        columns=columns,
        suppressed=tuple(column.name for column in columns if not column.released),
        table=table,
        models=tuple(map(_model, policy.models)),
        rules=_rules(policy, None),
        solve=solve if policy.models else None,
        passes=None,
        plan=None,
    )


def _rules(policy: Policy, source: Source | None) -> tuple[RuleDescription, ...]:
    broken: dict[str, int] = {}
    if source is not None and policy.rules:
        with explained(source):
            broken = {name: found.violations for name, found in source_violations(policy, source.scan()).items()}
    return tuple(
        RuleDescription(
            name=rule.name, never=rule.never, on_violation=str(rule.on_violation), violations=broken.get(rule.name)
        )
        for rule in policy.rules
    )


def _model(model: PrivacyModel) -> ModelDescription:
    return ModelDescription(model=model.key, title=model.title, clause=model.clause, promise=model.explain())


def _column(policy: Policy, name: str, attribute: Attribute) -> ColumnDescription:
    steps = tuple(_attribute_step(technique, attribute) for technique in attribute.steps)
    return ColumnDescription(
        name=name,
        role=str(attribute.role),
        type=None if attribute.type is None else str(attribute.type),
        released=attribute.is_released,
        reader_sees=what_the_reader_sees(policy, name, attribute),
        steps=(*steps, *_solved(policy, name, attribute, None)),
    )


def _bound_column(policy: Policy, name: str, bound: DryRun) -> ColumnDescription:
    attribute, described = bound.binder.matched[name], bound.binder.described.get(name)
    steps = (_bound_step(number, one) for number, one in _numbered(bound.binder.plan) if one.attribute == name)
    known = described is not None and bool(described.rows)
    return _column(policy, name, attribute).model_copy(
        update={
            "type": str(described.type) if known and described is not None else None,
            "steps": (*steps, *_solved(policy, name, attribute, bound)),
            "read_by": tuple(dict.fromkeys(_readers(bound.binder.plan, name))),
        }
    )


def _readers(plan: Plan, name: str) -> Iterator[str]:
    """Who looks at a column: what is asked of it before the steps run, then the steps that need it for another."""
    for asked in plan.queries:
        if name in asked.query.columns:
            yield READERS[asked.purpose]
    for number, one in _numbered(plan):
        if (
            name in one.step.reads
            and one.attribute != name
            and one.technique in (*techniques.names(), *table_techniques.names())
        ):
            whose = "the table" if one.attribute is None else f"'{one.attribute}'"
            yield f"step {number}: {one.technique} of {whose}"


def _solved(policy: Policy, name: str, attribute: Attribute, bound: DryRun | None) -> Iterator[StepDescription]:
    """What the solver decides of a quasi-identifier."""
    quasi = attribute.role is Role.QUASI and attribute.is_released and name != EVERYTHING_ELSE
    if not quasi or not policy.models or not policy.kind.has_classes:
        return
    recoding = RECODINGS[policy.solve.recoding]
    given: dict[str, Any] = {"hierarchy": None if attribute.hierarchy is None else attribute.hierarchy.key}
    allowed = policy.solve.levels.get(name)
    if bound is not None and name in bound.question.hierarchies:
        allowed = allowed or (0, bound.question.hierarchies[name].height)
    if allowed is not None:
        given["levels"] = list(allowed)
    fixed = len(set(policy.solve.levels.get(name, ()))) == 1
    yield StepDescription(
        technique=recoding.technique,
        title=recoding.title,
        clause=recoding.clause,
        stage=str(PlanStage.SOLUTION),
        chosen_by="policy" if fixed else "solver",
        parameters=given,
    )


def _attribute_step(technique: Technique, attribute: Attribute) -> StepDescription:
    return _policy_step(technique, PlanStage.of(technique, suppressed=attribute.is_suppressed))


def _table_step(technique: TableTechnique) -> StepDescription:
    return _policy_step(technique, PlanStage(technique.stage.value))


def _policy_step(technique: Technique | TableTechnique, stage: PlanStage) -> StepDescription:
    return StepDescription(
        technique=technique.key,
        title=technique.facts.title,
        clause=technique.facts.clause,
        stage=str(stage),
        chosen_by="policy",
        parameters=technique.model_dump(mode="json", exclude_defaults=True, by_alias=True),
    )


def _numbered(plan: Plan) -> Iterator[tuple[int, PlannedStep]]:
    return iter(enumerate(plan, start=1))


def _bound_step(number: int, planned: PlannedStep) -> StepDescription:
    known = techniques.get(planned.technique) or table_techniques.get(planned.technique)
    return StepDescription(
        technique=planned.technique,
        title=known.facts.title if known is not None else planned.detail,
        clause=planned.clause,
        stage=str(planned.stage),
        chosen_by="solver" if planned.stage in (PlanStage.COUNTING, PlanStage.SOLUTION) else "policy",
        parameters=dict(planned.parameters),
        number=number,
        scope=str(planned.step.scope),
        queries=len(planned.queries),
        barrier=planned.barrier,
    )
