"""Named rewrite rules: each makes a plan quicker and leaves its output the same, byte for byte (tests hold them to it).

A rule sees a *segment*: steps that nothing was bound behind yet, with the columns that each touches. What was
asked of the data stays true, since no rule moves a step over the end of its segment.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

import polars as pl

from shoal.errors import BugError
from shoal.plan.nodes import PlannedStep
from shoal.plan.shape import PlanShape, StepEffect
from shoal.schema import Scope, Step
from shoal.techniques.generalisation.generalise import GeneralisedOutput, GeneraliseStep, LookUpStep
from shoal.techniques.suppression.suppress import SuppressStep

MOST_ENTRIES = 1 << 16
"""Beyond this, building the table of labels for every batch costs more than computing the labels."""


@dataclass(frozen=True)
class PlanSegment:
    """Steps that run one after the other, and what each of them has to do with."""

    steps: tuple[PlannedStep, ...]
    effects: tuple[StepEffect, ...]

    def __post_init__(self) -> None:
        if len(self.steps) != len(self.effects):
            raise BugError("every step of a segment has one effect")

    @classmethod
    def over(cls, schema: pl.Schema, steps: tuple[PlannedStep, ...]) -> Self:
        """Of a table with these columns."""
        return cls(steps, PlanShape.over(schema, (planned.step for planned in steps)).effects)

    def picked(self, places: Iterable[int]) -> Self:
        """These of its steps, in this order."""
        chosen = tuple(places)
        return replace(
            self,
            steps=tuple(self.steps[place] for place in chosen),
            effects=tuple(self.effects[place] for place in chosen),
        )


RewriteRule = Callable[[PlanSegment], PlanSegment]


def suppress_columns_first(segment: PlanSegment) -> PlanSegment:
    """A column that goes, goes first: what would be done to that column alone is not done at all."""
    last, alone = dict[str, int](), dict[str, list[int]]()
    fence, moved, useless = -1, dict[int, list[int]](), set[int]()
    for place, (planned, effect) in enumerate(zip(segment.steps, segment.effects, strict=True)):
        step = planned.step
        if isinstance(step, SuppressStep):
            start = max(fence, last.get(step.attribute, -1)) + 1
            useless.update(other for other in alone.get(step.attribute, ()) if other >= start)
            moved.setdefault(start, []).append(place)
        elif step.scope not in (Scope.ROW, Scope.TABLE):
            fence = place
        elif len(effect.touched) == 1 and not step.drops_records and not step.beside:
            alone.setdefault(next(iter(effect.touched)), []).append(place)
        else:
            last.update(dict.fromkeys(effect.touched, place))
    return segment.picked(_rearranged(segment, moved, useless))


def _rearranged(segment: PlanSegment, moved: Mapping[int, Sequence[int]], useless: set[int]) -> Iterator[int]:
    """The places of the steps in their new order: those that are moved come before the step at whose place they are."""
    for place, planned in enumerate(segment.steps):
        yield from moved.get(place, ())
        if not isinstance(planned.step, SuppressStep) and place not in useless:
            yield place


def look_up_labels(segment: PlanSegment) -> PlanSegment:
    """Where every value of the column is known and there are few, look its label up instead of computing it.

    Measured on a million records: age bands 0.037 → 0.023 s, postal codes cut by three digits 0.055 → 0.025 s.
    """
    return replace(segment, steps=tuple(replace(planned, step=_looked_up(planned)) for planned in segment.steps))


def _looked_up(planned: PlannedStep) -> Step:
    step, known = planned.step, planned.known_values
    if not isinstance(step, GeneraliseStep) or step.output is not GeneralisedOutput.RANGE:
        return step
    if known is None or len(known) > MOST_ENTRIES:
        return step
    return LookUpStep(step.column, known, step.bound.generalise(known, step.level))


def drop_identities(segment: PlanSegment) -> PlanSegment:
    """A look-up that gives every value back as it is does nothing."""
    return segment.picked(place for place, planned in enumerate(segment.steps) if not _is_identity(planned.step))


def _is_identity(step: Step) -> bool:
    return isinstance(step, LookUpStep) and step.labels.equals(step.values, check_dtypes=True, null_equal=True)


def fuse_column_steps(segment: PlanSegment) -> PlanSegment:
    """Adjacent steps that read and write one and the same column become one."""
    groups = list(_groups(segment))
    fused = tuple(_fused([segment.steps[place] for place in group]) for group in groups)
    return replace(segment.picked(group[0] for group in groups), steps=fused)


def _groups(segment: PlanSegment) -> Iterator[list[int]]:
    """Places of steps that can be one."""
    group: list[int] = []
    for place, effect in enumerate(segment.effects):
        if group and (effect.touched != segment.effects[group[-1]].touched or not _fusible(segment, place)):
            yield group
            group = []
        group.append(place)
        if not _fusible(segment, place):
            yield group
            group = []
    if group:
        yield group


def _fusible(segment: PlanSegment, place: int) -> bool:
    step = segment.steps[place].step
    return step.scope is Scope.ROW and not step.drops_records and len(segment.effects[place].touched) == 1


def _fused(group: Sequence[PlannedStep]) -> PlannedStep:
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
        segment = rule(segment)
    return segment.steps
