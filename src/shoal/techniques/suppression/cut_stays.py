"""Stays are cut out of traces: the points around the places where a person spends most time (ISO/IEC 20889, 9.3.4).

The place where somebody's nights are is a home, and a home has a door-plate. Time between two successive points of a
person that lie within ``near`` metres of each other is time spent there; the ``places`` with most of it (the home, then
mostly the place of work) are each cut out with all points within ``radius`` metres, on every day.

A hole with the home in its middle shows the home: the circle through the ends of the rest has it as its centre (Hassan
et al. 2018). So the middle of each hole is moved, at random and once for each person and place, by up to half the
radius: uniform in that disc. Whoever finds the middle of the hole knows the home to within half the radius, and no
better; the radius has to hold enough homes.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np
import polars as pl
from pydantic import Field

from shoal.kernels.arrays import Floats, Integers, Mask
from shoal.randomness import Stream
from shoal.schema.columns import ROW
from shoal.techniques.base import EACH_PARTIALLY, Context, Step, table_a1
from shoal.techniques.trace_points import (
    METRES_PER_DEGREE,
    MetreGrid,
    TracePoints,
    TraceStep,
    TraceTechnique,
    kept,
    metres_between,
)

_SHIFT = 0.5
"""Of the radius: how far the middle of a hole may be from the place."""


class CutStays(TraceTechnique):
    key = "cut_stays"
    turn = 31
    facts = table_a1("Cutting of stays", "9.3.4", EACH_PARTIALLY, random=True)

    radius: float = Field(500.0, gt=0, le=100_000, description="Metres around a place that are cut out.")
    places: int = Field(2, ge=1, le=20, description="How many places of each person, those of the longest stays first.")
    near: float = Field(100.0, gt=0, le=10_000, description="Metres within which somebody has not moved on.")

    def bind(self, context: Context) -> Step:
        return CutStaysStep(self.trace(context), self.radius, self.places, self.near, context.stream)


@dataclass(frozen=True)
class CutStaysStep(TraceStep):
    radius: float
    places: int
    near: float
    stream: Stream

    @property
    def apart(self) -> tuple[str, ...]:
        return (self.trace.person,)

    def apply(self, frame: pl.DataFrame) -> pl.DataFrame:
        points = self.trace.read(frame)
        order = np.lexsort((points.seconds, points.person))
        points = points.at(order)
        spent = self._spent(points)
        ends = np.flatnonzero(np.diff(points.person)) + 1
        rows = frame[ROW].to_numpy()
        left = np.ones(len(points), dtype=bool)
        for first, last in zip((0, *ends), (*ends, len(points)), strict=True):
            theirs = slice(int(first), int(last))
            if theirs.start < theirs.stop:
                own = points.at(np.arange(theirs.start, theirs.stop))
                left[theirs] = ~self._cut(own, spent[theirs], rows[own.rows].min())
        return kept(frame, points.rows[left])

    def _spent(self, points: TracePoints) -> Floats:
        """Seconds up to the next point, where that is near and the same person's."""
        if len(points) < 2:
            return np.zeros(len(points))
        latitude, longitude = points.latitude, points.longitude
        far = metres_between(latitude[:-1], longitude[:-1], latitude[1:], longitude[1:])
        stayed = (far <= self.near) & (np.diff(points.person) == 0)
        return np.append(np.where(stayed, np.diff(points.seconds), 0.0), 0.0)

    def _cut(self, points: TracePoints, spent: Floats, row: np.uint64) -> Mask:
        """The points of one person that are in a hole."""
        gone = np.zeros(len(points), dtype=bool)
        for place in range(self.places):
            spent = np.where(gone, 0.0, spent)
            if not spent.any():
                break
            latitude, longitude = self._longest_stay(points, spent)
            gone |= _within(points, latitude, longitude, self.radius * (1 - _SHIFT))
            gone |= _within(points, *self._moved(latitude, longitude, row, place), self.radius)
        return gone

    def _longest_stay(self, points: TracePoints, spent: Floats) -> tuple[float, float]:
        """The middle of the cell with most time, with its neighbours: a place may lie on the edge of cells."""
        cells: dict[tuple[int, int], float] = defaultdict(float)
        north, east = MetreGrid(self.near, 1).cells(points, 0)
        for y, x, seconds in zip(north.tolist(), east.tolist(), spent.tolist(), strict=True):
            cells[y, x] += seconds
        around = {cell: sum(cells.get(one, 0.0) for one in _neighbours(cell)) for cell in cells}
        best = max(around, key=lambda cell: (around[cell], cell))
        here: Integers = np.flatnonzero((np.abs(north - best[0]) <= 1) & (np.abs(east - best[1]) <= 1) & (spent > 0))
        weights = spent[here]
        return (
            float(np.average(points.latitude[here], weights=weights)),
            float(np.average(points.longitude[here], weights=weights)),
        )

    def _moved(self, latitude: float, longitude: float, row: np.uint64, place: int) -> tuple[float, float]:
        draws = [float(self.stream.uniform(np.array([row], dtype=np.uint64), 2 * place + lane)[0]) for lane in (0, 1)]
        far, turn = self.radius * _SHIFT * np.sqrt(draws[0]), 2 * np.pi * draws[1]
        wide = max(0.01, float(np.cos(np.radians(latitude))))
        return (
            latitude + far * np.cos(turn) / METRES_PER_DEGREE,
            longitude + far * np.sin(turn) / (METRES_PER_DEGREE * wide),
        )


def _neighbours(cell: tuple[int, int]) -> list[tuple[int, int]]:
    return [(cell[0] + y, cell[1] + x) for y in (-1, 0, 1) for x in (-1, 0, 1)]


def _within(points: TracePoints, latitude: float, longitude: float, metres: float) -> Mask:
    middle = np.full(len(points), latitude), np.full(len(points), longitude)
    inside: Mask = metres_between(points.latitude, points.longitude, *middle) <= metres
    return inside
