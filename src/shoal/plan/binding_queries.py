"""What a step has to learn of the data before it can be bound: the only questions that binding puts to an engine.

A query reads and changes nothing. Which steps of the plan it looks behind is not its own affair: ``PlannedTable``
works that out and writes it into the plan.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Generic, TypeVar

import polars as pl

from shoal.engine import Engine
from shoal.engine.protocol import TableT
from shoal.errors import BugError, DataError
from shoal.io import explained
from shoal.policy import Policy
from shoal.policy.sources import population_source
from shoal.schema import ROW, Column, Counts, Step
from shoal.schema.registry import did_you_mean

AnswerT_co = TypeVar("AnswerT_co", covariant=True)


@dataclass(frozen=True)
class BindingQuery(ABC, Generic[AnswerT_co]):
    """A question about some columns. ``columns`` may be empty only where the number of records is the question."""

    kind: ClassVar[str]
    of_source: ClassVar[bool] = False
    """Whether it is about the source as it is, whatever the steps so far do to it."""
    reads_source: ClassVar[bool] = True
    """Whether its answer takes a pass over the source."""

    columns: tuple[str, ...]

    def __post_init__(self) -> None:
        if len(set(self.columns)) != len(self.columns):
            raise BugError("a binding query names a column twice")

    @property
    def looks_at(self) -> tuple[str, ...]:
        """Every column whose values have an influence on the answer."""
        return self.columns

    @abstractmethod
    def answer(self, engine: Engine[TableT], table: TableT) -> AnswerT_co: ...


@dataclass(frozen=True)
class DescribeQuery(BindingQuery[dict[str, Column]]):
    """Value types, by every value; what the policy declares is taken as said."""

    kind: ClassVar[str] = "describe"

    declared: Mapping[str, Column] = field(default_factory=dict, compare=False)
    foreseen: tuple[str, ...] = field(default=(), compare=False)
    """What will be counted later, if nothing comes between."""

    def answer(self, engine: Engine[TableT], table: TableT) -> dict[str, Column]:
        return engine.describe(table, self.columns, self.declared, self.foreseen)


@dataclass(frozen=True)
class CountQuery(BindingQuery[Counts]):
    """Distinct combinations, with their records and, where a column names the person, people."""

    kind: ClassVar[str] = "count"

    person: str | None = None

    @property
    def looks_at(self) -> tuple[str, ...]:
        return self.columns if self.person is None else (*self.columns, self.person)

    def answer(self, engine: Engine[TableT], table: TableT) -> Counts:
        return engine.counts(table, self.columns, self.person)


@dataclass(frozen=True)
class SampleQuery(BindingQuery[pl.DataFrame]):
    """The combinations among one record of so many, numbered, as the source has them."""

    kind: ClassVar[str] = "sample"
    of_source: ClassVar[bool] = True

    every: int = 1

    def answer(self, engine: Engine[TableT], table: TableT) -> pl.DataFrame:
        if not self.columns:
            return _numbered(pl.DataFrame())
        some = engine.map(table, [SystematicSampleStep(self.every)])
        return _numbered(engine.counts(some, self.columns).frame())


@dataclass(frozen=True)
class PopulationQuery(BindingQuery[Counts]):
    """The combinations of another table, that of the population which a privacy model compares with."""

    kind: ClassVar[str] = "population"
    of_source: ClassVar[bool] = True
    reads_source: ClassVar[bool] = False

    policy: Policy = field(kw_only=True, compare=False, repr=False)

    def answer(self, engine: Engine[TableT], table: TableT) -> Counts:  # it has a table of its own
        source = population_source(self.policy)
        population = engine.scan(source)
        present = engine.columns(population)
        for name in self.columns:
            if name not in present:
                raise DataError(f"population: there is no column '{name}'{did_you_mean(name, present)}")
        with explained(source):
            return engine.counts(population, self.columns)


@dataclass(frozen=True)
class SystematicSampleStep(Step):
    """One record of so many."""

    drops_records: ClassVar[bool] = True

    many: int

    @property
    def keeps_one_of(self) -> int:
        return self.many

    @property
    def reads(self) -> tuple[str, ...]:
        return ()

    def apply(self, frame: pl.DataFrame) -> pl.DataFrame:
        return frame.filter(pl.col(ROW) % self.many == 0)


def _numbered(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.with_columns(pl.int_range(frame.height, dtype=pl.UInt64, eager=True).alias(ROW))
