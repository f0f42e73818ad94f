"""Microaggregation (ISO/IEC 20889, 9.7.4): near records form groups of at least k, and each gets its group's average.

``with: [columns]`` are aggregated together with the attribute: one grouping for all of them, so that at least k records
are alike in these columns *taken together*. Columns that are aggregated one by one each have k alike, but a record may
still be the only one with its combination.

| method | groups | for |
|---|---|---|
| ``optimal`` | with the least Σ (value − mean)² of all: see ``microaggregate_univariate`` | one column with an order |
| ``mdav`` | k nearest around the farthest, again and again: see ``microaggregate_mdav`` | columns of any kind |

Distances over several columns are those of standardised numbers, and of categories that are alike or not: see
``microaggregate_points``. ``centre`` says what stands for a group: the ``mean`` (which keeps the sum of the column, but
for rounding to the column's own digits), the ``median`` (which an outlier can't pull), or the ``mode``, the commonest
value (of several the one that is commoner in the table, then the smallest). Categories always get the mode.

It protects because at least k records share each released value, none of which need be anyone's own; the values behind
it can't be told apart. Where all k are equal, the average is what each of them has. An outlier pulls the average of its
group, so that one who knows the other k − 1 can work it out: code the top and bottom first, or use the median.

``within: [columns]`` forms groups inside strata only; a stratum with fewer than k is an error.

**k counts people** where the policy names a person column (all records that name no one count as one person), otherwise
records. With several records per person ``mdav`` takes in the nearest until a group has k people, and ``optimal`` joins
each group that has too few to the next one.

Missing values stay missing. Records that lack the same columns form groups with each other, by the columns they have.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import ClassVar, Self

import numpy as np
import polars as pl
from pydantic import Field, model_validator

from shoal.errors import DataError
from shoal.kernels.arrays import Integers
from shoal.schema.columns import Column
from shoal.schema.values import ValueType
from shoal.techniques.base import LINKING_AND_INFERENCE, Context, Scope, Step, table_a1
from shoal.techniques.randomisation.joint_columns import JointTechnique
from shoal.techniques.randomisation.microaggregation.mdav import mdav_groups
from shoal.techniques.randomisation.microaggregation.points import Points
from shoal.techniques.randomisation.microaggregation.univariate import join_runs, optimal_runs
from shoal.techniques.strata import stratum_codes

_LARGEST = {ValueType.INTEGER: 2.0**53, ValueType.DECIMAL: 1e100}
"""Whole numbers from here on have no exact average in 64 bits; squares of such decimals are no numbers."""


class GroupingMethod(StrEnum):
    OPTIMAL = "optimal"
    MDAV = "mdav"


class GroupCentre(StrEnum):
    MEAN = "mean"
    MEDIAN = "median"
    MODE = "mode"


class Microaggregate(JointTechnique):
    key = "microaggregate"
    facts = table_a1("Microaggregation", "9.7.4", LINKING_AND_INFERENCE, truthful=False)

    k: int = Field(ge=2, description="The fewest in a group: people where the policy names them, else records.")
    with_: tuple[str, ...] = Field(
        default=(), alias="with", description="Columns that are aggregated together with it."
    )
    within: tuple[str, ...] = Field(default=(), description="Groups stay inside the strata of these columns.")
    method: GroupingMethod | None = Field(
        default=None, description="By default `optimal` for one column of numbers or dates, `mdav` for all else."
    )
    centre: GroupCentre = Field(default=GroupCentre.MEAN, description="What stands for a group of numbers or dates.")

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.with_ and self.method is GroupingMethod.OPTIMAL:
            raise ValueError("the optimal grouping is known for one column only: leave out 'with', or use mdav")
        return self

    def refuse(self, column: Column) -> str | None:
        if reason := super().refuse(column):
            return reason
        if column.name in self.also_reads():
            return f"column '{column.name}' can't be aggregated with or within itself"
        if self.method is GroupingMethod.OPTIMAL and not _has_order(column):
            return f"the optimal grouping needs numbers or dates to sort; column '{column.name}' is {column.type}"
        if self.centre is GroupCentre.MEDIAN and not (_has_order(column) or self.with_):
            return f"there is no median of categories; column '{column.name}' is {column.type}"
        return None

    def bind(self, column: Column, context: Context) -> MicroaggregateStep:
        columns = (column, *(context.columns[name] for name in self.with_))
        alone = len(columns) == 1 and _has_order(column)
        method = self.method or (GroupingMethod.OPTIMAL if alone else GroupingMethod.MDAV)
        return MicroaggregateStep(columns, self.k, method, self.centre, self.within, context.person)

    def leaves(self, column: Column) -> Column:
        if not column.is_number:
            return column
        return replace(column, storage=pl.Int64() if column.type is ValueType.INTEGER else pl.Float64())


@dataclass(frozen=True)
class MicroaggregateStep(Step):
    """
    >>> from shoal.randomness import Stream
    >>> frame = pl.DataFrame({"pay": [900, 40, 30, 1000, 950, 50]})
    >>> step = Microaggregate(k=3).bind(Column("pay", ValueType.INTEGER), Context({}, Stream(bytes(32))))
    >>> step.apply(frame)["pay"].to_list()
    [950, 40, 40, 950, 950, 40]
    """

    scope: ClassVar[Scope] = Scope.TABLE

    columns: tuple[Column, ...]
    k: int
    method: GroupingMethod
    centre: GroupCentre
    within: tuple[str, ...] = ()
    person: str | None = None

    @property
    def reads(self) -> tuple[str, ...]:
        person = (self.person,) if self.person else ()
        return tuple(dict.fromkeys((*(column.name for column in self.columns), *self.within, *person)))

    def apply(self, frame: pl.DataFrame) -> pl.DataFrame:
        values = [_readable(column, frame[column.name]) for column in self.columns]
        groups = self._groups(frame, values)
        return frame.with_columns(
            _written(column, self._centres(column, read, groups)).alias(column.name)
            for column, read in zip(self.columns, values, strict=True)
        )

    def _groups(self, frame: pl.DataFrame, values: list[pl.Series]) -> Integers:
        points = self._points(values, frame.height)
        people = stratum_codes(frame, (self.person,)) if self.person else np.arange(frame.height)
        groups = np.zeros(frame.height, dtype=np.int64)
        number = short = 0
        for rows, empty in self._strata(frame, values):
            who = np.unique(people[rows], return_inverse=True)[1]
            if not empty and who.max() + 1 < self.k:
                short += len(rows)
                continue
            groups[rows] = number if empty else number + self._grouped(points.take(rows), who)
            number = int(groups[rows].max()) + 1
        if short:
            raise DataError(
                f"column '{self.columns[0].name}': {short} record(s) are in strata of fewer than {self.k}",
                advice="use fewer or coarser columns in 'within'; records with a column missing are strata too",
            )
        return groups

    def _strata(self, frame: pl.DataFrame, values: list[pl.Series]) -> Iterator[tuple[Integers, bool]]:
        """The records of each stratum, and whether they have no value to aggregate."""
        lacks = [read.is_null().alias(f"lacks {place}") for place, read in enumerate(values)]
        apart = pl.DataFrame([*(frame[name].alias(f"in {name}") for name in self.within), *lacks])
        strata = stratum_codes(apart, tuple(apart.columns))
        order = np.argsort(strata, kind="stable")
        for rows in np.split(order, np.cumsum(np.bincount(strata))[:-1]):
            if len(rows):
                yield rows, all(lack[int(rows[0])] for lack in lacks)

    def _points(self, values: list[pl.Series], size: int) -> Points:
        numbers, categories = [], []
        for column, read in zip(self.columns, values, strict=True):
            if _has_order(column):
                numbers.append(read.cast(pl.Float64).fill_null(np.nan).to_numpy())
            else:
                codes = read.rank("dense").cast(pl.Int64).fill_null(0)
                categories.append(codes.to_numpy())
        return Points.of(numbers, categories, size)

    def _grouped(self, points: Points, people: Integers) -> Integers:
        if self.method is GroupingMethod.MDAV:
            return mdav_groups(points, self.k, people)
        order = np.argsort(points.numbers[0], kind="stable")
        starts = optimal_runs(points.numbers[0][order], self.k)
        if int(people.max()) + 1 < len(people):
            starts = join_runs(starts, people[order], self.k)
        groups = np.empty(len(order), dtype=np.int64)
        groups[order] = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        return groups

    def _centres(self, column: Column, values: pl.Series, groups: Integers) -> pl.Series:
        """What stands for the group of each record."""
        by_group = pl.DataFrame({"group": groups, "value": values})
        if self.centre is GroupCentre.MODE or not _has_order(column):
            times, overall = pl.len().over("group", "value"), pl.len().over("value")
            by_group = by_group.sort("group", times, overall, "value", descending=[False, True, True, False])
            centre = pl.col("value").first()
        else:
            centre = pl.col("value").mean() if self.centre is GroupCentre.MEAN else pl.col("value").median()
        centres = by_group.group_by("group").agg(centre).sort("group")
        return centres["value"].gather(np.searchsorted(centres["group"].to_numpy(), groups))


def _has_order(column: Column) -> bool:
    return column.is_number or column.is_date


def _readable(column: Column, values: pl.Series) -> pl.Series:
    """Numbers, dates as numbers; categories as they are."""
    if column.is_date:
        return column.dates(values).to_physical().cast(pl.Int64)
    if not column.is_number:
        return values
    numbers = column.numbers(values)
    huge = int((numbers.cast(pl.Float64).abs() >= _LARGEST[column.type]).sum())
    if huge:
        raise DataError(f"column '{column.name}': {huge} number(s) are too large to be averaged")
    return numbers


def _written(column: Column, centres: pl.Series) -> pl.Series:
    """In the column's own form."""
    if column.is_number:
        return column.from_numbers(centres)
    if not column.is_date:
        return centres
    whole = centres.cast(pl.Float64).round(0).cast(pl.Int64)
    return column.from_dates(
        whole.cast(pl.Int32).cast(pl.Date) if column.type is ValueType.DATE else whole.cast(pl.Datetime("us"))
    )
