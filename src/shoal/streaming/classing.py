"""Which of the records that wait may leave, and in which class: by whole arrays of numbers, no value is looked at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Final

import numpy as np

from shoal.kernels.arrays import Integers, Mask
from shoal.privacy import PrivacyModel
from shoal.privacy.base import kept_by
from shoal.privacy.classes import Classes, Histograms
from shoal.streaming.label_book import LabelBook
from shoal.streaming.ladder import LatticeLevels

_DENSE: Final = 1 << 20
_WAITS: Final = -1


@dataclass(frozen=True)
class WaitingRecords:
    """What waits, as numbers: of values, of people, of sensitive values."""

    numbers: Integers
    """Per record and quasi-identifier."""
    people: Integers | None
    """Whose record it is; None where each is another person's."""
    sensitive: Mapping[str, Integers]

    def __len__(self) -> int:
        return len(self.numbers)


@dataclass(frozen=True)
class ReleasedClasses:
    """Per record, the node on which its class left, and its class there; −1 for those that go on waiting."""

    node: Integers
    group: Integers
    classes: int


def released_classes(
    waiting: WaitingRecords,
    due: Mask,
    books: Sequence[LabelBook],
    nodes: Sequence[LatticeLevels],
    models: Sequence[PrivacyModel],
) -> ReleasedClasses:
    """Whole classes leave: on the finest node each that meets the models, above it those with a record that is due.

    On each node, only records that have not left on an earlier one are there.
    """
    node, group = (np.full(len(waiting), _WAITS, dtype=np.int64) for _ in range(2))
    left = np.arange(len(waiting), dtype=np.int64)
    classes = 0
    for place, levels in enumerate(nodes):
        urgent = due[left]
        if not len(left) or (place and not urgent.any()):
            break
        keys, number = _keys(waiting, left, books, levels)
        candidates = np.ones(number, dtype=bool)
        if place:
            candidates = np.zeros(number, dtype=bool)
            candidates[keys[urgent]] = True
        stays = _meeting(waiting, left, keys, candidates, models)
        leaves = stays[keys]
        if not leaves.any():
            continue
        renumbered = np.cumsum(stays) - 1 + classes
        node[left[leaves]] = place
        group[left[leaves]] = renumbered[keys[leaves]]
        classes += int(stays.sum())
        left = left[~leaves]
    return ReleasedClasses(node, group, classes)


def _keys(
    waiting: WaitingRecords, left: Integers, books: Sequence[LabelBook], levels: LatticeLevels
) -> tuple[Integers, int]:
    """The class of each record, by a number; and how many numbers there are."""
    key, size = np.zeros(len(left), dtype=np.int64), 1
    for place, (book, level) in enumerate(zip(books, levels, strict=True)):
        labels, number = book.raised(waiting.numbers[left, place], level)
        if number == 1:
            continue
        if prod((size, number)) >= 1 << 62:
            distinct, key = np.unique(key, return_inverse=True)
            size = len(distinct)
        key, size = key * number + labels, size * number
    if size > max(_DENSE, 4 * len(left)):
        distinct, key = np.unique(key, return_inverse=True)
        size = len(distinct)
    return key, size


def _meeting(
    waiting: WaitingRecords, left: Integers, keys: Integers, candidates: Mask, models: Sequence[PrivacyModel]
) -> Mask:
    """Which of the candidates meet all models."""
    records = np.bincount(keys, minlength=len(candidates))
    found = np.flatnonzero(candidates & (records > 0))
    place = np.full(len(candidates), _WAITS, dtype=np.int64)
    place[found] = np.arange(len(found))
    inside = place[keys]
    here = inside >= 0
    owners, who = inside[here], left[here]
    classes = Classes(
        records[found],
        records[found] if waiting.people is None else _people(owners, waiting.people[who], len(found)),
        {name: _histograms(owners, values[who], len(found)) for name, values in waiting.sensitive.items()},
    )
    meets = np.zeros(len(candidates), dtype=bool)
    meets[found] = kept_by(models, classes)
    return meets


def _people(owners: Integers, people: Integers, number: int) -> Integers:
    """Different people in each class."""
    order = np.lexsort((people, owners))
    owners, people = owners[order], people[order]
    first = np.ones(len(owners), dtype=bool)
    first[1:] = (np.diff(owners) != 0) | (np.diff(people) != 0)
    return np.bincount(owners[first], minlength=number).astype(np.int64)


def _histograms(owners: Integers, values: Integers, number: int) -> Histograms:
    distinct, codes = np.unique(values, return_inverse=True)
    whole = np.bincount(codes, minlength=len(distinct)).astype(np.int64)
    return Histograms(whole, owners, codes.astype(np.int64), np.ones(len(owners), dtype=np.int64), number)
