"""Decoys (PDPC annex C, "synthetic data can also be created to achieve k-anonymity"; ISO/IEC 20889, 9.8).

Invented records join the classes that are too small, so that nobody's record can be told from k − 1 others. Which
classes get how many is settled beforehand (``solve.decoys``); here the records are made.

- *Quasi-identifiers* are the released cells of the class, the same as its real records show.
- *Every other column* is drawn by itself from its distribution in the whole released table, as it is counted after all
  techniques: P(value) = records with it ÷ records. Drawing from the class would repeat the few real people in it, and a
  class of one would have its sensitive value confirmed k times over. Drawing several columns from one real record would
  make a twin of it.
- *Places* say nothing: the whole table is put in a random order, decoys and all.

Protection stands and falls with decoys that can't be recognised: for whoever can, the class shrinks back to its real
people. Two things give decoys away. A decoy only says what someone else says too, so a real record with *a value of its
own* (an exact salary, a receipt number) shows that it is real: there may be few such records, or the step is refused.
Columns that *depend on each other or on the class* (pregnant men, pensioners at school) can't be drawn by themselves
without absurd pairs: merge, generalise or suppress them. For the same reason pseudonyms can't be released with decoys.

The table is no longer truthful at record level: counts are too high by the decoys, which are therefore to be stated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pydantic import Field

from shoal.errors import BugError, DataError
from shoal.randomness import Stream
from shoal.schema.columns import ROW
from shoal.schema.counts import Counts
from shoal.schema.parameters import Parameters
from shoal.techniques.base import ANY_ROLE, ANY_TYPE, Context, Facts, Lowers, Scope, Step

LONE_SHARE = 0.05
"""The share of records that may show by a value of their own that they are real, all drawn columns together."""

_ORDER_LANE, _PERSON_LANE = 1 << 32, 1 << 33
"""Beyond the lanes of the columns."""


class Decoys(Parameters):
    """Written as ``solve: {decoys: {limit: 0.05}}``."""

    facts: ClassVar[Facts] = Facts(
        title="Decoy records",
        clause="PDPC annex C; ISO/IEC 20889, 9.8",
        truthful=False,
        types=ANY_TYPE,
        roles=ANY_ROLE,
        singling_out=Lowers.PARTIALLY,
        linking=Lowers.PARTIALLY,
        inference=Lowers.PARTIALLY,
        random=True,
    )

    limit: float = Field(gt=0, le=1, description="How many decoys there may be per original record.")

    def wants(self, released: Sequence[str], quasi: Sequence[str]) -> tuple[tuple[str, ...], ...]:
        """The columns whose counts it needs: all that are released, quasi-identifiers apart."""
        return tuple((name,) for name in released if name not in quasi)

    def bind(self, cells: pl.DataFrame, context: Context) -> DecoysStep:
        """``cells`` has a line for each decoy: its quasi-identifiers, as the released table shows them."""
        drawn = {name: counts for (name,), counts in context.counts.items()}
        if set(drawn) & set(cells.columns):
            raise BugError("a column of a decoy is either drawn or given by its class")
        _refuse_lone(drawn)
        rows = np.arange(cells.height, dtype=np.uint64)
        columns = [_drawn(name, drawn[name], context.stream.words(rows, lane)[:, 0]) for lane, name in enumerate(drawn)]
        if context.person is not None:
            columns.append(pl.Series(context.person, context.stream.words(rows, _PERSON_LANE)[:, 0]))
        return DecoysStep(cells.with_columns(columns), context.stream)


@dataclass(frozen=True)
class DecoysStep(Step):
    """
    >>> people = pl.DataFrame({"age": ["30-39"], "ward": ["B"], ROW: pl.Series([0], dtype=pl.UInt64)})
    >>> wards = Counts.from_frame(pl.DataFrame({"ward": ["A"], "n": [8]}), ("ward",), "n")
    >>> context = Context({}, Stream(bytes(32)), {("ward",): wards})
    >>> step = Decoys(limit=1).bind(people.select("age"), context)
    >>> step.apply(people).sort("ward").rows()
    [('30-39', 'A', 1), ('30-39', 'B', 0)]
    """

    scope: ClassVar[Scope] = Scope.INSERT

    decoys: pl.DataFrame = field(repr=False, compare=False)
    stream: Stream

    @property
    def reads(self) -> tuple[str, ...]:
        return ()

    @property
    def inserts(self) -> pl.DataFrame:
        return self.decoys

    def order_key(self, rows: NDArray[np.uint64]) -> NDArray[np.uint64]:
        return self.stream.words(rows, _ORDER_LANE)[:, 0]

    def apply(self, frame: pl.DataFrame) -> pl.DataFrame:
        first = 0 if frame.is_empty() else int(frame[ROW][-1]) + 1
        places = pl.int_range(first, first + self.decoys.height, dtype=pl.UInt64, eager=True).alias(ROW)
        joining = self.decoys.with_columns(places).select(frame.columns).cast(frame.schema)
        joined = pl.concat([frame, joining])
        rows = joined[ROW].to_numpy()
        return joined[np.lexsort((rows, self.order_key(rows)))]


def lone_share(counts: Counts) -> float:
    """The share of records that have a value of their own.

    >>> lone_share(Counts.from_frame(pl.DataFrame({"ward": ["A", "B"], "n": [3, 1]}), ("ward",), "n"))
    0.25
    """
    return float((counts.records == 1).sum() / max(1, counts.total_records))


def _refuse_lone(drawn: Mapping[str, Counts]) -> None:
    shares = {name: lone_share(counts) for name, counts in drawn.items()}
    if sum(shares.values()) <= LONE_SHARE:
        return
    worst = sorted((name for name in shares if shares[name]), key=lambda name: -shares[name])
    listed = ", ".join(f"'{name}' ({shares[name]:.1%} of the records)" for name in worst)
    raise DataError(
        f"solve.decoys: too many records have a value of their own, which tells them from decoys: {listed}",
        advice="round, generalise or suppress these columns",
    )


def _drawn(name: str, counts: Counts, words: NDArray[np.uint64]) -> pl.Series:
    """One value of the column for each random word, as likely as it is frequent."""
    last = np.cumsum(counts.records).astype(np.uint64)
    places = np.searchsorted(last, words % last[-1], side="right")
    return counts.values[0].gather(counts.codes[places, 0]).alias(name)
