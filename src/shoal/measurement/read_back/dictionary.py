"""What values and pairs of values go with: a dictionary from what is released to what was taken out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.measurement.read_back.levels import Codes, Levels
from shoal.measurement.read_back.rule import Rule
from shoal.schema.arrays import Integers, Mask

DENSE = 4
"""A table of counts is laid out whole if it has at most so many cells for each record, and some more."""
_SPARE = 1 << 16


@dataclass(frozen=True)
class Column:
    """The values of a released column that stand in enough records to tell anything, and where they stand."""

    values: pl.Series
    """Without the missing one."""
    missing: bool
    """Whether cells without a value are many enough to tell something too."""
    codes: Codes
    """Of the records it was made of; -1 for values that are too rare."""

    @classmethod
    def of(cls, values: pl.Series, rule: Rule) -> Column:
        values = values.alias("value")
        counted = values.value_counts(name="records").filter(pl.col("records") >= rule.records)["value"]
        known = counted.drop_nulls().sort()
        missing = counted.has_nulls()
        return cls(known, missing, _codes(values, known, missing=missing))

    @property
    def size(self) -> int:
        return len(self.values) + self.missing

    @property
    def tells_nothing(self) -> bool:
        """No value is common enough, or all records have the same."""
        return self.size == 0 or (self.size == 1 and bool((self.codes == 0).all()))

    def of_others(self, values: pl.Series) -> Codes:
        """The same values in another table."""
        return _codes(values.alias("value"), self.values, missing=self.missing)


def _codes(values: pl.Series, known: pl.Series, *, missing: bool) -> Codes:
    if known.is_empty():
        codes = pl.Series(np.full(len(values), -1, dtype=np.int32))
    elif known.dtype == pl.String():
        codes = values.cast(pl.Enum(known), strict=False).to_physical().cast(pl.Int32)
    else:
        places = pl.int_range(len(known), dtype=pl.Int32, eager=True)
        codes = values.cast(known.dtype, strict=False).replace_strict(known, places, default=None)
    coded = codes.fill_null(-1).to_numpy().astype(np.int32)
    if missing:
        coded[values.is_null().to_numpy()] = len(known)
    return coded


@dataclass(frozen=True)
class Entries:
    """For some groups of records, the label that they tell; -1 for none."""

    labels: Codes
    levels: NDArray[np.int8]

    def told(self, groups: Integers | Codes) -> tuple[Codes, NDArray[np.int8]]:
        known = groups >= 0
        labels = np.where(known, self.labels[groups], -1).astype(np.int32)
        return labels, np.where(known, self.levels[groups], -1).astype(np.int8)


def learn(  # noqa: PLR0913, PLR0917  # what is learnt, from what
    groups: Integers | Codes, number: int, values: Codes, levels: Levels, rule: Rule, enough: Mask, known: Mask
) -> Entries:
    """Per group, the finest label that its records share; ``enough`` says which groups are many and of several people.

    ``groups`` and ``values`` (of the attribute) are of the same records; -1 leaves a record out. ``known`` says which
    labels everybody knows, so that nothing tells them.
    """
    labels = np.full(number, -1, dtype=np.int32)
    on = np.full(number, -1, dtype=np.int8)
    left = enough
    there = np.flatnonzero((groups >= 0) & (values >= 0))
    own, value = groups[there].astype(np.int64), values[there]
    # From the top down: levels nest, so what differs there differs on all finer ones.
    for level in reversed(range(levels.height)):
        still = left[own]
        if not still.any():
            break
        if not still.all():
            own, value = own[still], value[still]
        top, most, total = _most_common(own, levels.labels[level][value], number, len(levels.vocabulary))
        left = left & (total > 0) & (most >= rule.share * total - 1e-9)
        labels[left], on[left] = top[left], level
    nothing = (labels < 0) | known[labels]
    labels[nothing], on[nothing] = -1, -1
    return Entries(labels, on)


def large_enough(groups: Integers | Codes, number: int, people: Integers | None, rule: Rule) -> Mask:
    """Groups of enough records, and of two people or more where people are known."""
    there = groups >= 0
    own = groups[there]
    enough = np.bincount(own, minlength=number) >= rule.records
    if people is None:
        return enough
    somebody = np.zeros(number, dtype=np.int64)
    somebody[own] = people[there]
    others = np.bincount(own, weights=people[there] != somebody[own], minlength=number) > 0
    return enough & others


def pairs(one: Codes, other: Codes, sizes: tuple[int, int], rule: Rule) -> tuple[Integers, Integers]:
    """Groups by two columns: the group of each record (-1 where it is too small), and the two codes of each group."""
    both = (one >= 0) & (other >= 0)
    key = np.where(both, one.astype(np.int64) * sizes[1] + other, -1)
    if sizes[0] * sizes[1] <= DENSE * len(key) + _SPARE:
        counted = np.bincount(key[both], minlength=sizes[0] * sizes[1])
        keys = np.flatnonzero(counted >= rule.records)
        places = np.full(sizes[0] * sizes[1] + 1, -1, dtype=np.int64)
        places[keys] = np.arange(len(keys))
        return places[key], keys
    found, records = np.unique(key[both], return_counts=True)
    keys = found[records >= rule.records]
    return places_of(keys, key), keys


def places_of(keys: Integers, asked: Integers) -> Integers:
    """Where each asked number stands among sorted ones; -1 for others."""
    if not len(keys):
        return np.full(len(asked), -1, dtype=np.int64)
    if keys[-1] <= DENSE * len(asked) + _SPARE:
        table = np.full(keys[-1] + 2, -1, dtype=np.int64)
        table[keys] = np.arange(len(keys))
        found: Integers = table[np.minimum(asked, keys[-1] + 1)]
        return found
    places = np.minimum(np.searchsorted(keys, asked), len(keys) - 1)
    return np.where(keys[places] == asked, places, -1)


def _most_common(groups: Integers, labels: Codes, number: int, words: int) -> tuple[Codes, Integers, Integers]:
    """Per group its most common label (the first of several), its records, and all records of the group."""
    total = np.bincount(groups, minlength=number)
    key = groups * words + labels
    if number * words <= DENSE * len(groups) + _SPARE:
        table = np.bincount(key, minlength=number * words).reshape(number, words)
        top = table.argmax(axis=1)
        return top.astype(np.int32), table[np.arange(number), top], total
    found, records = np.unique(key, return_counts=True)
    own = found // words
    order = np.lexsort((found, -records, own))
    first = order[np.flatnonzero(np.diff(own[order], prepend=-1))]
    top, most = np.zeros(number, dtype=np.int32), np.zeros(number, dtype=np.int64)
    top[own[first]], most[own[first]] = found[first] % words, records[first]
    return top, most, total
