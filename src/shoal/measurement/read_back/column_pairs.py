"""Two columns together: which pairs of values may tell an attribute, looked for in some of the records."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from shoal.kernels.arrays import Integers, Mask
from shoal.measurement.read_back.dictionary import CodedColumn, is_laid_out, places_of
from shoal.measurement.read_back.disclosure_rule import DisclosureRule
from shoal.measurement.read_back.screen import Groups, Screen


@dataclass(frozen=True)
class ThinnedColumn:
    """A column in every n-th record, without the values that are too rare there."""

    column: CodedColumn
    groups: Integers = field(repr=False)
    """Of each record; 0 for none."""
    codes: Integers = field(repr=False)
    """Of each group but 0, the code in the whole column."""

    @classmethod
    def of(cls, column: CodedColumn, step: int, rule: DisclosureRule) -> ThinnedColumn:
        groups = column.codes[::step] + 1
        if step == 1:
            return cls(column, groups, np.arange(column.size))
        enough = np.bincount(groups, minlength=column.size + 1) >= rule.records
        enough[0] = False
        return cls(column, np.where(enough, np.cumsum(enough), 0)[groups], np.flatnonzero(enough) - 1)

    @property
    def size(self) -> int:
        return len(self.codes) + 1


def groups_of(one: ThinnedColumn, other: ThinnedColumn, rule: DisclosureRule) -> tuple[Integers, Integers]:
    """The group of each record by both columns, 0 for those that are too small; and of each group but 0 its key, which
    is the place of its two values among those of all pairs."""
    key = one.groups * other.size + other.groups
    if is_laid_out(one.size * other.size, len(key)):
        counted = np.bincount(key, minlength=one.size * other.size).reshape(one.size, other.size)
        counted[0], counted[:, 0] = 0, 0
        keys = np.flatnonzero(counted.ravel() >= rule.records)
        places = np.zeros(one.size * other.size, dtype=np.int64)
        places[keys] = np.arange(1, len(keys) + 1)
        return places[key], keys
    key[(one.groups == 0) | (other.groups == 0)] = 0
    buckets = key % (1 << len(key).bit_length())
    possible = np.flatnonzero((np.bincount(buckets) >= rule.records)[buckets])
    found, records = np.unique(key[possible], return_counts=True)
    keys = found[(records >= rule.records) & (found > 0)]
    groups = np.zeros(len(key), dtype=np.int64)
    groups[possible] = places_of(keys, key[possible]) + 1
    return groups, keys


def whole_keys(one: ThinnedColumn, other: ThinnedColumn, keys: Integers) -> Integers:
    """The same pairs by the codes of the whole columns."""
    return one.codes[keys // other.size - 1] * other.column.size + other.codes[keys % other.size - 1]


def screened(
    one: ThinnedColumn, other: ThinnedColumn, screens: list[Screen], rule: DisclosureRule
) -> Iterator[Integers]:
    """By each screen, the pairs that may tell something, in ascending order."""
    places, keys = groups_of(one, other, rule)
    groups = Groups(places, len(keys))
    for screen in screens:
        yield keys[screen.passes(groups)[1:]] if len(keys) else keys


def records_with(one: CodedColumn, other: CodedColumn, keys: Integers) -> tuple[Integers, Integers]:
    """The records that have one of these pairs, and which."""
    holds = _among(keys // other.size, one.size), _among(keys % other.size, other.size)
    first, second = (one, other) if one.size >= other.size else (other, one)
    holds = holds if first is one else holds[::-1]
    there = np.flatnonzero(holds[0][first.codes])
    there = there[holds[1][second.codes[there]]]
    groups = places_of(keys, one.codes[there] * other.size + other.codes[there])
    return there[groups >= 0], groups[groups >= 0]


def _among(codes: Integers, size: int) -> Mask:
    """With a place more for the records that have no code, which is -1."""
    found = np.zeros(size + 1, dtype=bool)
    found[codes] = True
    return found
