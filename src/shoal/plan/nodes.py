"""The nodes of a plan: frozen, and each validates itself.

A plan is data. It can be printed, compared and written as JSON without a record being read; what is known of a step
before it runs stands in its node. Two plans are equal if they say the same of every step; bound values (labels, keys)
are no part of that, and never shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

import polars as pl

from shoal.errors import BugError
from shoal.plan.binding_queries import BindingQuery
from shoal.schema import Step
from shoal.techniques import Technique


class PlanStage(StrEnum):
    """The parts of a plan, in the order in which they come."""

    PREPARATION = "preparation"
    """What is carried beside the table: which records are one person's."""
    COMBINATION = "combination"
    """New columns, made of those that are there."""
    BEFORE_ATTRIBUTES = "before attributes"
    """Techniques on the whole table as it is."""
    ATTRIBUTES = "attributes"
    """The attributes' own techniques, in the order of the policy."""
    SUPPRESSION = "suppression"
    """Columns that go."""
    COUNTING = "counting"
    """Roll-ups without which the combinations couldn't be counted."""
    SOLUTION = "solution"
    """What the solver found: levels, recoded cells, classes to withhold, decoys."""
    AFTER_SOLVING = "after solving"
    """Techniques on the whole table as it would be released."""
    READ_BACK = "read back"
    """Cells that tell what was generalised elsewhere."""

    @classmethod
    def of(cls, technique: Technique, *, suppressed: bool) -> PlanStage:
        """When a technique on an attribute has its turn; ``suppressed`` says whether the attribute goes."""
        if technique.creates():
            return cls.COMBINATION
        return cls.SUPPRESSION if suppressed else cls.ATTRIBUTES


_ORDER = tuple(PlanStage)


class QueryPurpose(StrEnum):
    """What an answer is for."""

    COLUMNS = "columns"
    """What the columns of the source are, before anything is bound."""
    BINDING = "binding"
    """A step needs it to be bound."""
    CHECK = "check"
    """Whether a technique does anything in effect; what the report says of records that a rule left out."""
    SOLVING = "solving"
    """The solver searches it."""


@dataclass(frozen=True)
class AskedQuery:
    """A query, and the last step of the plan whose output it sees: its number from 1, or 0 for the source as it is."""

    query: BindingQuery[object]
    behind: int = 0
    purpose: QueryPurpose = QueryPurpose.BINDING

    def __post_init__(self) -> None:
        if self.behind < 0:
            raise BugError("a binding query looks behind a step before the first")
        if self.behind and self.query.of_source:
            raise BugError("a query about the source looks behind no step")

    def to_dict(self) -> dict[str, Any]:
        columns = list(self.query.columns)
        return {"asks": self.query.kind, "columns": columns, "behind": self.behind, "purpose": str(self.purpose)}


@dataclass(frozen=True)
class PlannedStep:
    """A step, the attribute it is for (None for the whole table), the technique behind it, in words.

    ``step`` is what an engine runs; all else is what a reader of the plan sees.
    """

    step: Step = field(compare=False)
    technique: str
    clause: str
    attribute: str | None = None
    detail: str = ""
    stage: PlanStage = PlanStage.ATTRIBUTES
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """Those that the policy gives, as it writes them."""
    queries: tuple[AskedQuery, ...] = ()
    """What had to be learnt of the data for it to be bound."""
    known_values: pl.Series | None = field(default=None, repr=False, compare=False)
    """Every value of its column, where they were counted."""

    def __post_init__(self) -> None:
        if not isinstance(self.step, Step):
            raise BugError("a planned step has to have a step that an engine can run")
        if not self.technique:
            raise BugError("a planned step has to say which technique it is of")
        if self.stage in (PlanStage.COMBINATION, PlanStage.SUPPRESSION, PlanStage.COUNTING) and self.attribute is None:
            raise BugError(f"a step of the stage {self.stage} is for an attribute")

    @property
    def barrier(self) -> int:
        """The last earlier step that has to have run before this one could be bound: its number, or 0 for none."""
        return max((asked.behind for asked in self.queries), default=0)

    def to_dict(self) -> dict[str, Any]:
        return {
            "technique": self.technique,
            "clause": self.clause,
            "attribute": self.attribute,
            "stage": str(self.stage),
            "parameters": dict(self.parameters),
            "scope": str(self.step.scope),
            "reads": list(self.step.reads),
            "drops_records": self.step.drops_records,
            "queries": [asked.to_dict() for asked in self.queries],
            "barrier": self.barrier,
        }


@dataclass(frozen=True)
class Plan:
    """Steps in the order in which they run, and what was asked for no step in particular.

    >>> from shoal.techniques.suppression.suppress import SuppressStep
    >>> node = PlannedStep(SuppressStep("name"), "suppress", "9.3.2", "name", stage=PlanStage.SUPPRESSION)
    >>> print(Plan() + node)
    1. name: suppress (suppression)
    """

    steps: tuple[PlannedStep, ...] = ()
    asked: tuple[AskedQuery, ...] = ()
    """Of the columns, for checks and for the solver."""

    def __post_init__(self) -> None:
        last = 0
        for number, planned in enumerate(self.steps, start=1):
            place = _ORDER.index(planned.stage)
            if place < last:
                raise BugError(f"a step of the stage {planned.stage} comes after one of the stage {_ORDER[last]}")
            if planned.barrier >= number:
                raise BugError("a step was bound behind one that comes after it")
            last = place
        if any(one.purpose is QueryPurpose.BINDING or one.behind > len(self.steps) for one in self.asked):
            raise BugError("what is asked for binding stands with its step")

    def __iter__(self) -> Iterator[PlannedStep]:
        return iter(self.steps)

    def __len__(self) -> int:
        return len(self.steps)

    def __add__(self, step: PlannedStep) -> Plan:
        return replace(self, steps=(*self.steps, step))

    def __str__(self) -> str:
        return "\n".join(f"{number}. {_line(planned)}" for number, planned in enumerate(self.steps, start=1))

    @property
    def queries(self) -> tuple[AskedQuery, ...]:
        """All of them; each is a pass over the data."""
        return (*self.asked, *(asked for planned in self.steps for asked in planned.queries))

    def to_dict(self) -> dict[str, Any]:
        return {
            "asked": [asked.to_dict() for asked in self.asked],
            "steps": [planned.to_dict() for planned in self.steps],
        }


def _line(planned: PlannedStep) -> str:
    given = ", ".join(f"{key} {value}" for key, value in planned.parameters.items())
    words = f"{planned.technique} {given}" if given else planned.technique
    whom = "the table" if planned.attribute is None else planned.attribute
    behind = f", bound behind step {planned.barrier}" if planned.barrier else ""
    return f"{whom}: {words} ({planned.stage}{behind})"
