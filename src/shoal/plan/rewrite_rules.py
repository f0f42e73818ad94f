"""Named rewrite rules: each makes a plan quicker and leaves its output the same, byte for byte (tests hold them to it).

A rule sees a *segment*: steps that nothing was bound behind yet, with the columns before the first of them. What was
asked of the data stays true, since no rule moves a step over the end of its segment.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import polars as pl

from shoal.plan.nodes import PlannedStep
from shoal.plan.shape import PlanShape, StepEffect
from shoal.schema import Scope, Step
from shoal.techniques.generalisation.generalise import GeneralisedOutput, GeneraliseStep, LookUpStep
from shoal.techniques.suppression.suppress import SuppressStep

MOST_ENTRIES = 1 << 16
"""Beyond this, building the table of labels for every batch costs more than computing the labels."""


@dataclass(frozen=True)
class PlanSegment:
    """Steps that run one after the other, and the columns of the table that they are given."""

    schema: pl.Schema
    steps: tuple[PlannedStep, ...]

    @cached_property
    def effects(self) -> tuple[StepEffect, ...]:
        return PlanShape.over(self.schema, (planned.step for planned in self.steps)).effects


RewriteRule = Callable[[PlanSegment], tuple[PlannedStep, ...]]


def suppress_columns_first(segment: PlanSegment) -> tuple[PlannedStep, ...]:
    """A column that goes, goes first: what would be done to that column alone is not done at all."""
    steps = segment.steps
    for planned in segment.steps:
        if isinstance(planned.step, SuppressStep):
            place = next(place for place, other in enumerate(steps) if other is planned)
            steps = _brought_forward(replace(segment, steps=steps), place, planned.step.attribute)
    return steps


def _brought_forward(segment: PlanSegment, place: int, column: str) -> tuple[PlannedStep, ...]:
    """With the suppression at ``place`` as early as can be."""
    before, own, after = segment.steps[:place], segment.steps[place], segment.steps[place + 1 :]
    kept: list[PlannedStep] = []
    while before:
        last, effect = before[-1], segment.effects[len(before) - 1]
        if last.step.scope not in (Scope.ROW, Scope.TABLE):
            break
        alone = effect.touched == {column} and not last.step.drops_records and not last.step.beside
        if column in effect.touched and not alone:
            break
        if not alone:
            kept.insert(0, last)
        before = before[:-1]
    return (*before, own, *kept, *after)


def look_up_labels(segment: PlanSegment) -> tuple[PlannedStep, ...]:
    """Where every value of the column is known and there are few, look its label up instead of computing it.

    Measured on a million records: age bands 0.037 → 0.023 s, postal codes cut by three digits 0.055 → 0.025 s.
    """
    return tuple(replace(planned, step=_looked_up(planned)) for planned in segment.steps)


def _looked_up(planned: PlannedStep) -> Step:
    step, known = planned.step, planned.known_values
    if not isinstance(step, GeneraliseStep) or step.output is not GeneralisedOutput.RANGE:
        return step
    if known is None or len(known) > MOST_ENTRIES:
        return step
    return LookUpStep(step.column, known, step.bound.generalise(known, step.level))


def drop_identities(segment: PlanSegment) -> tuple[PlannedStep, ...]:
    """A look-up that gives every value back as it is does nothing."""
    return tuple(planned for planned in segment.steps if not _is_identity(planned.step))


def _is_identity(step: Step) -> bool:
    return isinstance(step, LookUpStep) and step.labels.equals(step.values, check_dtypes=True, null_equal=True)


def fuse_column_steps(segment: PlanSegment) -> tuple[PlannedStep, ...]:
    """Adjacent steps that read and write one and the same column become one."""
    return tuple(_fused(group) for group in _groups(segment))


def _groups(segment: PlanSegment) -> Iterator[list[PlannedStep]]:
    if not segment.steps:
        return
    group = [segment.steps[0]]
    for (one, was), (other, now) in pairwise(zip(segment.steps, segment.effects, strict=True)):
        alike = was.touched == now.touched and len(now.touched) == 1
        if alike and all(_keeps_records(planned.step) for planned in (one, other)):
            group.append(other)
        else:
            yield group
            group = [other]
    yield group


def _keeps_records(step: Step) -> bool:
    return step.scope is Scope.ROW and not step.drops_records


def _fused(group: list[PlannedStep]) -> PlannedStep:
    if len(group) == 1:
        return group[0]
    step = FusedStep(tuple(planned.step for planned in group))
    return replace(group[-1], step=step, technique=" + ".join(planned.technique for planned in group))


@dataclass(frozen=True)
class FusedStep(Step):
    """Steps on one column, one after the other, as one.

    >>> from shoal.plan.whole_numbers import WholeNumberStep
    >>> twice = FusedStep((WholeNumberStep(("bill",)), WholeNumberStep(("bill",))))
    >>> twice.apply(pl.DataFrame({"bill": [18100.0]}))["bill"].to_list()
    [18100]
    """

    steps: tuple[Step, ...]

    @property
    def reads(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for step in self.steps for name in step.reads))

    @property
    def adds(self) -> frozenset[str] | None:
        added = [step.adds for step in self.steps]
        known = [characters for characters in added if characters is not None]
        return frozenset().union(*known) if len(known) == len(added) else None

    def apply(self, frame: pl.DataFrame) -> pl.DataFrame:
        for step in self.steps:
            frame = step.apply(frame)
        return frame


RULES: tuple[RewriteRule, ...] = (suppress_columns_first, look_up_labels, drop_identities, fuse_column_steps)
"""All of them, in the order in which they are applied."""


def rewrite(segment: PlanSegment, rules: Sequence[RewriteRule] = RULES) -> tuple[PlannedStep, ...]:
    for rule in rules:
        segment = replace(segment, steps=rule(segment))
    return segment.steps
