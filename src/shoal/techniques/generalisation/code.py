"""Top and bottom coding (ISO/IEC 20889, 9.6.3; PDPC annex A): values beyond a threshold become one value.

x becomes min(x, top) and max(x, bottom). Extreme values are rare and known to others; behind the threshold they are one
group. What lies between the thresholds is not changed, and the order of the values is kept.

A threshold is a value, or a quantile of the data: for the top the smallest value v such that at least the share q of
all records is v or less, for the bottom the largest v such that at least 1 − q is v or more. A tail holds ``minimum``
records or more: if fewer lie beyond the quantile, the threshold moves inwards until enough do.

Without a label the threshold itself stands for the tail and the column keeps its type. With a label (``90+``, or
``≥ {value}`` where the threshold comes from the data) all values *from* the threshold on bear it, the threshold
included, and the column becomes text. Missing values stay missing.
"""

from __future__ import annotations

import datetime
import math
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Annotated, Self

import polars as pl
from pydantic import Field, model_validator

from shoal.errors import DataError
from shoal.schema.columns import Column
from shoal.schema.parameters import Parameters
from shoal.schema.values import DATES, NUMBERS, ValueType
from shoal.techniques.base import LINKING_AND_INFERENCE, ColumnStep, Context, Technique, table_a1

Number = int | float
Threshold = Number | datetime.date
Share = Annotated[float, Field(gt=0, lt=1)]
Text = Annotated[str, Field(min_length=1)]


class TailLabels(Parameters):
    """A label for each end."""

    top: Text
    bottom: Text


class Code(Technique):
    key = "code"
    facts = table_a1("Top and bottom coding", "9.6.3", LINKING_AND_INFERENCE, types=NUMBERS | DATES)

    top: Threshold | None = None
    bottom: Threshold | None = None
    top_quantile: Share | None = None
    bottom_quantile: Share | None = None
    label: Text | TailLabels | None = None
    """``{value}`` in it stands for the threshold."""
    minimum: int = Field(3, ge=1)
    """The fewest records behind a threshold that comes from a quantile."""

    @model_validator(mode="after")
    def _check_thresholds(self) -> Self:
        if self.top is not None and self.top_quantile is not None:
            raise ValueError("top and top_quantile exclude each other")
        if self.bottom is not None and self.bottom_quantile is not None:
            raise ValueError("bottom and bottom_quantile exclude each other")
        if not (self._codes_top or self._codes_bottom):
            raise ValueError("give top or bottom, or top_quantile or bottom_quantile")
        if self.top is not None and self.bottom is not None and not _less(self.bottom, self.top):
            raise ValueError("bottom has to be less than top, and of its kind")
        if self.top_quantile and self.bottom_quantile and self.bottom_quantile >= self.top_quantile:
            raise ValueError("bottom_quantile has to be less than top_quantile")
        if self.label is not None and isinstance(self.label, TailLabels) != (self._codes_top and self._codes_bottom):
            raise ValueError("one end takes one label, both ends take one each: {top: …, bottom: …}")
        return self

    @property
    def _codes_top(self) -> bool:
        return self.top is not None or self.top_quantile is not None

    @property
    def _codes_bottom(self) -> bool:
        return self.bottom is not None or self.bottom_quantile is not None

    def wants(self, attribute: str) -> tuple[tuple[str, ...], ...]:
        return ((attribute,),) if self.top_quantile or self.bottom_quantile else ()

    def refuse(self, column: Column) -> str | None:
        if reason := super().refuse(column):
            return reason
        for given in (self.top, self.bottom):
            if given is None:
                continue
            if isinstance(given, datetime.date) != column.is_date:
                return f"the threshold has to be of the same type as column '{column.name}', which is {column.type}"
            if column.type is ValueType.INTEGER and isinstance(given, float) and not given.is_integer():
                return f"the threshold has to be a whole number, as all of column '{column.name}' are"
        return None

    def bind(self, column: Column, context: Context) -> CodeStep:
        top, bottom = self.top, self.bottom
        if self.top_quantile or self.bottom_quantile:
            counts = context.counts[(column.name,)].value_counts(column.name)
            known = counts.with_columns(value=_read(column, counts["value"])).drop_nulls().sort("value")
            if self.top_quantile:
                top = self._quantile(column, known, _exact(self.top_quantile))
            if self.bottom_quantile:
                bottom = self._quantile(column, known.reverse(), 1 - _exact(self.bottom_quantile))
        if top is not None and bottom is not None and not _less(bottom, top):
            raise DataError(f"column '{column.name}': the top and bottom thresholds found in the data overlap")
        labels = self.label if isinstance(self.label, TailLabels) else None
        one = self.label if isinstance(self.label, str) else None
        return CodeStep(
            column,
            top=None if top is None else TailThreshold(top, labels.top if labels else one),
            bottom=None if bottom is None else TailThreshold(bottom, labels.bottom if labels else one),
        )

    def _quantile(self, column: Column, known: pl.DataFrame, share: Fraction) -> Threshold:
        """The first value with the share of all records up to it and enough from it on, in the order of ``known``."""
        records = known["records"]
        total = int(records.sum())
        if total < self.minimum:
            raise DataError(f"column '{column.name}': {total} value(s) are too few for a tail of {self.minimum}")
        up_to = records.cum_sum()
        within = int((up_to < math.ceil(share * total)).sum())
        enough = int((total - up_to + records >= self.minimum).sum()) - 1
        threshold: Threshold = known["value"][min(within, enough)]
        return threshold

    def leaves(self, column: Column) -> Column:
        if self.label is not None:
            return replace(column, type=ValueType.TEXT, storage=pl.String(), scale=0, date_format=None)
        if column.is_date:
            return column
        if column.type is ValueType.INTEGER:
            return replace(column, storage=pl.Int64())
        return replace(column, storage=pl.Float64())


