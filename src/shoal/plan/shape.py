"""A plan worked out on an empty table: which columns there are after each step, and what each step touches.

No record is read. So the plan knows, before anything runs, behind which steps a query has to look.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Self

import polars as pl

from shoal.engine.step_pipeline import StepPipeline, empty_frame
from shoal.schema import ROW, Scope, Step
from shoal.schema.hidden_columns import HIDDEN
from shoal.techniques.suppression.suppress import SuppressStep


@dataclass(frozen=True)
class StepEffect:
    """What a step has to do with: the columns that it reads or writes, and whether records come or go."""

    touched: frozenset[str]
    changes_records: bool

    def matters_to(self, columns: Iterable[str]) -> bool:
        return self.changes_records or not self.touched.isdisjoint(columns)


@dataclass(frozen=True)
class PlanShape:
    """Columns as the steps leave them, and what each step has to do with."""

    schema: pl.Schema
    effects: tuple[StepEffect, ...] = ()

    @classmethod
    def over(cls, schema: pl.Schema, steps: Iterable[Step] = ()) -> Self:
        shape = cls(schema)
        for step in steps:
            shape = shape.after(step)
        return shape

    @property
    def columns(self) -> tuple[str, ...]:
        """The visible ones after all steps."""
        return tuple(name for name in self.schema if not name.startswith(HIDDEN))

    def after(self, step: Step) -> Self:
        schema, effect = _outcome(self.schema, step)
        return replace(self, schema=schema, effects=(*self.effects, effect))

    def last_that_matters(self, columns: Iterable[str]) -> int:
        """The number of the last step, from 1, that has to do with what these columns hold; 0 if none has."""
        wanted = frozenset(columns)
        matters = (number for number, effect in enumerate(self.effects, start=1) if effect.matters_to(wanted))
        return max(matters, default=0)


def _outcome(schema: pl.Schema, step: Step) -> tuple[pl.Schema, StepEffect]:
    """Whether a TABLE step leaves records out shows only when it runs, so it is taken to."""
    if isinstance(step, SuppressStep):
        # Of a wide table most columns go; each need not be tried on a frame of all the others.
        left = pl.Schema({name: kind for name, kind in schema.items() if name != step.attribute})
        return left, StepEffect(frozenset(), changes_records=False)
    if step.scope is Scope.ORDER:
        return schema, StepEffect(frozenset(), changes_records=False)
    if step.scope is Scope.INSERT:
        return schema, StepEffect(frozenset(schema), changes_records=True)
    if step.scope is Scope.REDUCE:
        nothing = empty_frame(schema).select(*dict.fromkeys((*step.reads, ROW)))
        made = step.finish(step.apply(nothing)).schema
        return made, StepEffect(frozenset((*schema, *made)), changes_records=True)
    pipeline = StepPipeline.over(schema).after(step)
    (operation,) = pipeline.operations
    drops = operation.drops_records or step.scope is Scope.TABLE
    return pipeline.schema, StepEffect(operation.touched, changes_records=drops)
