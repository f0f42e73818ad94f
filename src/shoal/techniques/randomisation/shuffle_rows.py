"""Reshuffling the records (T-15; PDPC "order in which the data is presented"): their order in the output says nothing.

A source sorted by name, time or salary gives away what was removed from it: the neighbours of a record, or its place,
tell the value. All records are put in a random order, each order equally likely; the records themselves don't change.

The step permutes a frame that fits in memory. For larger tables an engine can scatter records into buckets by
``order_key`` and sort each bucket: the result is the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pydantic import model_validator

from shoal.randomness import Stream
from shoal.schema.columns import ROW
from shoal.techniques.base import LINKING_AND_INFERENCE, Context, Scope, Stage, Step, TableTechnique, table_a1


class ShuffleRows(TableTechnique):
    """Written as ``shuffle_rows: true``; ``false`` is the same as leaving it out."""

    key = "shuffle_rows"
    stage = Stage.AFTER_SOLVING
    turn = 90
    facts = table_a1("Reshuffling of records", "9.7.3", LINKING_AND_INFERENCE, random=True)

    enabled: bool = True

    @model_validator(mode="before")
    @classmethod
    def _from_bool(cls, given: object) -> object:
        return {"enabled": given} if isinstance(given, bool) else given

    def columns(self, person: str | None) -> tuple[str, ...]:
        return ()

    def bind(self, context: Context) -> ShuffleRowsStep:
        return ShuffleRowsStep(context.stream)


@dataclass(frozen=True)
class ShuffleRowsStep(Step):
    """The one step that changes the order of records. ``ROW`` moves along."""

    scope: ClassVar[Scope] = Scope.ORDER

    stream: Stream

    @property
    def reads(self) -> tuple[str, ...]:
        return ()

    def order_key(self, rows: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """A record's random place: records are written in ascending order of this key, then of their row number."""
        return self.stream.words(rows)[:, 0]

    def apply(self, frame: pl.DataFrame) -> pl.DataFrame:
        rows = frame[ROW].to_numpy()
        return frame[np.lexsort((rows, self.order_key(rows)))]
