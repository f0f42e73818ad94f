"""Counted combinations, grouped by one set of attributes after the other.

The groups of a set are those of a smaller set, split; the largest sets need only the sizes of their groups, not who is
in which.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from shoal.kernels.arrays import Integers
from shoal.schema import Counts

_BITS = 63


class GroupedSet(NamedTuple):
    """One set of attributes, by their places."""

    places: tuple[int, ...]
    distinct: int
    alike: int
    """Pairs of records that have the same values."""
    alone: int
    """People who are in a group with nobody else."""


class AttributeSets:
    def __init__(self, counts: Counts) -> None:
        width = len(counts.attributes)
        self.codes = [np.ascontiguousarray(counts.codes[:, place], dtype=np.int64) for place in range(width)]
        self.values = [len(values) for values in counts.values]
        self.records = counts.records
        self.each_is_one = bool((counts.records == 1).all())
        self.by_person = counts.people is not counts.records
        self.single = counts.people
        self.who = _compact(counts.shared[:, 0], int(counts.shared[:, 0].max(initial=0)) + 1)[0]
        self.shared_by = int(self.who.max(initial=-1)) + 1
        self.where = counts.shared[:, 1]

    def up_to(self, size: int) -> Iterator[GroupedSet]:
        """Every set of so many attributes or fewer."""
        yield from self._with((), np.zeros(len(self.records), dtype=np.int64), 1, size)

    def _with(self, before: tuple[int, ...], groups: Integers, number: int, size: int) -> Iterator[GroupedSet]:
        """The sets of these attributes, whose groups are given, and later ones."""
        for place in range(before[-1] + 1 if before else 0, len(self.codes)):
            chosen = (*before, place)
            keys, most = groups * self.values[place] + self.codes[place], number * self.values[place]
            grows = len(chosen) < size and place + 1 < len(self.codes)
            if not grows and not self.by_person:
                sizes = _sizes(keys, most, None if self.each_is_one else self.records)
                yield GroupedSet(chosen, len(sizes), _pairs(sizes), int((sizes == 1).sum()))
                continue
            split, parts = _compact(keys, most)
            sizes = _added(split, parts, self.records)
            alone = self._alone(split, parts) if self.by_person else int((sizes == 1).sum())
            yield GroupedSet(chosen, parts, _pairs(sizes), alone)
            if grows:
                yield from self._with(chosen, split, parts, size)

    def _alone(self, groups: Integers, number: int) -> int:
        """Who is alone in several groups counts once."""
        single = _added(groups, number, self.single)
        pairs = np.sort(groups[self.where] * self.shared_by + self.who)
        pairs = pairs[np.diff(pairs, prepend=-1) != 0]
        there, who = np.divmod(pairs, max(1, self.shared_by))
        several = np.bincount(there, minlength=number)
        lone = np.zeros(self.shared_by, dtype=bool)
        lone[who[(several[there] == 1) & (single[there] == 0)]] = True
        return int(((single == 1) & (several == 0)).sum()) + int(lone.sum())


def _pairs(sizes: Integers) -> int:
    return int((sizes * (sizes - 1)).sum()) // 2


def _added(groups: Integers, number: int, weights: Integers) -> Integers:
    return np.bincount(groups, weights=weights, minlength=number).astype(np.int64)


def _sizes(keys: Integers, most: int, weights: Integers | None) -> Integers:
    """How many records each key has, in no order that means anything."""
    if _few(keys, most):
        sizes = np.bincount(keys, weights=weights).astype(np.int64)
        return sizes[sizes > 0]
    if weights is None:
        in_order = np.sort(keys.astype(np.int32) if most < 1 << 31 else keys)
        starts = np.flatnonzero(in_order[1:] != in_order[:-1]) + 1
        return np.diff(starts, prepend=0, append=len(keys))
    return _added(*_compact(keys, most), weights)


def _compact(keys: Integers, most: int) -> tuple[Integers, int]:
    """Numbers from zero on without gaps, equal where the keys are, and how many there are."""
    if _few(keys, most):
        there = np.bincount(keys, minlength=most) > 0
        return (np.cumsum(there) - 1)[keys], int(there.sum())
    bits = len(keys).bit_length()
    if most.bit_length() + bits > _BITS:
        values, groups = np.unique(keys, return_inverse=True)
        return groups, len(values)
    # Sorting numbers is several times faster than sorting positions by them, so the position is part of the number.
    placed = np.sort(keys << bits | np.arange(len(keys)))
    new = np.diff(placed >> bits, prepend=-1) != 0
    groups = np.empty(len(keys), dtype=np.int64)
    groups[placed & ((1 << bits) - 1)] = np.cumsum(new) - 1
    return groups, int(new.sum())


def _few(keys: Integers, most: int) -> bool:
    """Whether a count per possible key is cheaper than a sort."""
    return most <= 4 * len(keys) + 16
