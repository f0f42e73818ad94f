"""Combining attributes into one (ISO/IEC 20889, 9.6.4): several attributes are replaced by a function of them.

``bmi = weight / (height * height)``: many pairs of weight and height give the same result, so one attribute says less
than the two it came from. How much less is up to the function: one that can be undone (``CONCAT(city, street)``)
protects nothing, and inputs that stay in the table (``drop: false``) say all they said before. So the result has the
strictest role among its inputs, unless its attribute says why not (``because``). ``decimals`` rounds the result, which
joins more people.

The function is an expression in SQL's syntax over the values of one record. Sums, counts and anything else that looks
at other records is refused: that is aggregation. A result that is no finite number stops the run.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import polars as pl
from pydantic import AfterValidator, Field

from shoal.errors import DataError
from shoal.schema.columns import ROW, Column
from shoal.schema.expressions import Expression, names_in, of_one_record
from shoal.schema.registry import did_you_mean
from shoal.techniques.base import LINKING_AND_INFERENCE, Context, Step, Technique, table_a1


class Combine(Technique):
    key = "combine"
    facts = table_a1("Combining attributes", "9.6.4", LINKING_AND_INFERENCE)

    into: str = Field(min_length=1)
    """The new column."""
    expression: Annotated[str, AfterValidator(of_one_record)]
    drop: bool = True
    """Leave the inputs out of the output."""
    decimals: int | None = Field(None, ge=0, le=15)

    def also_reads(self) -> tuple[str, ...]:
        return names_in(self.expression)

    def also_alters(self) -> tuple[str, ...]:
        return self.also_reads() if self.drop else ()

    def creates(self) -> tuple[str, ...]:
        return (self.into,)

    def refuse(self, column: Column) -> str | None:
        if column.name not in self.also_reads():
            return f"column '{column.name}' is combined, but the expression doesn't name it"
        return super().refuse(column)

    def bind(self, column: Column, context: Context) -> CombineStep:
        known = tuple(context.columns)
        for name in self.also_reads():
            if name not in known:
                raise DataError(f"combine: the table has no column '{name}'{did_you_mean(name, known)}")
        if self.into == ROW or (self.into in known and not (self.drop and self.into in self.also_reads())):
            raise DataError(f"combine: there is a column '{self.into}' already")
        return CombineStep(self.into, Expression.bind(self.expression, context.columns), self.drop, self.decimals)


@dataclass(frozen=True)
class CombineStep(Step):
    into: str
    expression: Expression
    drop: bool = True
    decimals: int | None = None

    @property
    def reads(self) -> tuple[str, ...]:
        return self.expression.reads

    def apply(self, frame: pl.DataFrame) -> pl.DataFrame:
        combined = self._rounded(self.expression.evaluate(frame)).alias(self.into)
        if self.drop:
            frame = frame.drop(self.reads)
        return frame.with_columns(combined)

    def _rounded(self, values: pl.Series) -> pl.Series:
        if values.dtype.is_decimal():
            values = values.cast(pl.Float64)
        if not values.dtype.is_numeric():
            self._refuse_decimals()
            return values
        if values.dtype.is_float():
            endless = int((~values.is_finite()).sum())
            if endless:
                raise DataError(f"combine into '{self.into}': {endless} record(s) don't give a finite number")
        if self.decimals is None:
            return values
        return values.round(self.decimals) if self.decimals else values.round(0).cast(pl.Int64)

    def _refuse_decimals(self) -> None:
        if self.decimals is not None:
            raise DataError(f"combine into '{self.into}': decimals are for numbers, and the expression gives none")
