"""Sampling of traces (ISO/IEC 20889, 9.1.2 and 12.2): of a person's points in each slot of time, one is kept.

A slot is a stretch of ``minutes``, counted from 1970. Which of the points of a slot stays is drawn at random. Thinner
traces show fewer stops, turns and speeds; a daily path can still be told by a few of its points (four do for most
people, de Montjoye et al. 2013), so it is a means beside others: cut stays, cloak.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from pydantic import Field

from shoal.randomness import Stream
from shoal.schema.columns import ROW
from shoal.techniques.base import EACH_PARTIALLY, Context, Step, table_a1
from shoal.techniques.trace_points import TraceStep, TraceTechnique, kept


class SampleTraces(TraceTechnique):
    key = "sample_traces"
    turn = 30
    facts = table_a1("Sampling of traces", "9.1.2", EACH_PARTIALLY, random=True)

    minutes: float = Field(gt=0, le=10_000_000, description="The length of a slot of time.")

    def bind(self, context: Context) -> Step:
        return SampleTracesStep(self.trace(context), self.minutes, context.stream)


@dataclass(frozen=True)
class SampleTracesStep(TraceStep):
    minutes: float
    stream: Stream

    @property
    def apart(self) -> tuple[str, ...]:
        return (self.trace.person,)

    def apply(self, frame: pl.DataFrame) -> pl.DataFrame:
        points = self.trace.read(frame)
        slots = points.slots(self.minutes)
        words = self.stream.words(frame[ROW].to_numpy()[points.rows])[:, 0]
        order = np.lexsort((words, slots, points.person))
        first = np.ones(len(order), dtype=bool)
        first[1:] = (np.diff(points.person[order]) != 0) | (np.diff(slots[order]) != 0)
        return kept(frame, points.rows[order[first]])
