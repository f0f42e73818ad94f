"""Rounding to multiples of a base (ISO/IEC 20889, 9.6.2; MeitY 2.2.7; PDPC annex A, base-x rounding).

Let b be the base and x = q·b + r with 0 ≤ r < b. The value becomes q·b or (q + 1)·b, one of its two neighbours:

| method | rounded up | keeps |
|---|---|---|
| ``nearest`` | if r > b/2; at r = b/2 away from zero (2.5 → 3, −2.5 → −3 with base 1) | — |
| ``random`` | with probability r/b: 7 becomes 10 in seven cases of ten, with base 10 | each value in expectation |
| ``controlled`` | so that the total becomes the multiple of b that is nearest to it | the total |

Values within a base of each other may look alike, so a value known from elsewhere links to many records; the base has
to be large against the gaps between values. Random rounding can't be undone by knowing the rule.

``controlled`` picks the records to round up by systematic sampling from a random start, in the order of the records,
each with a chance in proportion to its r (or, if the total goes up, picks those to round down in proportion to b − r).
The chance differs from r/b by at most what the total itself is moved by, shared among all records: nothing if the total
is a multiple of b, and next to nothing in a large table. It has to see the whole column and refuses missing values.

All arithmetic is done in whole units of the last decimal, so 0.1 + 0.2 is 0.3 and no tie falls the wrong way.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import StrEnum
from typing import Annotated, ClassVar

import numpy as np
import polars as pl
from pydantic import Field, PlainSerializer

from shoal.errors import DataError
from shoal.randomness import Stream
from shoal.schema.columns import ROW, Column
from shoal.schema.values import NUMBERS, ValueType
from shoal.techniques.base import LINKING_AND_INFERENCE, ColumnStep, Context, Scope, Technique, table_a1

DIGITS = 15
"""Of a base: as many as a 64-bit float tells apart."""
LARGEST = 2**62
"""In units: its neighbours still fit into 64 bits."""

Base = Annotated[
    Decimal,
    Field(gt=0, max_digits=DIGITS),
    PlainSerializer(lambda base: int(base) if base == int(base) else float(base)),
]


class RoundingMethod(StrEnum):
    NEAREST = "nearest"
    RANDOM = "random"
    CONTROLLED = "controlled"


class Round(Technique):
    key = "round"
    facts = table_a1("Rounding", "9.6.2", LINKING_AND_INFERENCE, types=NUMBERS, random=True)

    base: Base
    method: RoundingMethod = RoundingMethod.NEAREST

    def refuse(self, column: Column) -> str | None:
        if reason := super().refuse(column):
            return reason
        if column.type is ValueType.INTEGER and _places(self.base):
            return f"integers stay integers under rounding; column '{column.name}' needs a whole number as base"
        if self.method is RoundingMethod.CONTROLLED and column.missing:
            return f"controlled rounding has no rule for missing values; column '{column.name}' has {column.missing}"
        return None

    @property
    def moves_by(self) -> float:
        """The base."""
        return float(self.base)

    def bind(self, column: Column, context: Context) -> RoundStep:
        steps: dict[RoundingMethod, type[RoundStep]] = {
            RoundingMethod.NEAREST: NearestRoundStep,
            RoundingMethod.RANDOM: RandomRoundStep,
            RoundingMethod.CONTROLLED: ControlledRoundStep,
        }
        return steps[self.method](column, self.base, context.stream)

    def leaves(self, column: Column) -> Column:
        if column.type is ValueType.INTEGER:
            return replace(column, storage=pl.Int64())
        return replace(column, storage=pl.Float64(), scale=_places(self.base))


@dataclass(frozen=True)
class RoundStep(ColumnStep):
    """A value is ``quotient`` times the base and a ``rest``, both whole numbers of units."""

    base: Decimal
    stream: Stream

    def apply(self, frame: pl.DataFrame) -> pl.DataFrame:
        units = self._units(self.column.numbers(frame[self.column.name]))
        parts = pl.DataFrame({"quotient": units // self.base_units, "rest": units % self.base_units})
        multiples = parts["quotient"] + self._up(parts, frame)
        return frame.with_columns(self._value(multiples).alias(self.column.name))

    @abstractmethod
    def _up(self, parts: pl.DataFrame, frame: pl.DataFrame) -> pl.Series:
        """Whether each value goes to its upper neighbour: 1 or 0, null where the value is."""

    @property
    def digits(self) -> int:
        """Decimals of a unit: those of the column, as far as the base leaves digits for them."""
        if self.column.type is ValueType.INTEGER:
            return 0
        spare = DIGITS - max(0, self.base.adjusted() + 1)
        return max(_places(self.base), min(self.column.scale, spare))

    @property
    def base_units(self) -> int:
        return int(self.base.scaleb(self.digits))

    def _units(self, numbers: pl.Series) -> pl.Series:
        units = numbers * 10**self.digits if self.digits else numbers
        huge = int((~units.is_between(-LARGEST, LARGEST)).sum())
        if huge:
            raise DataError(f"column '{self.column.name}': {huge} number(s) are too large to be rounded to this base")
        return units.round(0).cast(pl.Int64) if units.dtype.is_float() else units

    def _value(self, multiples: pl.Series) -> pl.Series:
        if self.column.type is ValueType.INTEGER:
            return multiples * int(self.base)
        places = _places(self.base)
        units = (multiples * int(self.base.scaleb(places))).cast(pl.Float64)
        # The float nearest to a decimal is the quotient of two exact numbers. Polars would multiply by 1 ÷ the divisor
        # if that were one number, and make 3 ÷ 10 a little more than 0.3.
        return units / pl.Series([10.0**places]).new_from_index(0, len(units))


@dataclass(frozen=True)
class NearestRoundStep(RoundStep):
    def _up(self, parts: pl.DataFrame, frame: pl.DataFrame) -> pl.Series:
        rest, gap = pl.col("rest"), self.base_units - pl.col("rest")
        above = (rest > gap) | ((rest == gap) & (pl.col("quotient") >= 0))
        return parts.select(above.cast(pl.Int64)).to_series()


@dataclass(frozen=True)
class RandomRoundStep(RoundStep):
    def _up(self, parts: pl.DataFrame, frame: pl.DataFrame) -> pl.Series:
        draws = pl.Series(self.stream.uniform(frame[ROW].to_numpy()))
        return (draws * self.base_units < parts["rest"]).cast(pl.Int64)


@dataclass(frozen=True)
class ControlledRoundStep(RoundStep):
    scope: ClassVar[Scope] = Scope.TABLE

    def _up(self, parts: pl.DataFrame, frame: pl.DataFrame) -> pl.Series:
        if parts["rest"].null_count():
            raise DataError(
                f"column '{self.column.name}': controlled rounding has no rule for missing values; "
                f"there are {parts['rest'].null_count()}"
            )
        base, rest = self.base_units, pl.col("rest").cast(pl.Int128)
        rests = parts.select(rest.sum()).item()
        total = parts.select((pl.col("quotient").cast(pl.Int128) * base).sum()).item() + rests
        to_round_up = _nearest(total, base) - (total - rests) // base
        if to_round_up * base <= rests:
            return self._sample(parts.select(weight=rest), to_round_up)
        between = pl.col("rest") > 0
        to_round_down = parts.select(between.sum()).item() - to_round_up
        down = self._sample(parts.select(weight=pl.when(between).then(base - rest).otherwise(0)), to_round_down)
        return parts.select(between.cast(pl.Int64)).to_series() - down

    def _sample(self, weights: pl.DataFrame, size: int) -> pl.Series:
        """Systematic sampling: ``size`` records marked 1, each with a chance in proportion to its weight.

        Whole numbers of 128 bits: with floats the last record could be missed.
        """
        total = weights["weight"].sum()
        if not total:
            return pl.zeros(weights.height, pl.Int64, eager=True)
        high, low = (int(word) for word in self.stream.words(np.zeros(1, dtype=np.uint64))[0])
        start = ((high << 64) + low) % total
        size_, start_, total_ = (pl.lit(number, pl.Int128) for number in (size, start, total))
        passed = (pl.col("weight").cum_sum() * size_ + start_) // total_
        return weights.select(passed.diff().fill_null(passed).cast(pl.Int64)).to_series()


def _nearest(total: int, base: int) -> int:
    """The multiple of the base nearest to the total, as a number of bases; ties away from zero."""
    quotient, rest = divmod(total, base)
    return quotient + (2 * rest > base or (2 * rest == base and total >= 0))


def _places(base: Decimal) -> int:
    return max(0, -int(base.normalize().as_tuple().exponent))
