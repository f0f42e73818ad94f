"""What attacks on a synthetic table have before them: the table, the people it was made from, and others.

Both groups of people are samples of one population, and only the one was learned from. So whatever a fair synthesiser
does, it does to both alike; what happens more often to the first is the table's own doing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import polars as pl

from shoal.attack.result import NothingToTryError
from shoal.attack.synthetic.mixed_distances import MixedPoints, Neighbours, PointSet
from shoal.kernels.arrays import Floats
from shoal.randomness import Randomness, Stream

TRIALS = 2_000
"""People of either group that distances are worked out for, at most."""
MOST_SYNTHETIC = 50_000
"""Synthetic records that distances are worked out to, at most."""


@dataclass(frozen=True)
class SyntheticTables:
    """Three tables with the same columns of the same types."""

    synthetic: pl.DataFrame = field(repr=False)
    original: pl.DataFrame = field(repr=False)
    control: pl.DataFrame | None = field(default=None, repr=False)
    """People of the same population who were not learned from."""
    targets: tuple[str, ...] = ()
    """What an attacker wants to know."""
    identifying: Mapping[str, tuple[pl.Series, pl.Series, pl.Series | None]] = field(default_factory=dict, repr=False)
    """Columns that name people, in the same order of tables; they are no columns of these."""


@dataclass(frozen=True)
class SyntheticScene:
    tables: SyntheticTables
    randomness: Randomness
    trials: int = TRIALS

    def stream(self, *purpose: str) -> Stream:
        return self.randomness.stream("attack", "synthetic", *purpose)

    def drawn(self, frame: pl.DataFrame, purpose: str, most: int) -> pl.DataFrame:
        """So many records of the table, by lot, in order."""
        if frame.height <= most:
            return frame
        return frame[np.sort(self.stream("draw", purpose).permutation(frame.height)[:most])]

    @property
    def control(self) -> pl.DataFrame:
        if self.tables.control is None or not self.tables.control.height:
            raise NothingToTryError(
                "it can't be judged without a control group", advice="give people who were not learned from"
            )
        return self.tables.control

    @cached_property
    def members(self) -> pl.DataFrame:
        return self.drawn(self.tables.original, "members", self.trials)

    @cached_property
    def strangers(self) -> pl.DataFrame:
        """None at all where there is no control group."""
        control = self.tables.control
        return self.members.clear() if control is None else self.drawn(control, "strangers", self.trials)

    @cached_property
    def records(self) -> pl.DataFrame:
        return self.drawn(self.tables.synthetic, "records", MOST_SYNTHETIC)

    @cached_property
    def people(self) -> pl.DataFrame:
        """Members, then strangers."""
        return pl.concat([self.members, self.strangers])

    @cached_property
    def points(self) -> MixedPoints:
        return MixedPoints.of(self.tables.original)

    def nearest(
        self, people: pl.DataFrame, records: pl.DataFrame, names: Sequence[str], *, neighbours: int = 1, ties: str = ""
    ) -> Neighbours:
        """The records that are nearest to each of the people by these columns; of equally near ones, by lot."""
        order = self.stream("ties", ties).permutation(records.height)
        asked, among = (PointSet.of(frame, self.points, names) for frame in (people, records[order]))
        found = asked.nearest(among, neighbours)
        return Neighbours(found.distances, order[found.places])

    @cached_property
    def to_synthetic(self) -> Neighbours:
        """The two nearest synthetic records of all people who are judged, by all columns."""
        return self.nearest(self.people, self.records, self.people.columns, neighbours=2)

    def split(self, values: Floats) -> tuple[Floats, Floats]:
        """What belongs to members, and to strangers."""
        return values[: self.members.height], values[self.members.height :]
