"""Microaggregation of traces (ISO/IEC 20889, 9.7.4; Domingo-Ferrer and Trujillo-Rasua 2012): k people, one trace.

Time is cut into slots of ``minutes``; a person's place in a slot is that of their first point in it. The distance of
two traces is the root of the mean squared metres between them in the slots that both have, divided by the share of
these among the slots that either has: who was elsewhere in time is far away. Groups are formed much as by MDAV:
around the person who is farthest from the one before, their k − 1 nearest, again and again; the last ones join the
nearest.

Each person of a group then has the group's trace: in every slot that *all* of them have, the mean of their places; all
other points are left out. At least k people have exactly the same places at exactly the same moments, so even one who
knows all of somebody's places finds k. Means are places where perhaps nobody was.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl
from pydantic import Field

from shoal.errors import DataError
from shoal.kernels.arrays import Floats, Integers
from shoal.techniques.base import EACH_PARTIALLY, Context, Step, table_a1
from shoal.techniques.trace_points import METRES_PER_DEGREE, TracePoints, TraceStep, TraceTechnique

MOST_CELLS: Final = 50_000_000
"""People × slots: their places are held in memory, and each round looks at all of them."""


class MicroaggregateTraces(TraceTechnique):
    key = "microaggregate_traces"
    turn = 33
    facts = table_a1("Microaggregation of traces", "9.7.4", EACH_PARTIALLY, truthful=False)

    k: int = Field(ge=2, description="The fewest people with the same trace.")
    minutes: float = Field(60.0, gt=0, le=10_000_000, description="The length of a slot of time.")

    def bind(self, context: Context) -> Step:
        return MicroaggregateTracesStep(self.trace(context), self.k, self.minutes)


@dataclass(frozen=True)
class MicroaggregateTracesStep(TraceStep):
    k: int
    minutes: float

    def apply(self, frame: pl.DataFrame) -> pl.DataFrame:
        points = self._one_in_each_slot(self.trace.read(frame))
        people, person = np.unique(points.person, return_inverse=True)
        slots, slot = np.unique(points.slots(self.minutes), return_inverse=True)
        if len(people) * len(slots) > MOST_CELLS:
            raise DataError(
                f"microaggregate_traces: {len(people):,} people in {len(slots):,} slots of time are too many",
                advice="make slots longer, or split the table",
            )
        places = _TraceMatrix.of(points, person, slot, len(people), len(slots))
        group = trace_groups(places, self.k)
        means, shared = places.means(group)
        here = group[person] >= 0
        here[here] = shared[group[person[here]], slot[here]]
        order = np.flatnonzero(here)[np.argsort(points.rows[here])]
        latitude, longitude = (means[axis][group[person[order]], slot[order]] for axis in (0, 1))
        released = frame[points.rows[order]] if len(order) else frame.clear()
        begun: Floats = slots[slot[order]].astype(np.float64) * (60.0 * self.minutes)
        return released.with_columns(*self.trace.places(latitude, longitude), self.trace.moments(begun))

    def _one_in_each_slot(self, points: TracePoints) -> TracePoints:
        slots = points.slots(self.minutes)
        order = np.lexsort((points.rows, points.seconds, slots, points.person))
        first = np.ones(len(order), dtype=bool)
        first[1:] = (np.diff(points.person[order]) != 0) | (np.diff(slots[order]) != 0)
        return points.at(order[first])


@dataclass(frozen=True)
class _TraceMatrix:
    """Where each person was in each slot; NaN where that is not known."""

    latitude: Floats
    longitude: Floats

    @classmethod
    def of(cls, points: TracePoints, person: Integers, slot: Integers, people: int, slots: int) -> _TraceMatrix:
        latitude, longitude = (np.full((people, slots), np.nan) for _ in range(2))
        latitude[person, slot], longitude[person, slot] = points.latitude, points.longitude
        return cls(latitude, longitude)

    def __len__(self) -> int:
        return len(self.latitude)

    def distances(self, one: int, others: Integers) -> Floats:
        """From one person to others; infinite where they never share a slot."""
        latitude, longitude = self.latitude[others], self.longitude[others]
        north = (latitude - self.latitude[one]) * METRES_PER_DEGREE
        wide = np.cos(np.radians(self.latitude[one]))
        east = ((longitude - self.longitude[one] + 180.0) % 360.0 - 180.0) * METRES_PER_DEGREE * wide
        squared = north**2 + east**2
        both = ~np.isnan(squared)
        either = (~np.isnan(latitude) | ~np.isnan(self.latitude[one])).sum(axis=1)
        shared = both.sum(axis=1)
        mean = np.where(both, squared, 0.0).sum(axis=1) / np.maximum(shared, 1)
        far: Floats = np.where(shared > 0, np.sqrt(mean) * either / np.maximum(shared, 1), np.inf)
        return far

    def means(self, group: Integers) -> tuple[tuple[Floats, Floats], np.ndarray[tuple[int, int], np.dtype[np.bool_]]]:
        """Of each group the mean place in each slot, and whether all of it have one there."""
        number, slots = int(group.max(initial=-1)) + 1, self.latitude.shape[1]
        means = np.full((number, slots), np.nan), np.full((number, slots), np.nan)
        shared = np.zeros((number, slots), dtype=bool)
        for one in range(number):
            members = group == one
            latitude, longitude = self.latitude[members], self.longitude[members]
            shared[one] = ~np.isnan(latitude).any(axis=0)
            first = longitude[0]
            means[0][one] = latitude.mean(axis=0)
            means[1][one] = first + ((longitude - first + 180.0) % 360.0 - 180.0).mean(axis=0)
        return means, shared


def trace_groups(places: _TraceMatrix, k: int) -> Integers:
    """The group of each person; −1 for those who are near to nobody."""
    group = np.full(len(places), -1, dtype=np.int64)
    left = np.arange(len(places), dtype=np.int64)
    number, seed = 0, 0
    while len(left) >= k:
        seed = _farthest(places, seed if number else int(left[0]), left)
        far = places.distances(seed, left)
        far[left == seed] = -1.0
        nearest = np.argsort(far, kind="stable")[:k]
        if np.isinf(far[nearest]).any():
            left = left[left != seed]
            continue
        group[left[nearest]] = number
        number += 1
        left = np.delete(left, nearest)
    _join(places, group)
    return group


def _farthest(places: _TraceMatrix, one: int, left: Integers) -> int:
    """Of those who are left, the one farthest from this one; a never met one is not far but nowhere."""
    far = places.distances(one, left)
    finite = np.where(np.isinf(far), -1.0, far)
    return int(left[np.argmax(finite)])


def _join(places: _TraceMatrix, group: Integers) -> None:
    """Who is in no group joins that of the nearest who was, where there is one."""
    grouped = np.flatnonzero(group >= 0)
    if not len(grouped):
        return
    joined = group.copy()
    for one in np.flatnonzero(group < 0).tolist():
        far = places.distances(one, grouped)
        if np.isfinite(far).any():
            joined[one] = group[grouped[np.argmin(far)]]
    group[:] = joined
