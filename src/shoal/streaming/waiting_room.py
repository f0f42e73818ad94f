"""The records that wait for a class: taken in, let out in classes of enough people, bounded by the delay.

Nobody leaves alone. A class that meets the models on the finest level leaves as soon as it is there; a record whose
delay is up leaves in the least wide class that meets them, with all that wait and belong to it, or is suppressed. Each
class that leaves meets the models by itself, whatever left before: who knows when somebody came learns nothing more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import polars as pl

from shoal.errors import DataError
from shoal.kernels.arrays import Floats, Integers, Mask
from shoal.plan.hidden_columns.person_tag import PERSON
from shoal.privacy.near_identity import nearness
from shoal.schema import ROW, Column
from shoal.streaming.binding import StreamPlan
from shoal.streaming.classing import WaitingRecords, released_classes
from shoal.streaming.request import StreamDelay
from shoal.streaming.sources.base import RawRecord
from shoal.streaming.state import Positions, StreamCounts

_TRIED: Final = 1_000
"""Values of a direct identifier on which it is tried whether its technique changes anything."""


@dataclass(frozen=True)
class WaitingTable:
    """What waits, record beside record."""

    frame: pl.DataFrame
    """What is released of them besides quasi-identifiers, and their positions."""
    numbers: Integers
    people: Integers | None
    ordinal: Integers
    """Which of all records it was."""
    since: Floats
    """When its delay began, in seconds: when it was read, or its own time."""

    def __len__(self) -> int:
        return len(self.ordinal)

    def at(self, kept: Mask) -> WaitingTable:
        return WaitingTable(
            self.frame.filter(pl.Series(kept)),
            self.numbers[kept],
            None if self.people is None else self.people[kept],
            self.ordinal[kept],
            self.since[kept],
        )

    def beside(self, other: WaitingTable) -> WaitingTable:
        people = None
        if self.people is not None and other.people is not None:
            people = np.concatenate((self.people, other.people))
        return WaitingTable(
            pl.concat((self.frame, other.frame)),
            np.concatenate((self.numbers, other.numbers)),
            people,
            np.concatenate((self.ordinal, other.ordinal)),
            np.concatenate((self.since, other.since)),
        )


class WaitingRoom:
    def __init__(self, plan: StreamPlan, delay: StreamDelay, event_time: str | None = None, late: float = 0.0) -> None:
        self.plan, self.delay, self.late = plan, delay, late
        self.event_time: Column | None = None if event_time is None else plan.shape.columns[event_time]
        if self.event_time is not None and not (self.event_time.is_date or self.event_time.is_number):
            raise DataError(
                f"column '{event_time}' is {self.event_time.type}, and can't be the time of records",
                advice="declare it, e.g. `type: datetime`",
            )
        self._waiting: WaitingTable | None = None
        self._came = 0
        self._newest = -np.inf
        """The latest time of any record so far."""
        self._tried = not plan.identifiers

    @property
    def positions(self) -> Positions:
        """Of the records that wait."""
        return np.empty(0, dtype=np.uint64) if self._waiting is None else self._waiting.frame[ROW].to_numpy()

    def __len__(self) -> int:
        return 0 if self._waiting is None else len(self._waiting)

    def next_due(self, now: float) -> float | None:
        """In how many seconds the delay of the first record is up by the clock; None where no clock is asked."""
        if self.delay.seconds is None:
            return None
        if self.event_time is not None or self._waiting is None or not len(self._waiting):
            return self.delay.seconds
        return max(0.0, float(self._waiting.since.min()) + self.delay.seconds - now)

    def take_in(self, records: Sequence[RawRecord | None], positions: Positions, now: float) -> StreamCounts:
        frame, places = self.plan.shape.frame(records)
        frame = frame.with_columns(pl.Series(ROW, positions[places], dtype=pl.UInt64()))
        counts = StreamCounts(read=len(records), unreadable=len(records) - len(frame))
        times = np.full(len(frame), now)
        if self.event_time is not None:
            frame, times, timed = self._in_time(frame, self.event_time)
            counts += timed
        frame = frame.with_columns(pl.Series(_SINCE, times))
        treated, failed = self._treated(frame if self.plan.tag is None else self.plan.tag.apply(frame))
        self._try_identifiers(frame, treated)
        counts += StreamCounts(unreadable=failed, excluded=len(frame) - failed - len(treated))
        arrived, unknown = self._arrived(treated)
        self._waiting = arrived if self._waiting is None else self._waiting.beside(arrived)
        return counts + StreamCounts(unknown=unknown)

    def _in_time(self, frame: pl.DataFrame, column: Column) -> tuple[pl.DataFrame, Floats, StreamCounts]:
        """Those that are not too late. What is late is known of each record by those before it, however many are
        read together.
        """
        times = _seconds(frame[column.name], column)
        known = ~np.isnan(times)
        frame, times = frame.filter(pl.Series(known)), times[known]
        newest = np.maximum.accumulate(np.concatenate(([self._newest], times)))
        on_time = times >= newest[:-1] - self.late
        self._newest = float(newest[-1])
        counts = StreamCounts(late=int((~on_time).sum()), unreadable=int((~known).sum()))
        return frame.filter(pl.Series(on_time)), times[on_time], counts

    def _treated(self, frame: pl.DataFrame) -> tuple[pl.DataFrame, int]:
        """What the techniques make of the records, and how many they can't be applied to."""
        try:
            done = frame
            for step in self.plan.steps:
                done = step.apply(done)
        except DataError:
            if len(frame) == 1:
                return self._treated(frame.clear())[0], 1
            half = len(frame) // 2
            parts = [self._treated(part) for part in (frame.head(half), frame.tail(-half))]
            return pl.concat([part for part, _ in parts]), sum(failed for _, failed in parts)
        return done, 0

    def _try_identifiers(self, before: pl.DataFrame, after: pl.DataFrame) -> None:
        """A direct identifier whose technique changes nothing in effect is refused before anything has left."""
        if self._tried or not len(after):
            return
        self._tried = True
        before = before.filter(before[ROW].is_in(after[ROW].implode())).head(_TRIED)
        for name in self.plan.identifiers:
            found = nearness(before[name], after[name].head(_TRIED), records=len(after))
            if found.changes_nothing:
                raise DataError(
                    f"attributes.{name}: is a direct identifier, and too much of it is left: "
                    f"{max(found.told, found.elsewhere):.0%} of {found.records:,} values that were tried can be told",
                    advice="suppress or pseudonymise",
                )

    def _arrived(self, treated: pl.DataFrame) -> tuple[WaitingTable, int]:
        numbers = np.empty((len(treated), len(self.plan.books)), dtype=np.int64)
        for place, book in enumerate(self.plan.books):
            numbers[:, place] = book.number(treated[book.column.name])
        known: Mask = np.asarray((numbers >= 0).all(axis=1))
        ordinal = np.arange(self._came, self._came + len(treated), dtype=np.int64)
        self._came += len(treated)
        kept = [*(name for name in self.plan.released if name not in self.plan.quasi), ROW]
        people = None if self.plan.tag is None else treated[PERSON].fill_null(0).to_numpy().view(np.int64)
        table = WaitingTable(treated.select(kept), numbers, people, ordinal, treated[_SINCE].to_numpy())
        return table.at(known), int((~known).sum())

    def let_out(self, now: float, *, ended: bool) -> tuple[pl.DataFrame, StreamCounts]:
        """The records that leave now, in the columns of the output, in random order."""
        waiting = self._waiting
        if waiting is None or not len(waiting):
            return pl.DataFrame(), StreamCounts()
        due = np.ones(len(waiting), dtype=bool) if ended else self._due(waiting, now)
        if self.plan.quasi:
            frame, counts, leaves = self._in_classes(waiting, due)
        else:
            frame, counts, leaves = waiting.frame, StreamCounts(published=len(waiting)), np.ones(len(waiting), bool)
        self._waiting = waiting.at(~leaves)
        self._compact()
        return self.plan.shuffle.apply(frame).select(self.plan.released), counts

    def _due(self, waiting: WaitingTable, now: float) -> Mask:
        """By when the next batch has come, the delay would be over."""
        due = waiting.ordinal < self._came - (self.delay.records - self.delay.batch)
        if self.delay.seconds is None:
            return due
        clock = now if self.event_time is None else self._newest - self.late
        return due | (waiting.since + self.delay.seconds <= clock)

    def _in_classes(self, waiting: WaitingTable, due: Mask) -> tuple[pl.DataFrame, StreamCounts, Mask]:
        plan = self.plan
        sensitive = {name: _numbered(waiting.frame[name]) for name in plan.sensitive}
        records = WaitingRecords(waiting.numbers, waiting.people, sensitive)
        found = released_classes(records, due, plan.books, plan.nodes, plan.models)
        published: Mask = found.node >= 0
        suppressed: Mask = due & (found.node < 0)
        left: Mask = published | suppressed
        shown = published if plan.drop_suppressed else left
        top = np.array([[book.height for book in plan.books]], dtype=np.int64)
        levels = np.concatenate((np.array(plan.nodes, dtype=np.int64).reshape(-1, len(plan.books)), top))
        node = levels[found.node[shown]]
        leaving = waiting.at(shown)
        labels = [_labels(plan, place, leaving.numbers[:, place], node[:, place]) for place in range(len(plan.books))]
        gone = int(suppressed.sum())
        counts = StreamCounts(
            published=int(published.sum()),
            suppressed=gone,
            classes=found.classes,
            levels=float((levels[found.node[left]] / top).sum()),
            cells=(int(published.sum()) + gone) * len(plan.books),
        )
        return leaving.frame.with_columns(labels), counts, left

    def _compact(self) -> None:
        if self._waiting is None:
            return
        numbers = self._waiting.numbers
        for place, book in enumerate(self.plan.books):
            numbers[:, place] = book.compacted(numbers[:, place])
        self._waiting = replace(self._waiting, numbers=numbers)


_SINCE: Final = "__shoal_since__"


def _labels(plan: StreamPlan, place: int, numbers: Integers, levels: Integers) -> pl.Series:
    """The label of each record's value on the level of its class."""
    book = plan.books[place]
    found = pl.Series(book.column.name, [None], dtype=pl.String()).new_from_index(0, len(numbers))
    for level in np.unique(levels).tolist():
        here = np.flatnonzero(levels == level)
        found = found.scatter(here, book.labels(numbers[here], level))
    return found


def _numbered(values: pl.Series) -> Integers:
    return values.rank("dense").fill_null(0).cast(pl.Int64).to_numpy()


def _seconds(values: pl.Series, column: Column) -> Floats:
    """Times as seconds; NaN for a missing one."""
    if column.is_number:
        return column.numbers(values).cast(pl.Float64).fill_null(np.nan).to_numpy()
    micros = column.dates(values).cast(pl.Datetime("us")).to_physical().cast(pl.Float64)
    return (micros / 1e6).fill_null(np.nan).to_numpy()
