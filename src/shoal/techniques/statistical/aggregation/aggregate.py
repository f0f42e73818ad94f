"""Aggregation to macrodata (ISO/IEC 20889, 9.1.3; MeitY 2.2.9; PDPC annex A): one line per group instead of per person.

``by`` names the attributes that make the groups (generalise them first), ``measures`` what is published of each:
``count`` (records), ``people``, or ``{sum|mean|min|max: column}``.

**Primary suppression.** A group is withheld, in all its measures, where

- fewer than ``minimum`` people are in it, or fewer than ``minimum`` gave a value for a measure (threshold rule,
  10.4.2); where no one gave a value there is nothing to hide;
- ``dominance: {largest: n, share: k}`` is given, and the n largest contributions make up more than the share k of a
  sum (dominance rule, 10.4.3).

**Complementary suppression.** With ``totals: true`` the totals over each attribute and over all are published; with
``totals_known: true`` they are taken to be known from elsewhere. Then further groups (or totals) are withheld so that
no sensitive one can be computed: as far as anyone can tell it might have ``minimum`` people, and its sums might be
larger or smaller by the share ``protection`` of themselves (see ``complementary``). Readers can't tell primary from
complementary. The smallest and largest value of a total appear only where nothing under it is withheld.

Where the policy names a person column, people are counted and ranked, not records; records that name no one count as
one person. Sums are rounded to the column's digits, means to one more, or both to ``decimals``. A smallest or largest
value is always some person's own: prefer means. A line that is withheld keeps its place with empty measures, unless
``drop_withheld``; a group without a line is empty.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar, Literal, Self

import polars as pl
from pydantic import Field, model_validator

from shoal.errors import DataError
from shoal.schema.column_names import ColumnNames
from shoal.schema.columns import Column, Columns
from shoal.schema.parameters import Parameters
from shoal.schema.values import ValueType
from shoal.techniques.base import Context, Lowered, Lowers, Scope, Stage, Step, TableTechnique, table_a1
from shoal.techniques.statistical.aggregation.cell_suppression import (
    PrimarySuppressionRule,
    SuppressedCells,
    suppress_groups,
)
from shoal.techniques.statistical.aggregation.group_statistics import PEOPLE, RECORDS, GroupTally, is_total, value_of

WITHHELD = "withheld"
_SUMS = ("sum", "mean")


class GroupStatistic(Parameters):
    """A statistic of a column, e.g. ``{sum: salary}``."""

    sum: str | None = None
    mean: str | None = None
    min: str | None = None
    max: str | None = None

    @model_validator(mode="after")
    def _one_statistic(self) -> Self:
        if len(self.model_dump(exclude_none=True)) != 1:
            raise ValueError("give exactly one of sum, mean, min and max")
        return self

    @property
    def statistic(self) -> str:
        return next(iter(self.model_dump(exclude_none=True)))

    @property
    def column(self) -> str:
        return str(getattr(self, self.statistic))


class DominanceParameters(Parameters):
    largest: int = Field(ge=1, le=100)
    share: float = Field(gt=0, lt=1)


class Aggregate(TableTechnique):
    key = "aggregate"
    stage = Stage.AFTER_SOLVING
    turn = 10
    leaves_records = False
    facts = table_a1("Aggregation", "9.1.3", Lowered(Lowers.YES, Lowers.YES, Lowers.YES))

    by: ColumnNames = Field(min_length=1, max_length=6)
    measures: dict[str, Literal["count", "people"] | GroupStatistic] = Field(default={"count": "count"}, min_length=1)
    minimum: int = Field(default=5, ge=2)
    dominance: DominanceParameters | None = None
    totals: bool = False
    totals_known: bool = False
    total_label: str = "Total"
    protection: float = Field(default=0.1, gt=0, le=1)
    decimals: int | None = Field(default=None, ge=0, le=15)
    drop_withheld: bool = False

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.totals and self.totals_known:
            raise ValueError("totals are either published or known from elsewhere")
        names = [*self.by, *self.measures, WITHHELD]
        if len(set(names)) < len(names):
            raise ValueError(f"attributes, measures and '{WITHHELD}' need names of their own")
        if self.dominance and not any(of.statistic in _SUMS for of in self._of()):
            raise ValueError("dominance needs a sum or a mean")
        return self

    def _of(self) -> tuple[GroupStatistic, ...]:
        return tuple(of for of in self.measures.values() if isinstance(of, GroupStatistic))

    def creates(self) -> tuple[str, ...]:
        return (*self.measures, WITHHELD)

    def report_notes(self) -> dict[str, str]:
        notes = dict.fromkeys(self.by, f"makes the groups, of {self.minimum} people and more")
        for of in self._of():
            notes[of.column] = f"{notes[of.column]}, {of.statistic}" if of.column in notes else of.statistic
        return {name: note if name in self.by else f"{note} of each group" for name, note in notes.items()}

    @property
    def extremes(self) -> tuple[str, ...]:
        """The columns of which a smallest or largest value is published."""
        return tuple(of.column for of in self._of() if of.statistic not in _SUMS)

    def columns(self, person: str | None) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.by, *(of.column for of in self._of()))))

    def refuse(self, columns: Columns) -> str | None:
        for of in self._of():
            column = columns[of.column]
            if not column.is_number and (of.statistic in _SUMS or not column.is_date):
                return f"there is no {of.statistic} of {column.type} values; column '{column.name}'"
        return None

    def bind(self, context: Context) -> AggregateStep:
        measured = tuple(dict.fromkeys(of.column for of in self._of()))
        tally = GroupTally(
            by=self.by,
            columns=tuple(context.columns[name] for name in measured),
            summed=frozenset(measured.index(of.column) for of in self._of() if of.statistic in _SUMS),
            person=context.person,
            largest=self.dominance.largest if self.dominance else 0,
        )
        rule = PrimarySuppressionRule(self.minimum, self.protection, self.dominance.share if self.dominance else 1.0)
        return AggregateStep(self, tally, rule)


@dataclass(frozen=True)
class AggregateStep(Step):
    """
    >>> from shoal.randomness import Stream
    >>> wards = pl.DataFrame({"ward": ["a"] * 1 + ["b"] * 7 + ["c"] * 9})
    >>> step = Aggregate(by=("ward",), totals=True).bind(Context({}, Stream(bytes(32))))
    >>> step.finish(step.apply(wards)).select("ward", "count").rows()
    [('a', None), ('b', None), ('c', 9), ('Total', 17)]
    """

    scope: ClassVar[Scope] = Scope.REDUCE

    parameters: Aggregate
    tally: GroupTally
    rule: PrimarySuppressionRule

    @property
    def reads(self) -> tuple[str, ...]:
        person = (self.tally.person,) if self.tally.person else ()
        return tuple(dict.fromkeys((*self.parameters.columns(None), *person)))

    def apply(self, frame: pl.DataFrame) -> pl.DataFrame:
        return self.tally.partial(frame)

    def merge(self, partial: pl.DataFrame) -> pl.DataFrame:
        return self.tally.merged(partial)

    def finish(self, partial: pl.DataFrame) -> pl.DataFrame:
        groups = self._groups(self.tally.merged(partial))
        verdict = suppress_groups(self.rule, self.tally, groups, totals_known=self.parameters.totals_known)
        table = pl.DataFrame([*self._attributes(groups), *self._measures(groups, verdict)])
        shown = table.with_columns(pl.Series(WITHHELD, verdict.withheld, dtype=pl.Boolean))
        if not self.parameters.totals:
            shown = shown.filter(~pl.any_horizontal(groups[is_total(at)] for at in range(len(self.parameters.by))))
        return shown.filter(~pl.col(WITHHELD)) if self.parameters.drop_withheld else shown

    def _groups(self, merged: pl.DataFrame) -> pl.DataFrame:
        """All lines, groups before their totals."""
        places = range(len(self.parameters.by))
        kept = [tuple(places)]
        if self.parameters.totals or self.parameters.totals_known:
            kept = [subset for size in range(len(places) + 1) for subset in combinations(places, size)]
        lines = pl.concat([self.tally.groups(merged, subset) for subset in reversed(kept)], how="diagonal")
        order = [name for at in places for name in (is_total(at), value_of(at))]
        return lines.sort(order, nulls_last=True)

    def _attributes(self, groups: pl.DataFrame) -> list[pl.Series]:
        if not self.parameters.totals:
            return [groups[value_of(at)].alias(name) for at, name in enumerate(self.parameters.by)]
        return [self._labelled(groups, at, name) for at, name in enumerate(self.parameters.by)]

    def _labelled(self, groups: pl.DataFrame, at: int, name: str) -> pl.Series:
        values, label = groups[value_of(at)].cast(pl.String), self.parameters.total_label
        if (values == label).any():
            raise DataError(f"column '{name}' has a group that is called like the total", advice="set total_label")
        named = pl.select(pl.when(groups[is_total(at)]).then(pl.lit(label)).otherwise(values)).to_series()
        return named.alias(name)

    def _measures(self, groups: pl.DataFrame, verdict: SuppressedCells) -> list[pl.Series]:
        return [
            self._measure(groups, of)
            .set(pl.Series(verdict.covers_withheld if _is_extreme(of) else verdict.withheld), None)
            .alias(name)
            for name, of in self.parameters.measures.items()
        ]

    def _measure(self, groups: pl.DataFrame, of: Literal["count", "people"] | GroupStatistic) -> pl.Series:
        if not isinstance(of, GroupStatistic):
            return groups[RECORDS if of == "count" else PEOPLE]
        at = next(at for at, column in enumerate(self.tally.columns) if column.name == of.column)
        column = self.tally.columns[at]
        if of.statistic in _SUMS:
            return _summed(groups, at, column, of.statistic, self.parameters.decimals)
        extreme = groups[f"{of.statistic}.{at}"]
        return column.from_dates(extreme) if column.is_date else column.from_numbers(extreme)


def _is_extreme(of: Literal["count", "people"] | GroupStatistic) -> bool:
    return isinstance(of, GroupStatistic) and of.statistic not in _SUMS


def _summed(groups: pl.DataFrame, at: int, column: Column, statistic: str, decimals: int | None) -> pl.Series:
    """A sum or a mean; empty where no one gave a value."""
    units, given = groups[f"sum.{at}"], groups[f"n.{at}"]
    nothing = given == 0
    if statistic == "mean":
        mean = units.cast(pl.Float64) / 10.0**column.scale / given
        return mean.set(nothing, None).round(column.scale + 1 if decimals is None else decimals)
    if column.type is ValueType.INTEGER:
        whole = units.cast(pl.Int64, strict=False)
        if whole.null_count():
            raise DataError(f"column '{column.name}': {whole.null_count()} sum(s) are too large for a 64-bit integer")
        return whole.set(nothing, None)
    exact = units.cast(pl.Float64) / 10.0**column.scale
    return exact.set(nothing, None).round(column.scale if decimals is None else decimals)
