"""Putting back what can be read, and counting again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.kernels.arrays import Integers, Mask
from shoal.measurement.read_back.disclosure_rule import ColumnDisclosure, DisclosureMethod, ReadBack
from shoal.measurement.read_back.levels import Codes, as_text
from shoal.measurement.read_back.readings import ColumnReading, ReleasedView
from shoal.measurement.read_back.search import KnownQuasi, LearntReadings, TrainingRecords, search

STAR = "*"
_PERSON, _SIZE = "__shoal_person", "__shoal_size"


@dataclass(frozen=True)
class Restored:
    """A released table as an attacker sees it who reads back what he can."""

    labels: pl.DataFrame
    """The quasi-identifiers, each on the finest level that is told."""
    told_by: Mapping[str, NDArray[np.int32]] = field(repr=False)
    """Per quasi-identifier, which reading told each record; -1 for none."""
    levels: Mapping[str, NDArray[np.int8]] = field(repr=False)

    @property
    def anything(self) -> bool:
        return any((one >= 0).any() for one in self.told_by.values())


def restore(
    lesson: TrainingRecords,
    released: pl.DataFrame,
    readings: Sequence[tuple[ReleasedView, ColumnReading]],
    without: Iterable[int] = (),
) -> Restored:
    """The finest label wins; of equally fine ones, the first. ``without`` leaves readings out, by place."""
    left_out = set(without)
    labels = {name: as_text(released[name]) for name in lesson.counted}
    told_by, on = {}, {}
    read = {reading.attribute for place, (_, reading) in enumerate(readings) if place not in left_out}
    for one in lesson.quasi:
        if one.attribute not in read:
            told_by[one.attribute] = np.full(released.height, -1, np.int32)
            on[one.attribute] = np.full(released.height, 127, np.int8)
            continue
        shown = one.levels.label_codes(labels[one.attribute])
        if one.altered:
            shown = np.full_like(shown, -1)
        best, by, level = shown.copy(), np.full(len(shown), -1, np.int32), np.full(len(shown), 127, np.int8)
        for place, (view, reading) in enumerate(readings):
            if reading.attribute != one.attribute or place in left_out:
                continue
            label, told_on = reading.read(view)
            better = (label >= 0) & (told_on < level)
            better[better] = one.levels.finer(label[better], shown[better])
            best[better], by[better], level[better] = label[better], place, told_on[better]
        labels[one.attribute] = _texts(labels[one.attribute], one, best, by >= 0)
        told_by[one.attribute], on[one.attribute] = by, level
    return Restored(pl.DataFrame(labels), told_by, on)


def _texts(released: pl.Series, quasi: KnownQuasi, labels: Codes, told: Mask) -> pl.Series:
    if not told.any():
        return released
    known = quasi.levels.vocabulary.gather(np.where(told, labels, 0))
    return pl.select(pl.when(pl.Series(told)).then(known).otherwise(released)).to_series()


def class_sizes(labels: pl.DataFrame, people: Integers | None) -> Integers:
    """Of each record, how many people are in its class; those of whom nothing is known are in none, and count 0.

    If nothing is known of anybody, all are one class.
    """
    names = labels.columns
    counted = pl.len() if people is None else pl.col(_PERSON).n_unique()
    frame = labels if people is None else labels.with_columns(pl.Series(_PERSON, people))
    sizes = frame.select(counted.over(names).cast(pl.Int64)).to_series().to_numpy()
    hidden = starred(labels)
    return sizes if hidden.all() else np.where(hidden, 0, sizes)


def starred(labels: pl.DataFrame) -> Mask:
    return labels.select(pl.all_horizontal(pl.all().eq_missing(STAR))).to_series().to_numpy()


def smallest(sizes: Integers) -> int:
    there = sizes[sizes > 0]
    return int(there.min()) if len(there) else 0


def disclosures_in(restored: Restored, readings: Sequence[ColumnReading]) -> tuple[ColumnDisclosure, ...]:
    """Each set of columns with each attribute it tells, those that tell most records first."""
    found: dict[tuple[tuple[str, ...], str, DisclosureMethod], tuple[int, int]] = {}
    rows = max(1, restored.labels.height)
    for attribute, told_by in restored.told_by.items():
        number = np.bincount(told_by[told_by >= 0], minlength=len(readings))
        for place in map(int, np.flatnonzero(number)):
            reading = readings[place]
            level = int(restored.levels[attribute][told_by == place].min())
            key = (reading.columns, attribute, reading.how)
            records, finest = found.get(key, (0, level))
            found[key] = records + int(number[place]), min(level, finest)
    made = [ColumnDisclosure(*key, records, records / rows, level) for key, (records, level) in found.items()]
    return tuple(sorted(made, key=lambda one: (-one.records, one.attribute, one.columns)))


def read_back(lesson: TrainingRecords, required: int = 1) -> tuple[ReadBack, LearntReadings]:
    """What can be read back in the records that are learnt from, which are all that there are."""
    learnt = search(lesson)
    restored = restore(lesson, lesson.released, learnt.on(lesson.released, taught=True))
    sizes = class_sizes(restored.labels, lesson.people)
    return _result(lesson, learnt, restored, sizes, required), learnt


def _result(
    lesson: TrainingRecords, learnt: LearntReadings, restored: Restored, sizes: Integers, required: int
) -> ReadBack:
    return ReadBack(
        smallest(sizes),
        int(((sizes > 0) & (sizes < required)).sum()),
        disclosures_in(restored, learnt.readings),
        lesson.rule,
        lesson.released.height,
        learnt.pairs_looked_at,
    )
