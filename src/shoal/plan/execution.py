"""The one place where a plan meets an engine: here queries are answered and steps run; nothing else touches rows.

Binding adds nodes and asks. Steps wait until the output of one of them is needed: when a query looks behind it (a
*barrier*), or at the end. Those that wait then run together; they are a segment, which the rewrite rules see first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Generic, TypeVar

from shoal.engine import Engine
from shoal.engine.protocol import TableT
from shoal.errors import BugError
from shoal.plan.binding_queries import BindingQuery
from shoal.plan.nodes import AskedQuery, Plan, PlannedStep, QueryPurpose
from shoal.plan.rewrite_rules import RULES, PlanSegment, RewriteRule, rewrite
from shoal.plan.shape import PlanShape
from shoal.schema import Scope, Step

AnswerT = TypeVar("AnswerT")


class PlannedTable(Generic[TableT]):
    """A source, the plan for it as it was bound, and as much of its execution as binding needed."""

    def __init__(self, engine: Engine[TableT], source: TableT, rules: Sequence[RewriteRule] = RULES) -> None:
        self.engine = engine
        self.source = source
        self.rules = rules
        self.executed: tuple[PlannedStep, ...] = ()
        """As they were run: after the rules."""
        self._table = source
        self._shape = PlanShape.over(engine.schema(source))
        self._done = 0
        self._steps: list[PlannedStep] = []
        self._asked: list[AskedQuery] = []
        self._waiting: list[AskedQuery] = []
        """Asked for the step that comes next."""

    @property
    def plan(self) -> Plan:
        """As it was bound so far."""
        return Plan(tuple(self._steps), tuple(self._asked))

    @property
    def columns(self) -> tuple[str, ...]:
        """The visible ones after all steps of the plan."""
        return self._shape.columns

    def add(self, planned: PlannedStep) -> None:
        """Into the plan, with what was asked since the last step. Nothing runs yet."""
        self._shape = self._shape.after(planned.step)
        self._steps.append(replace(planned, queries=(*planned.queries, *self._waiting)))
        self._waiting.clear()

    def ask(self, query: BindingQuery[AnswerT], purpose: QueryPurpose = QueryPurpose.BINDING) -> AnswerT:
        """Of the table as the steps so far leave it, or of the source where the query says so."""
        behind = 0 if query.of_source else self._shape.last_that_matters(query.looks_at)
        if behind > self._done:
            self.execute()
        asked = self._waiting if purpose is QueryPurpose.BINDING else self._asked
        asked.append(AskedQuery(query, behind, purpose))
        return query.answer(self.engine, self.source if query.of_source else self._table)

    def execute(self) -> TableT:
        """The table after every step of the plan; those that have run don't run again."""
        segment = PlanSegment(tuple(self._steps[self._done :]), self._shape.effects[self._done :])
        steps = rewrite(segment, self.rules)
        for planned in steps:
            self._table = run_step(self.engine, self._table, planned.step)
        if set(self.engine.schema(self._table)) != set(self._shape.schema):
            raise BugError("the steps of the plan left other columns than it says")
        self.executed, self._done = (*self.executed, *steps), len(self._steps)
        return self._table


def run_step(engine: Engine[TableT], table: TableT, step: Step) -> TableT:
    if step.scope is Scope.ROW:
        return engine.map(table, [step])
    if step.scope is Scope.REDUCE:
        return engine.reduce(table, step)
    return engine.shuffle(table, step)
