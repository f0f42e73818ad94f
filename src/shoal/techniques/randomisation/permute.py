"""Permutation, also called swapping or shuffling (ISO/IEC 20889, 9.7.3; MeitY 2.2.4; PDPC annex A).

The values of a column are dealt out again among the records, so the column keeps its exact distribution while a value
no longer says whose it is. Each order is equally likely: records are sorted by random 64-bit keys of their own.

- ``with: [columns]`` move along, so that what a record says in these columns together stays true of someone.
- ``within: [columns]`` keeps values inside strata (sex, district), so that no impossible pairs arise. The smaller the
  stratum, the weaker the protection.
- ``rank: share`` is rank swapping in buckets (Nin, Herranz and Torra, 2008): the records of a stratum, sorted by the
  value, are cut into runs of nearly equal length, at most share · n + 1, and values are dealt out inside a run. So no
  value moves by more than share · n ranks, correlations with other columns survive roughly, and even one who knows
  all original values finds a record's own with probability 1/length only. It needs an order and refuses missing values.
- ``derange: true`` is the true swap: no record is dealt the value from its own place. A stratum is dealt again until
  that holds (e ≈ 2.7 times on average), which makes all derangements equally likely. Equal values may still meet: a
  column of many equal values hides little. A stratum of a single record can't be deranged and is an error.

A direct identifier is refused: every name would still stand in the table, if beside another record.

Missing values are dealt out like any other. The random key must stay secret and isn't kept: the order can't be undone.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from typing import ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pydantic import Field

from shoal.errors import DataError
from shoal.kernels.arrays import Integers
from shoal.randomness import Stream
from shoal.schema.columns import ROW, Column
from shoal.schema.roles import Role
from shoal.schema.steps import RankRule
from shoal.techniques.base import EACH_PARTIALLY, Context, Scope, Step, table_a1
from shoal.techniques.randomisation.joint_columns import JointTechnique
from shoal.techniques.strata import places_within, random_order, stratum_codes

_TIES_LANE = 1 << 32
"""Equal values are ranked at random, by a lane that no dealing reaches."""


class Permute(JointTechnique):
    key = "permute"
    facts = table_a1(
        "Permutation", "9.7.3", EACH_PARTIALLY, truthful=False, roles=frozenset({Role.DIRECT, Role.QUASI}), random=True
    )

    with_: tuple[str, ...] = Field(default=(), alias="with")
    within: tuple[str, ...] = ()
    rank: float | None = Field(default=None, gt=0, le=1)
    derange: bool = False

    def refuse(self, column: Column) -> str | None:
        if reason := super().refuse(column):
            return reason
        if column.name in self.also_reads():
            return f"column '{column.name}' can't be permuted with or within itself"
        if self.rank and not (column.is_number or column.is_date):
            return f"rank swapping needs numbers or dates to sort; column '{column.name}' is {column.type}"
        if self.rank and column.missing:
            return f"a missing value has no rank; column '{column.name}' has {column.missing}"
        return None

    def bind(self, column: Column, context: Context) -> PermuteStep:
        return PermuteStep(column, self.with_, self.within, self.rank, self.derange, context.stream)


@dataclass(frozen=True)
class PermuteStep(Step):
    """
    >>> frame = pl.DataFrame({ROW: pl.Series(range(4), dtype=pl.UInt64), "job": ["cook", "nurse", "clerk", "judge"]})
    >>> moved = Permute(derange=True).bind(Column("job"), Context({}, Stream(bytes(32)))).apply(frame)
    >>> sorted(moved["job"]) == sorted(frame["job"]), (moved["job"] == frame["job"]).any()
    (True, False)
    """

    scope: ClassVar[Scope] = Scope.TABLE

    column: Column
    together: tuple[str, ...]
    within: tuple[str, ...]
    rank: float | None
    derange: bool
    stream: Stream

    @property
    def reads(self) -> tuple[str, ...]:
        return (self.column.name, *self.together, *self.within)

    @property
    def apart(self) -> tuple[str, ...] | None:
        return self.within or None

    @property
    def ranks(self) -> RankRule | None:
        if self.within or self.rank is not None or self.derange:
            return None
        return RankRule(deals=(self.column.name, *self.together))

    def order_key(self, rows: NDArray[np.uint64]) -> NDArray[np.uint64]:
        return self.stream.words(rows)[:, 0]

    def apply(self, frame: pl.DataFrame) -> pl.DataFrame:
        if frame.is_empty():
            return frame
        rows = frame[ROW].to_numpy()
        strata = stratum_codes(frame, self.within)
        if self.rank is not None:
            strata = self._runs(frame[self.column.name], strata, rows, self.rank)
        origin = self._deranged(strata, rows) if self.derange else self._dealt(strata, rows, lane=0)
        return frame.with_columns(frame[name].gather(origin) for name in (self.column.name, *self.together))

    def _dealt(self, strata: Integers, rows: NDArray[np.uint64], lane: int) -> Integers:
        """For each record the place that its new value comes from, in the same stratum."""
        origin = np.empty(len(strata), dtype=np.int64)
        origin[np.argsort(strata, kind="stable")] = random_order(strata, self.stream.words(rows, lane)[:, 0])
        return origin

    def _deranged(self, strata: Integers, rows: NDArray[np.uint64]) -> Integers:
        self._refuse_lonely(strata)
        origin = np.arange(len(strata))
        for lane in count():
            unmoved = np.zeros(int(strata.max()) + 1, dtype=np.bool_)
            unmoved[strata[origin == np.arange(len(strata))]] = True
            again = np.flatnonzero(unmoved[strata])
            if not again.size:
                break
            origin[again] = again[self._dealt(strata[again], rows[again], lane)]
        return origin

    def _refuse_lonely(self, strata: Integers) -> None:
        if lonely := np.count_nonzero(np.bincount(strata) == 1):
            raise DataError(
                f"column '{self.column.name}': {lonely} record(s) are alone in their stratum, with no one to swap with",
                advice="use fewer or coarser columns in 'within', or a larger share for 'rank'",
            )

    def _runs(self, values: pl.Series, strata: Integers, rows: NDArray[np.uint64], share: float) -> Integers:
        """Finer strata: runs of neighbours in rank, equally long but for one."""
        size = np.bincount(strata)
        reach = np.floor(share * size).astype(np.int64)
        if short := np.count_nonzero(reach == 0):
            raise DataError(
                f"column '{self.column.name}': a rank share of {share:g} reaches no other record in {short} strata",
                advice="use a larger share, or fewer columns in 'within'",
            )
        runs = -(-size // (reach + 1))
        ties = self.stream.words(rows, _TIES_LANE)[:, 0]
        place = places_within(strata, np.lexsort((ties, self._sortable(values), strata)))
        return np.asarray((np.cumsum(runs) - runs)[strata] + place * runs[strata] // size[strata])

    def _sortable(self, values: pl.Series) -> NDArray[np.generic]:
        read = self.column.dates(values).to_physical() if self.column.is_date else self.column.numbers(values)
        if missing := read.null_count():
            raise DataError(f"column '{self.column.name}': {missing} missing value(s) have no rank")
        return read.to_numpy()
