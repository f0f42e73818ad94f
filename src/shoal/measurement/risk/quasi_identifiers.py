"""How far sets of attributes tell people apart, and which small sets single somebody out (D-06).

Distinction is the number of distinct combinations ÷ rows, separation the share of pairs of rows that differ in the set
(Motwani and Xu 2007); uniqueness is the share of people who are alone with a combination of theirs. All three only grow
as a set grows, so a set is minimal for a share of people when it reaches the share and none of its parts does.

Every set of up to ``size`` attributes is searched, on all rows: nothing is sampled. A missing cell is a value of its
own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import comb
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from shoal.errors import InputError
from shoal.kernels.arrays import Integers
from shoal.kernels.group_counts import count_groups
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
    """Counted combinations, grouped by one set of attributes after the other.

    The groups of a set are those of a smaller set, split; the largest sets need only the sizes of their groups, not who
    is in which.
    """

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


MOST_SETS = 20_000
"""Where there are more sets, only smaller ones are searched."""
SHOWN = 100
"""Sets in ``to_dict``, from the top."""
_RECORDS, _PERSON = "__shoal_records", "__shoal_person"


@dataclass(frozen=True)
class QuasiSet:
    names: tuple[str, ...]
    distinction: float
    separation: float
    uniqueness: float
    alone: int
    """People who are alone with a combination."""

    def to_dict(self) -> dict[str, Any]:
        return {
            "attributes": list(self.names),
            "distinction": self.distinction,
            "separation": self.separation,
            "uniqueness": self.uniqueness,
            "alone": self.alone,
        }


@dataclass(frozen=True)
class Influence:
    """What an attribute adds, on average over the searched sets that it can be added to."""

    name: str
    separation: float
    uniqueness: float


@dataclass(frozen=True)
class QuasiAnalysis:
    attributes: tuple[str, ...]
    rows: int
    people: int
    asked_size: int
    size: int
    """Sets of more attributes were not searched."""
    sets: tuple[QuasiSet, ...]
    """The most telling first: by uniqueness, then separation, then distinction, then fewer attributes."""

    @property
    def minimal(self) -> tuple[QuasiSet, ...]:
        """The smallest sets that single out at least one person, ranked."""
        return self.minimal_for(0.0)

    def minimal_for(self, share: float) -> tuple[QuasiSet, ...]:
        """The smallest sets that single out at least this share of the people (and at least one), ranked."""
        reach = [found for found in self.sets if found.alone and found.uniqueness >= share]
        names = {frozenset(found.names) for found in reach}
        return tuple(found for found in reach if not any(frozenset(part) in names for part in _parts(found.names)))

    @cached_property
    def influence(self) -> tuple[Influence, ...]:
        """Per attribute, the strongest first."""
        known = {frozenset(found.names): found for found in self.sets}
        alone = int(self.people == 1)
        nothing = QuasiSet((), 0.0, 0.0, float(alone), alone)
        gains: dict[str, list[tuple[float, float]]] = {name: [] for name in self.attributes}
        for found in self.sets:
            for name in found.names:
                less = known.get(frozenset(found.names) - {name}, nothing)
                gains[name].append((found.separation - less.separation, found.uniqueness - less.uniqueness))
        means = [Influence(name, *np.mean(gained, axis=0).tolist()) for name, gained in gains.items() if gained]
        return tuple(sorted(means, key=lambda each: (-each.uniqueness, -each.separation, each.name)))

    @property
    def not_searched(self) -> int:
        """Sets of attributes that were left out, because they are larger."""
        return (1 << len(self.attributes)) - 1 - len(self.sets)

    def to_dict(self) -> dict[str, Any]:
        """Figures and names of attributes; no value of the data."""
        return {
            "attributes": list(self.attributes),
            "rows": self.rows,
            "people": self.people,
            "asked_size": self.asked_size,
            "searched": {"size": self.size, "sets": len(self.sets), "sets_left_out": self.not_searched},
            "sets": [found.to_dict() for found in self.sets[:SHOWN]],
            "minimal": [found.to_dict() for found in self.minimal[:SHOWN]],
            "influence": [
                {"attribute": each.name, "separation": each.separation, "uniqueness": each.uniqueness}
                for each in self.influence
            ],
        }


def _parts(names: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    return combinations(names, len(names) - 1)


def analyse_quasi(
    frame: pl.DataFrame | pl.LazyFrame, attributes: Sequence[str], *, max_size: int = 3, person: str | None = None
) -> QuasiAnalysis:
    """Search the sets of up to ``max_size`` attributes; fewer where that is more than ``MOST_SETS`` sets.

    >>> table = pl.DataFrame({"sex": ["m", "m", "f", "f"], "age": [30, 40, 40, 40]})
    >>> found = analyse_quasi(table, ["sex", "age"])
    >>> [(one.names, one.alone) for one in found.minimal]
    [(('age',), 1)]
    """
    names, lazy = tuple(attributes), frame.lazy()
    _check(names, person, lazy.collect_schema().names(), max_size)
    counts = _count(lazy, names, person, frame.height if isinstance(frame, pl.DataFrame) else None)
    size = _size(len(names), max_size)
    rows, people = counts.total_records, counts.total_people
    sets = sorted((_figures(names, rows, people, found) for found in AttributeSets(counts).up_to(size)), key=_rank)
    return QuasiAnalysis(names, rows, people, max_size, size, tuple(sets))


def _figures(names: tuple[str, ...], rows: int, people: int, found: GroupedSet) -> QuasiSet:
    pairs = rows * (rows - 1) // 2
    return QuasiSet(
        tuple(names[place] for place in found.places),
        found.distinct / rows if rows else 0.0,
        (pairs - found.alike) / pairs if pairs else 0.0,
        found.alone / people if people else 0.0,
        found.alone,
    )


def _rank(one: QuasiSet) -> tuple[float, float, float, int, tuple[str, ...]]:
    return -one.uniqueness, -one.separation, -one.distinction, len(one.names), one.names


def _check(names: tuple[str, ...], person: str | None, columns: Sequence[str], max_size: int) -> None:
    if not names or len({*names, person}) <= len(names):
        raise InputError("quasi-identifiers: needs one or more attributes, each named once, without the person")
    if absent := [name for name in (*names, person) if name is not None and name not in columns]:
        raise InputError(f"quasi-identifiers: the table has no column {', '.join(map(repr, absent))}")
    if max_size < 1:
        raise InputError("quasi-identifiers: max_size is 1 or more")


def _count(lazy: pl.LazyFrame, names: tuple[str, ...], person: str | None, at_most: int | None) -> Counts:
    if person is None:
        return Counts.from_frame(count_groups(lazy, names, _RECORDS, at_most=at_most), names, _RECORDS)
    pairs = lazy.select(*names, pl.col(person).alias(_PERSON))
    counted = count_groups(pairs, (*names, _PERSON), _RECORDS, at_most=at_most)
    return Counts.from_pairs(counted, names, _PERSON, _RECORDS)


def _size(attributes: int, most: int) -> int:
    """The largest size up to which there are no more than ``MOST_SETS`` sets; one at least."""
    size, sets = 1, attributes
    while size < min(most, attributes) and (sets := sets + comb(attributes, size + 1)) <= MOST_SETS:
        size += 1
    return size
