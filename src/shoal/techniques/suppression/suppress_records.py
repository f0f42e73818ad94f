"""Record suppression (ISO/IEC 20889, 9.3.4; MeitY 2.2.5; PDPC annex A): whole records are left out, for good.

By rule, ``where: "address = 'Dadar'"``: every record for which the expression is true. Where it can't be decided,
because a value it needs is missing, the record is suppressed too: a rule that guards people fails closed.

By outlier, ``outliers: {columns: [salary], iqr: 1.5}``: every record with a value outside [Q1 − 1.5·IQR, Q3 + 1.5·IQR]
of its column (Tukey's fences; quartiles by linear interpolation), or ``deviations: 3``: further than 3 standard
deviations from the mean. The fences come from the counts, so that the rule is the same for every batch. A missing value
is no outlier. Deviations are widened by the very outliers they look for; prefer ``iqr``.

By class, after the solver: ``WithholdClassesStep``.

What is not released can't be singled out; but statistics shift, and the remaining records are no safer than before.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Self

import numpy as np
import polars as pl
from pydantic import Field, field_validator, model_validator

from shoal.errors import DataError
from shoal.hierarchy.base import TOP
from shoal.kernels.arrays import Floats, Integers
from shoal.schema.column_names import ColumnNames
from shoal.schema.columns import Column, Columns
from shoal.schema.counts import Counts
from shoal.schema.expressions import Expression, names_in, of_one_record
from shoal.schema.parameters import Parameters
from shoal.techniques.base import EACH_PARTIALLY, Context, Stage, Step, TableTechnique, table_a1

_WITHHELD = "__shoal_withheld__"


@dataclass(frozen=True)
class Fence:
    """The values of a column that are no outliers: low ≤ value ≤ high."""

    column: Column
    low: float = field(repr=False)
    high: float = field(repr=False)

    def outside(self, frame: pl.DataFrame) -> pl.Series:
        numbers = self.column.numbers(frame[self.column.name])
        return ((numbers < self.low) | (numbers > self.high)).fill_null(value=False)


class Outliers(Parameters):
    columns: ColumnNames = Field(min_length=1)
    iqr: float | None = Field(default=None, gt=0)
    deviations: float | None = Field(default=None, gt=0)

    @model_validator(mode="after")
    def _one_rule(self) -> Self:
        if (self.iqr is None) == (self.deviations is None):
            raise ValueError("give either iqr or deviations")
        return self

    def fence(self, column: Column, counts: Counts) -> Fence:
        counted = counts.value_counts(column.name).drop_nulls("value")
        values = column.numbers(counted["value"]).cast(pl.Float64).to_numpy()
        records = counted["records"].to_numpy()
        if not values.size:
            return Fence(column, -np.inf, np.inf)
        if self.iqr is not None:
            first, third = _quantile(values, records, 0.25), _quantile(values, records, 0.75)
            return Fence(column, first - self.iqr * (third - first), third + self.iqr * (third - first))
        mean = float(np.average(values, weights=records))
        spread = float(np.sqrt(np.average((values - mean) ** 2, weights=records)))
        reach = (self.deviations or 0.0) * spread
        return Fence(column, mean - reach, mean + reach)


def _quantile(values: Floats, records: Integers, share: float) -> float:
    """The quantile of a column given by distinct values and their counts, interpolated between order statistics."""
    order = np.argsort(values)
    last = np.cumsum(records[order])
    place = share * (last[-1] - 1)
    below, above = np.searchsorted(last, [np.floor(place), np.ceil(place)], side="right")
    low, high = values[order][below], values[order][above]
    return float(low + (place - np.floor(place)) * (high - low))


class SuppressRecords(TableTechnique):
    key = "suppress_records"
    stage = Stage.BEFORE_ATTRIBUTES
    turn = 10
    facts = table_a1("Record suppression", "9.3.4", EACH_PARTIALLY)

    where: str | None = None
    outliers: Outliers | None = None

    @field_validator("where")
    @classmethod
    def _is_expression(cls, where: str | None) -> str | None:
        return None if where is None else of_one_record(where)

    @model_validator(mode="after")
    def _one_rule(self) -> Self:
        if (self.where is None) == (self.outliers is None):
            raise ValueError("give either where or outliers")
        return self

    def columns(self, person: str | None) -> tuple[str, ...]:
        if self.outliers:
            return self.outliers.columns
        return names_in(self.where or "")

    def wants(self) -> tuple[tuple[str, ...], ...]:
        return tuple((name,) for name in self.outliers.columns) if self.outliers else ()

    def refuse(self, columns: Columns) -> str | None:
        for name in self.outliers.columns if self.outliers else ():
            if not columns[name].is_number:
                return f"outliers are found among numbers; column '{name}' is {columns[name].type}"
        return None

    def bind(self, context: Context) -> Step:
        if self.outliers is None:
            return SuppressWhereStep(Expression.bind(self.where or "", context.columns))
        rule = self.outliers
        return SuppressOutliersStep(
            tuple(rule.fence(context.columns[name], context.counts[(name,)]) for name in rule.columns)
        )


@dataclass(frozen=True)
class SuppressWhereStep(Step):
    drops_records: ClassVar[bool] = True

    condition: Expression
    undecided: bool = True
    """Whether a record goes for which it can't be told."""

    @property
    def reads(self) -> tuple[str, ...]:
        return self.condition.reads

    def apply(self, frame: pl.DataFrame) -> pl.DataFrame:
        met = self.condition.evaluate(frame)
        if met.dtype != pl.Boolean():
            raise DataError(f"the condition over {', '.join(self.reads)} is neither true nor false")
        return frame.filter(~met.fill_null(value=self.undecided))


