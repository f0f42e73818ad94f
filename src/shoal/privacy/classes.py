"""Equivalence classes as a privacy model sees them: sizes, sensitive values, released cells. Never a record.

A class is a set of records that share all released quasi-identifiers. Whoever builds the classes (a solver from counts,
a measurement from the written table) fills in what it knows; a model asks for what it needs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from shoal.errors import BugError
from shoal.kernels.arrays import Floats, Integers, Mask, sums_by

Number = TypeVar("Number", np.int64, np.float64)
PeopleIn = Callable[[Integers, int], Integers]

_BITS = 63
_NOTHING: Integers = np.empty(0, dtype=np.int64)

BLOCK_CELLS = 1 << 22
"""Cells of a dense block of histograms; more classes or values are taken block by block."""


@dataclass(frozen=True)
class Histograms:
    """How often each value of one sensitive attribute occurs: in the whole table, and in each class.

    Entry e says that ``count[e]`` records of class ``owner[e]`` have the value ``value[e]``; entries of the same class
    and value add up. Values are numbered in their natural order (numbers and dates by size, text by alphabet, a missing
    value last), which is the order that an ordered distance takes.
    """

    whole: Integers
    """Records per value in the whole table, suppressed ones included."""
    owner: Integers
    value: Integers
    count: Integers
    number: int
    """How many classes there are."""
    tree: tuple[Integers, ...] = ()
    """Per level of the attribute's hierarchy, from 1 to the top, the group of each value. Empty without a hierarchy."""
    dense: Integers | None = None
    """The counts by class and value, where they are known already; then there are no entries."""
    numbers: Floats | None = None
    """The number that each value is, in rising order; NaN for a missing value. None where values are no numbers."""

    @cached_property
    def matrix(self) -> Integers | None:
        """Dense counts, one row per class and one column per value; None where that would be too large."""
        if self.dense is not None:
            return self.dense
        if self.number * len(self.whole) > BLOCK_CELLS:
            return None
        return self._dense(self.owner, self.value, self.count, self.number)

    def by_block(
        self, figure: Callable[[Integers, Histograms], NDArray[Number]], dtype: type[Number]
    ) -> NDArray[Number]:
        """A figure of each class, from the dense counts of a few classes at a time."""
        found = np.empty(self.number, dtype=dtype)
        for rows, block in self.blocks():
            found[rows] = figure(block, self)
        return found

    def blocks(self) -> Iterator[tuple[slice, Integers]]:
        """Dense counts, one row per class and one column per value, a few classes at a time.

        >>> whole, owner, value = np.array([2, 1]), np.array([0, 0, 1]), np.array([0, 1, 0])
        >>> [block.tolist() for _, block in Histograms(whole, owner, value, np.array([1, 1, 1]), 2).blocks()]
        [[[1, 1], [1, 0]]]
        """
        if not self.number:
            return
        if self.matrix is not None:
            yield slice(0, self.number), self.matrix
            return
        rows = max(1, BLOCK_CELLS // max(1, len(self.whole)))
        order = np.argsort(self.owner, kind="stable")
        owner, value, count = self.owner[order], self.value[order], self.count[order]
        for first in range(0, self.number, rows):
            last = min(first + rows, self.number)
            part = slice(*np.searchsorted(owner, (first, last)))
            yield slice(first, last), self._dense(owner[part] - first, value[part], count[part], last - first)

    def _dense(self, owner: Integers, value: Integers, count: Integers, number: int) -> Integers:
        values = len(self.whole)
        flat = np.bincount(owner * values + value, weights=count, minlength=number * values)
        return flat.astype(np.int64).reshape(number, values)

    def distinct(self) -> Integers:
        """How many different values each class has."""
        found = np.zeros(self.number, dtype=np.int64)
        for rows, block in self.blocks():
            found[rows] = (block > 0).sum(axis=1)
        return found

    def only(self, kept: Mask) -> Histograms:
        """The same for some of the classes, numbered anew in their order. The whole table stays what it was."""
        return self.at(np.flatnonzero(kept))

    def at(self, places: Integers) -> Histograms:
        """The same for some of the classes, in the order given."""
        if self.matrix is not None:
            return self._of(self.matrix[places])
        place = np.full(self.number, -1, dtype=np.int64)
        place[places] = np.arange(len(places))
        owner = place[self.owner]
        here = owner >= 0
        return replace(self, owner=owner[here], value=self.value[here], count=self.count[here], number=len(places))

    def merged(self, groups: Integers, number: int) -> Histograms:
        """Classes put together: class i goes to group ``groups[i]`` of ``number``."""
        if self.dense is None:
            return replace(self, owner=groups[self.owner], number=number)
        counts = np.zeros((number, len(self.whole)), dtype=np.int64)
        np.add.at(counts, groups, self.dense)
        return self._of(counts)

    def beside_empty(self, number: int) -> Histograms:
        """With further classes that have no records, so that there are ``number``."""
        if self.dense is None:
            return replace(self, number=number)
        return self._of(np.pad(self.dense, ((0, number - self.number), (0, 0))))

    def _of(self, dense: Integers) -> Histograms:
        return Histograms.of(self.whole, dense, self.tree, self.numbers)

    @classmethod
    def of(
        cls, whole: Integers, dense: Integers, tree: tuple[Integers, ...] = (), numbers: Floats | None = None
    ) -> Histograms:
        """From counts with one row per class and one column per value."""
        return cls(whole, _NOTHING, _NOTHING, _NOTHING, len(dense), tree, dense, numbers)


@dataclass(frozen=True)
class Classes:
    """The classes of one released table (or of one a solver considers)."""

    records: Integers
    people: Integers
    sensitive: Mapping[str, Histograms] = field(default_factory=dict)
    population: Integers | None = None
    """Per class, how many records of the population table look alike; None where no population is known."""
    attributes: tuple[str, ...] = ()
    cells: Integers | NDArray[np.int32] | None = None
    """Per class and quasi-identifier, a number for the released value: equal numbers, equal values."""
    shared_people: PeopleIn | None = None
    """Distinct people in unions of the classes, where a person may be in several; None where people just add up."""
    pairs: Integers | None = None
    """(person, class) of everybody who is in several classes, where people were told apart."""

    def __len__(self) -> int:
        return len(self.records)

    def histograms(self, attribute: str) -> Histograms:
        if attribute not in self.sensitive:
            raise BugError(f"the classes were made without the sensitive attribute '{attribute}'")
        return self.sensitive[attribute]

    def grouped_by(self, attributes: tuple[str, ...]) -> tuple[Integers, int]:
        """The classes put together by some of the quasi-identifiers: the group of each class, and how many there are.

        >>> cells = np.array([[0, 0], [0, 1], [1, 1]])
        >>> sizes = np.array([1, 2, 3])
        >>> Classes(sizes, sizes, attributes=("age", "sex"), cells=cells).grouped_by(("sex",))[0].tolist()
        [0, 1, 1]
        """
        if self.cells is None:
            raise BugError("the classes were made without their cells")
        places = [self.attributes.index(name) for name in attributes]
        if not len(self) or not places:
            return np.zeros(len(self), dtype=np.int64), min(1, len(self))
        _, groups = np.unique(_keys(self.cells[:, places]), axis=0, return_inverse=True)
        return groups.reshape(-1).astype(np.int64), int(groups.max()) + 1

    def people_in(self, groups: Integers, number: int) -> Integers:
        """Distinct people per group of classes."""
        if self.shared_people is not None:
            return self.shared_people(groups, number)
        return sums_by(groups, self.people, number)

    def by_person(self, figures: Floats) -> tuple[Floats, Integers]:
        """The highest that a figure of classes is for each person, and of how many people each of these is.

        >>> both = Classes(np.array([2, 1]), np.array([2, 1]), pairs=np.array([[0, 0], [0, 1]]))
        >>> figures, people = both.by_person(np.array([0.5, 1.0]))
        >>> figures.tolist(), people.tolist()
        ([0.5, 1.0, 1.0], [1, 0, 1])
        """
        if self.pairs is None or not len(self.pairs):
            return figures, self.people
        alone = self.people - np.bincount(self.pairs[:, 1], minlength=len(self))
        _, who = np.unique(self.pairs[:, 0], return_inverse=True)
        highest = np.zeros(int(who.max()) + 1)
        np.maximum.at(highest, who, figures[self.pairs[:, 1]])
        return np.concatenate((figures, highest)), np.concatenate((alone, np.ones(len(highest), dtype=np.int64)))

    @property
    def told_apart(self) -> bool:
        """Whether it is known who is in which classes."""
        return self.shared_people is None or self.pairs is not None

    def only(self, kept: Mask) -> Classes:
        """Some of the classes, numbered anew in their order."""
        return self.at(np.flatnonzero(kept))

    def at(self, places: Integers) -> Classes:
        """Some of the classes, in the order given."""
        return Classes(
            self.records[places],
            self.people[places],
            {name: histograms.at(places) for name, histograms in self.sensitive.items()},
            None if self.population is None else self.population[places],
            self.attributes,
            None if self.cells is None else self.cells[places],
            self.shared_people and among(self.shared_people, places, len(self)),
            None if self.pairs is None else _renumbered(self.pairs, places, len(self)),
        )


def _keys(cells: Integers | NDArray[np.int32]) -> Integers | NDArray[np.int32]:
    """Equal where the rows are, and in the same order: one number for each row if that fits."""
    sizes = [int(most) + 1 for most in cells.max(axis=0)]
    if int(cells.min()) < 0 or prod(sizes) >= 1 << _BITS:
        return cells
    keys = np.zeros(len(cells), dtype=np.int64)
    for place, size in enumerate(sizes):
        keys = keys * size + cells[:, place]
    return keys


def _renumbered(pairs: Integers, places: Integers, classes: int) -> Integers:
    """Who is in which of the classes that are left."""
    place = np.full(classes, -1, dtype=np.int64)
    place[places] = np.arange(len(places))
    left = np.column_stack((pairs[:, 0], place[pairs[:, 1]]))
    return left[left[:, 1] >= 0]


def among(people_in: PeopleIn, places: Integers, classes: int) -> PeopleIn:
    """Counting people in some of the classes only: the others go to one more group, which is left out."""

    def restricted(groups: Integers, number: int) -> Integers:
        everywhere = np.full(classes, number, dtype=np.int64)
        everywhere[places] = groups
        return people_in(everywhere, number + 1)[:number]

    return restricted
