"""Sampling (ISO/IEC 20889, 9.1.2 and 11.2): only a random part of the people is released.

One who knows that a person is in the source can't be sure that a matching record in the sample is theirs. What is
released stays true, and counts scale by 1/fraction.

Simple random sampling without replacement of exactly n = fraction · N, rounded half up: every set of n is equally
likely. With ``within: [columns]`` each stratum gives its own fraction · N_s (so shares between strata are kept, and a
stratum with fraction · N_s < ½ gives nothing). Where the policy names a person column, *people* are sampled and all
records of a person stay or go together; one who appears in several strata belongs to that of their first record; a
record that names no person counts as a person of its own.

Each person is drawn by the random key of their first record, so the draw depends on nothing but the records' positions.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pydantic import Field

from shoal.errors import BugError
from shoal.randomness import Stream
from shoal.schema.column_names import ColumnNames
from shoal.schema.columns import ROW
from shoal.schema.steps import FirstRecordRule, RankRule
from shoal.techniques.base import EACH_PARTIALLY, Context, Scope, Stage, Step, TableTechnique, table_a1
from shoal.techniques.strata import places_within, random_order, stratum_codes


class Sampling(TableTechnique):
    key = "sample"
    stage = Stage.BEFORE_ATTRIBUTES
    turn = 20
    facts = table_a1("Sampling", "9.1.2", EACH_PARTIALLY, random=True)

    fraction: float = Field(gt=0, le=1)
    within: ColumnNames = ()

    def columns(self, person: str | None) -> tuple[str, ...]:
        return self.within

    def bind(self, context: Context) -> Step:
        return SampleStep(self.fraction, self.within, context.person, context.stream)


@dataclass(frozen=True)
class SampleStep(Step):
    scope: ClassVar[Scope] = Scope.TABLE
    drops_records: ClassVar[bool] = True

    fraction: float
    within: tuple[str, ...]
    person: str | None
    stream: Stream

    @property
    def reads(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.within, *((self.person,) if self.person else ()))))

    @property
    def apart(self) -> tuple[str, ...] | None:
        return self.within if self.within and self.person is None else None

    @property
    def ranks(self) -> RankRule | None:
        return None if self.within or self.person else RankRule(draws=partial(_half_up, self.fraction))

    @property
    def leads(self) -> FirstRecordRule | None:
        return FirstRecordRule(self.person, replace(self, person=None)) if self.person else None

    def order_key(self, rows: NDArray[np.uint64]) -> NDArray[np.uint64]:
        return self.stream.words(rows)[:, 0]

    def apply(self, frame: pl.DataFrame) -> pl.DataFrame:
        people = frame.filter(self._is_first())
        drawn = people.filter(self._drawn(people))
        if self.person is None:
            return drawn
        named = frame.filter(pl.col(self.person).is_in(drawn[self.person].drop_nulls().implode()))
        unnamed = drawn.filter(pl.col(self.person).is_null())
        return pl.concat([named, unnamed]).sort(ROW)

    def _is_first(self) -> pl.Expr:
        if self.person is None:
            return pl.lit(value=True)
        return pl.col(self.person).is_first_distinct() | pl.col(self.person).is_null()

    def _drawn(self, people: pl.DataFrame) -> pl.Series:
        strata = stratum_codes(people, self.within)
        place = places_within(strata, random_order(strata, self.order_key(people[ROW].to_numpy())))
        wanted = np.array([_half_up(self.fraction, int(size)) for size in np.bincount(strata)], dtype=np.int64)
        return pl.Series(place < wanted[strata], dtype=pl.Boolean)


def _half_up(fraction: float, size: int) -> int:
    """fraction · size rounded half up, reading the fraction as it was written: 0.285 of 100 is 29.

    >>> _half_up(0.285, 100)
    29
    """
    return int(Fraction(repr(fraction)) * size + Fraction(1, 2))


class IndependentSampling(Sampling):
    """Each record is drawn by itself, so that how many are drawn is left to chance too.

    It is what differential privacy needs: of a sample of exactly n, each record tells something of the others. It has
    no key, since it is the model that brings it along. A record stands for a person.
    """

    def bind(self, context: Context) -> DrawStep:
        if context.person is not None or self.within:
            raise BugError("records are drawn one by one where they are not a person's own, or from strata")
        return DrawStep(self.fraction, context.stream)


@dataclass(frozen=True)
class DrawStep(Step):
    """
    >>> DrawStep(0.5, Stream(bytes(32))).threshold == 2**63
    True
    """

    drops_records: ClassVar[bool] = True

    fraction: float
    stream: Stream

    @property
    def reads(self) -> tuple[str, ...]:
        return ()

    @property
    def threshold(self) -> int:
        """Of 2⁶⁴ words, how many draw a record: rounded down, so that the chance is never above the fraction."""
        return int(Fraction(self.fraction) * 2**64)

    def apply(self, frame: pl.DataFrame) -> pl.DataFrame:
        words = self.stream.words(frame[ROW].to_numpy())[:, 0]
        drawn = words < np.uint64(self.threshold) if self.threshold < 2**64 else np.ones(len(words), dtype=bool)
        return frame.filter(pl.Series(drawn, dtype=pl.Boolean))
