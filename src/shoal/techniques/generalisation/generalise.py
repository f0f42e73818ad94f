"""Generalisation by a declared level of a hierarchy (ISO/IEC 20889, 9.6.1; PDPC annex A; MeitY 2.2.6).

A value becomes its group on the chosen level: ``34`` → ``30-39``, ``Pune`` → ``Maharashtra``. All values of an
attribute go to the same level (global recoding). Everybody in a group looks alike in this attribute, so fewer people
stand alone; the value stays true of the person. Table A.1 leaves the risks of plain generalisation open: they depend on
the level.

Numbers and dates can be given out as one value of their group instead of its name, so that the column keeps its type:

| output | released value |
|---|---|
| ``range`` | the group's label, as text |
| ``midpoint`` | (low + high) ÷ 2 of the group, rounded to the column's own digits |
| ``random`` | one of the group's values in the column's own digits, each equally likely, drawn for each record |

A midpoint or a random value stands for its group and is not true of the person. A group without an end is taken to end
at the last value of the data, which both of them then give a hint of; top code the attribute first, or use ``range``.
Missing values stay missing, except on the highest level, where everything is ``*``.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Self

import polars as pl
from pydantic import BeforeValidator, Field, PlainSerializer, ValidationError, WithJsonSchema

from shoal.errors import BugError, DataError
from shoal.hierarchy.base import BoundHierarchy, Hierarchy, parse_hierarchy
from shoal.randomness import Stream
from shoal.schema.columns import ROW, Column
from shoal.schema.validation_messages import validation_message
from shoal.schema.values import ValueType
from shoal.techniques.base import EACH_PARTIALLY, ColumnStep, Context, Technique, table_a1


def _parse(value: object) -> Hierarchy:
    try:
        return parse_hierarchy(value)
    except ValidationError as error:
        problems = (": ".join((*map(str, one["loc"]), validation_message(one))) for one in error.errors())
        raise ValueError("; ".join(problems)) from None


Inline = Annotated[
    Hierarchy,
    BeforeValidator(_parse),
    PlainSerializer(lambda hierarchy: {hierarchy.key: hierarchy.model_dump(mode="json", exclude_defaults=True)}),
    WithJsonSchema({"type": ["object", "string"], "minProperties": 1, "maxProperties": 1}),
]
"""A hierarchy written in place, the way ``hierarchy:`` of an attribute is."""


class HierarchyTechnique(Technique):
    """A technique that may have a hierarchy of its own, which is bound to the values that occur."""

    if TYPE_CHECKING:  # each technique declares it where it stands among its own parameters
        hierarchy: Inline | None

    def resolve(self, base: Path) -> Self:
        """The same technique with relative paths in its hierarchy taken from ``base``, the folder of the policy."""
        if self.hierarchy is None:
            return self
        return self.model_copy(update={"hierarchy": self.hierarchy.resolve(base)})

    def wants(self, attribute: str) -> tuple[tuple[str, ...], ...]:
        return () if self.hierarchy is None else ((attribute,),)


class GeneralisedOutput(StrEnum):
    RANGE = "range"
    MIDPOINT = "midpoint"
    RANDOM = "random"


class Generalise(HierarchyTechnique):
    key = "generalise"
    facts = table_a1("Generalisation", "9.6.1", EACH_PARTIALLY)

    hierarchy: Inline | None = None
    """If it is left out, the attribute's own."""
    level: int = Field(1, ge=1)
    output: GeneralisedOutput = GeneralisedOutput.RANGE

    @property
    def truthful(self) -> bool:
        return self.output is GeneralisedOutput.RANGE

    def refuse(self, column: Column) -> str | None:
        if self.output is not GeneralisedOutput.RANGE and not (column.is_number or column.is_date):
            return f"a {self.output} value needs numbers or dates; column '{column.name}' is {column.type}"
        if self.hierarchy is not None and (reason := self.hierarchy.refuse(column)):
            return reason
        return super().refuse(column)

    def bind(self, column: Column, context: Context) -> GeneraliseStep:
        bound = context.hierarchy
        if self.hierarchy is not None:
            counts = context.counts[(column.name,)]
            bound = self.hierarchy.bind(column, counts.value_counts(column.name))
        if bound is None:
            raise DataError(
                f"column '{column.name}': generalise needs a hierarchy",
                advice="write one under the technique or under the attribute",
            )
        if self.level > bound.height:
            raise DataError(f"column '{column.name}': there is no level {self.level}, the highest is {bound.height}")
        if self.output is not GeneralisedOutput.RANGE:
            self._check_bounds(column, bound)
        return GeneraliseStep(column, bound, self.level, self.output, context.stream)

    def _check_bounds(self, column: Column, bound: BoundHierarchy) -> None:
        if self.level == bound.height:
            raise DataError(f"column '{column.name}': on the highest level there is no {self.output} to give out")
        if bound.bounds(pl.Series(dtype=column.storage), self.level) is None:
            raise DataError(f"column '{column.name}': its hierarchy has no ranges, so there is no {self.output}")

    def leaves(self, column: Column) -> Column:
        if self.output is GeneralisedOutput.RANGE:
            return replace(column, type=ValueType.TEXT, storage=pl.String(), scale=0, date_format=None)
        if column.is_date:
            return column
        return replace(column, storage=pl.Int64() if column.type is ValueType.INTEGER else pl.Float64())