@dataclass(frozen=True)
class SuppressOutliersStep(Step):
    drops_records: ClassVar[bool] = True

    fences: tuple[Fence, ...]

    @property
    def reads(self) -> tuple[str, ...]:
        return tuple(fence.column.name for fence in self.fences)

    def apply(self, frame: pl.DataFrame) -> pl.DataFrame:
        for fence in self.fences:
            frame = frame.filter(~fence.outside(frame))
        return frame


@dataclass(frozen=True)
class WithholdClassesStep(Step):
    """Records of the classes that can't be released: all their attributes become ``*``, or they are dropped.

    ``classes`` has one line per class and a column per attribute, as the attributes are when the step runs.

    >>> small = pl.DataFrame({"age": ["20-29"], "city": [None]}, schema={"age": pl.String, "city": pl.String})
    >>> table = pl.DataFrame({"age": ["20-29", "20-29"], "city": [None, "Pune"], "sum": [1, 2]})
    >>> WithholdClassesStep(("age", "city"), small, drop=False).apply(table).rows()
    [('*', '*', 1), ('20-29', 'Pune', 2)]
    """

    drops_records: ClassVar[bool] = True

    attributes: tuple[str, ...]
    classes: pl.DataFrame = field(repr=False, compare=False)
    drop: bool

    @property
    def reads(self) -> tuple[str, ...]:
        return self.attributes

    def apply(self, frame: pl.DataFrame) -> pl.DataFrame:
        withheld = self._withheld(frame)
        if self.drop:
            return frame.filter(~withheld)
        return frame.with_columns(
            pl.when(withheld).then(pl.lit(TOP)).otherwise(pl.col(name).cast(pl.String)).alias(name)
            for name in self.attributes
        )

    def _withheld(self, frame: pl.DataFrame) -> pl.Series:
        as_text = [pl.col(name).cast(pl.String) for name in self.attributes]
        classes = self.classes.select(as_text).unique().with_columns(pl.lit(value=True).alias(_WITHHELD))
        found = frame.select(as_text).join(
            classes, on=list(self.attributes), how="left", nulls_equal=True, maintain_order="left"
        )
        return found[_WITHHELD].is_not_null()
