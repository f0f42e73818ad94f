"""Cloaking (ISO/IEC 20889, 9.6 and 12.2): a point becomes the cell of a grid and the slot of time that k people share.

Cells are ``metres`` wide, slots ``minutes`` long. Where at least k people were in a cell in a slot, their points become
its middle, and the beginning of the slot. The others look at the cell twice as wide that theirs is a quarter of, among
those who are left; and so on up to ``largest`` metres. Who is still in a smaller crowd then is left out (adaptive
cloaking, Gruteser and Grunwald 2003, from the smallest cell up).

So each place and moment that is released is that of at least k people, counted as people. It says nothing of a whole
trace: whoever knows where somebody was at three times may be the only one to fit. Suppress the person, or release
points that can't be joined.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil, log2
from typing import Self

import numpy as np
import polars as pl
from pydantic import Field, model_validator

from shoal.kernels.arrays import Mask
from shoal.techniques.base import EACH_PARTIALLY, Context, Step, table_a1
from shoal.techniques.trace_points import MetreGrid, TracePoints, TraceStep, TraceTechnique


class CloakTraces(TraceTechnique):
    key = "cloak_traces"
    turn = 32
    facts = table_a1("Cloaking of traces", "9.6", EACH_PARTIALLY)

    k: int = Field(ge=2, description="The fewest people in a cell and slot.")
    metres: float = Field(250.0, gt=0, le=1_000_000, description="The width of the smallest cells.")
    largest: float = Field(4_000.0, gt=0, le=1_000_000, description="The width up to which cells grow.")
    minutes: float = Field(60.0, gt=0, le=10_000_000, description="The length of a slot of time.")

    @model_validator(mode="after")
    def _grow(self) -> Self:
        if self.largest < self.metres:
            raise ValueError("largest has to be at least metres")
        return self

    def report_notes(self) -> Mapping[str, str]:
        cell = f"the middle of a cell that {self.k} people share"
        return {self.latitude: cell, self.longitude: cell, self.time: f"the beginning of {self.minutes:g} minutes"}

    def bind(self, context: Context) -> Step:
        levels = 1 + ceil(log2(self.largest / self.metres))
        return CloakTracesStep(self.trace(context), self.k, MetreGrid(self.metres, levels), self.minutes)


@dataclass(frozen=True)
class CloakTracesStep(TraceStep):
    k: int
    grid: MetreGrid
    minutes: float

    def apply(self, frame: pl.DataFrame) -> pl.DataFrame:
        left = self.trace.read(frame)
        parts: list[tuple[TracePoints, int]] = []
        for level in range(self.grid.levels):
            crowded = self._crowded(left, level)
            parts.append((left.at(crowded), level))
            left = left.at(~crowded)
        rows = np.concatenate([points.rows for points, _ in parts])
        centres = [self.grid.centres(points, level) for points, level in parts]
        begun = np.concatenate([points.slots(self.minutes) for points, _ in parts]) * (60.0 * self.minutes)
        order = np.argsort(rows)
        latitude, longitude = (np.concatenate([centre[axis] for centre in centres])[order] for axis in (0, 1))
        cloaked = frame[rows[order]] if len(rows) else frame.clear()
        return cloaked.with_columns(*self.trace.places(latitude, longitude), self.trace.moments(begun[order]))

    def _crowded(self, points: TracePoints, level: int) -> Mask:
        """Whose cell and slot at least k of these people share."""
        north, east = self.grid.cells(points, level)
        table = pl.DataFrame({"slot": points.slots(self.minutes), "north": north, "east": east, "who": points.person})
        people = table.select(pl.col("who").n_unique().over("slot", "north", "east")).to_series()
        crowded: Mask = (people >= self.k).to_numpy()
        return crowded