@dataclass(frozen=True)
class GeneraliseStep(ColumnStep):
    """One column on one level of its hierarchy; ``stream`` is needed only for random values."""

    bound: BoundHierarchy
    level: int
    output: GeneralisedOutput = GeneralisedOutput.RANGE
    stream: Stream | None = None

    def apply(self, frame: pl.DataFrame) -> pl.DataFrame:
        values = frame[self.column.name]
        if self.output is GeneralisedOutput.RANGE:
            return frame.with_columns(self.bound.generalise(values, self.level).alias(self.column.name))
        picks = self._points(values, None if self.output is GeneralisedOutput.MIDPOINT else self._draws(frame[ROW]))
        return frame.with_columns(picks.alias(self.column.name))

    def _draws(self, rows: pl.Series) -> pl.Series:
        if self.stream is None:
            raise BugError("random generalisation was bound without a random stream")
        return pl.Series(self.stream.uniform(rows.to_numpy()))

    def _points(self, values: pl.Series, draws: pl.Series | None) -> pl.Series:
        ends = self.bound.bounds(values, self.level)
        if ends is None:
            raise BugError("generalisation to a point was bound to a hierarchy without ranges")
        if self.column.is_date:
            low, high = (end.to_physical().cast(pl.Int64) for end in ends)
            days = low + (high - low) // 2 if draws is None else _drawn(low, high, draws)
            return self.column.from_dates(days.cast(ends[0].dtype))
        if draws is None:
            return self.column.from_numbers(ends[0] + (ends[1] - ends[0]) / 2)
        if self.column.type is ValueType.INTEGER:
            return self.column.from_numbers(_drawn(*ends, draws))
        unit = 10.0**self.column.scale
        # Decimal groups don't hold their upper end; the tenth digit is beyond what a group's edge can have.
        first, after = ((end * unit).round(9).ceil() for end in ends)
        return self.column.from_numbers(_drawn(first, after - 1, draws) / unit)


@dataclass(frozen=True)
class LookUpStep(ColumnStep):
    """The same as a range from GeneraliseStep, for a column whose distinct values are all known beforehand."""

    values: pl.Series = field(repr=False, compare=False)
    labels: pl.Series = field(repr=False, compare=False)

    @property
    def adds(self) -> frozenset[str] | None:
        return None if (self.labels == "").any() else frozenset(self.labels.drop_nulls().str.join("").item())

    @cached_property
    def _known(self) -> pl.Enum:
        return pl.Enum(self.values.drop_nulls())

    @cached_property
    def _places(self) -> pl.Series:
        """The labels in the order of the known values, then that of a missing one."""
        missing = self.labels.filter(self.values.is_null())
        return self.labels.filter(self.values.is_not_null()).extend(missing)

    def apply(self, frame: pl.DataFrame) -> pl.DataFrame:
        name = self.column.name
        try:
            labels = self._labels(frame[name])
        except pl.exceptions.InvalidOperationError:
            raise DataError(f"column '{name}' has values that were not there when it was counted") from None
        return frame.with_columns(labels.alias(name))

    def _labels(self, values: pl.Series) -> pl.Series:
        if self.values.dtype != pl.String():
            return values.replace_strict(self.values, self.labels, return_dtype=pl.String)
        # By measurement half the time of `replace_strict`.
        places = values.cast(self._known).to_physical()
        missing = len(self._known.categories)
        return self._places.gather(places.fill_null(missing) if missing < len(self._places) else places)


def _drawn(low: pl.Series, high: pl.Series, draws: pl.Series) -> pl.Series:
    """One of the whole numbers from ``low`` to ``high``, each equally likely."""
    steps = (draws * (high - low + 1)).floor().cast(low.dtype)
    return low + steps.clip(0)