@dataclass(frozen=True)
class TailThreshold:
    """A threshold, and what its tail is called if it isn't the threshold itself."""

    threshold: Threshold = field(repr=False)
    label: str | None = None

    def text(self, column: Column) -> str:
        """The label, with the threshold written the way the column writes its values."""
        value = self.threshold
        if isinstance(value, datetime.date):
            told = value.strftime(column.date_format) if column.date_format else value.isoformat()
        else:
            told = str(int(value) if value == int(value) else value)
        return (self.label or "").replace("{value}", told)


@dataclass(frozen=True)
class CodeStep(ColumnStep):
    """
    >>> ages = pl.DataFrame({"age": [34, 91, None]})
    >>> column = Column("age", ValueType.INTEGER, pl.Int64())
    >>> CodeStep(column, top=TailThreshold(90)).apply(ages)["age"].to_list()
    [34, 90, None]
    >>> CodeStep(column, top=TailThreshold(90, "90+")).apply(ages)["age"].to_list()
    ['34', '90+', None]
    """

    top: TailThreshold | None = None
    bottom: TailThreshold | None = None

    def apply(self, frame: pl.DataFrame) -> pl.DataFrame:
        values = frame[self.column.name]
        read = _read(self.column, values)
        labelled = any(end is not None and end.label is not None for end in (self.top, self.bottom))
        coded = self._labelled(values, read) if labelled else self._clipped(read)
        return frame.with_columns(coded.alias(self.column.name))

    def _clipped(self, read: pl.Series) -> pl.Series:
        low, high = (None if end is None else pl.lit(end.threshold).cast(read.dtype) for end in (self.bottom, self.top))
        clipped = pl.select(pl.lit(read).clip(low, high)).to_series()
        return self.column.from_dates(clipped) if self.column.is_date else clipped

    def _labelled(self, values: pl.Series, read: pl.Series) -> pl.Series:
        coded = pl.lit(values.cast(pl.String))
        if self.top is not None:
            beyond = pl.lit(read) >= pl.lit(self.top.threshold)
            coded = pl.when(beyond).then(pl.lit(self.top.text(self.column))).otherwise(coded)
        if self.bottom is not None:
            beyond = pl.lit(read) <= pl.lit(self.bottom.threshold)
            coded = pl.when(beyond).then(pl.lit(self.bottom.text(self.column))).otherwise(coded)
        return pl.select(coded).to_series()


def _read(column: Column, values: pl.Series) -> pl.Series:
    return column.dates(values) if column.is_date else column.numbers(values)


def _exact(share: float) -> Fraction:
    """The share as it was written: 0.07 of a hundred records is seven of them."""
    return Fraction(str(share))


def _less(bottom: Threshold, top: Threshold) -> bool:
    if isinstance(bottom, datetime.date) and isinstance(top, datetime.date):
        return bottom < top
    if isinstance(bottom, Number) and isinstance(top, Number):
        return bottom < top
    return False
