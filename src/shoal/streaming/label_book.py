"""What the values of a quasi-identifier are called on each level of its hierarchy, learnt as they come.

Only hierarchies whose labels follow from the policy alone fit a stream: a label never depends on what else was read.
Values are numbered in the order in which they first came; a level is an array from that number to the label's.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np
import polars as pl

from shoal.errors import DataError
from shoal.hierarchy import TOP, Hierarchy
from shoal.hierarchy.kinds.redact import RedactionHierarchy
from shoal.kernels.arrays import Integers
from shoal.schema import Column

UNKNOWN: Final = -1
MOST_VALUES: Final = 200_000
"""More are forgotten, but for those of records that wait."""


@dataclass
class LabelBook:
    """
    >>> from shoal.hierarchy.kinds.intervals import IntervalHierarchy
    >>> from shoal.schema import ValueType
    >>> column = Column("age", ValueType.INTEGER, pl.Int64())
    >>> book = LabelBook(column, IntervalHierarchy(widths=(10, 20)))
    >>> codes = book.number(pl.Series([34, 38, None]))
    >>> book.height, [book.labels(codes, level).to_list() for level in range(4)]
    (3, [['34', '38', None], ['30-39', '30-39', None], ['20-39', '20-39', None], ['*', '*', '*']])
    """

    column: Column
    hierarchy: Hierarchy
    height: int = 0
    _numbers: dict[object, int] = field(default_factory=dict)
    _labels: list[dict[str | None, int]] = field(default_factory=list)
    """Per level below the top, the number of each label."""
    _raised: list[Integers] = field(default_factory=list)
    """Per level below the top, the number of the label of each value."""

    def __post_init__(self) -> None:
        self.height = len(self._levels_of([]))
        self._forget()

    def number(self, values: pl.Series) -> Integers:
        """The number of each value; ``UNKNOWN`` where the hierarchy does not know it."""
        distinct = values.unique()
        listed = distinct.to_list()
        new = [value for value in listed if value not in self._numbers]
        if new:
            self._learn(new)
        found = np.array([self._numbers[value] for value in listed], dtype=np.int64)
        return found[_places(values, distinct)]

    def raised(self, numbers: Integers, level: int) -> tuple[Integers, int]:
        """The number of each value's label on a level, and how many labels there are."""
        if level == self.height:
            return np.zeros(len(numbers), dtype=np.int64), 1
        return self._raised[level][numbers], len(self._labels[level])

    def labels(self, numbers: Integers, level: int) -> pl.Series:
        if level == self.height:
            return pl.Series(self.column.name, [TOP], dtype=pl.String()).new_from_index(0, len(numbers))
        known = pl.Series(self.column.name, list(self._labels[level]), dtype=pl.String())
        return known.gather(self._raised[level][numbers])

    def compacted(self, numbers: Integers) -> Integers:
        """The numbers of values that still are of interest, after all others were forgotten."""
        if len(self._numbers) <= MOST_VALUES:
            return numbers
        kept = np.unique(numbers)
        values = {number: value for value, number in self._numbers.items()}
        self._forget()
        self._learn([values[int(number)] for number in kept])
        return np.searchsorted(kept, numbers)

    def _forget(self) -> None:
        self._numbers = {}
        self._labels = [{} for _ in range(self.height)]
        self._raised = [np.empty(0, dtype=np.int64) for _ in range(self.height)]

    def _learn(self, new: list[object]) -> None:
        known, labels = self._learnt(new)
        self._numbers |= dict.fromkeys(new, UNKNOWN)
        first = len(self._raised[0])
        self._numbers |= {value: first + place for place, value in enumerate(known)}
        for level, (texts, numbers) in enumerate(zip(labels, self._labels, strict=True)):
            made = [numbers.setdefault(text, len(numbers)) for text in texts.to_list()]
            self._raised[level] = np.concatenate((self._raised[level], np.array(made, dtype=np.int64)))

    def _learnt(self, new: list[object]) -> tuple[list[object], list[pl.Series]]:
        """Those that the hierarchy knows, with their labels on the levels below the top."""
        try:
            return new, self._levels_of(new)
        except DataError:
            known = [value for value in new if self._knows(value)]
            return known, self._levels_of(known)

    def _knows(self, value: object) -> bool:
        try:
            self._levels_of([value])
        except DataError:
            return False
        return True

    def _levels_of(self, values: list[object]) -> list[pl.Series]:
        series = pl.Series(self.column.name, values, dtype=self.column.storage)
        beside = pl.Series(self.column.name, _longest(self.hierarchy), dtype=self.column.storage)
        every = series.extend(beside) if len(beside) else series
        distinct = pl.DataFrame({"value": every, "records": np.ones(len(every), dtype=np.int64)})
        bound = self.hierarchy.bind(self.column, distinct)
        asked = every.head(len(values))
        levels = [bound.generalise(asked, level) for level in range(bound.height)]
        return [level.cast(pl.String) for level in levels]


def _longest(hierarchy: Hierarchy) -> list[str]:
    """A redaction has the steps that its longest value can take: with one that is longer than all steps it has all."""
    if isinstance(hierarchy, RedactionHierarchy) and hierarchy.steps:
        return ["0" * (hierarchy.steps[-1] + 1)]
    return []


def _places(values: pl.Series, distinct: pl.Series) -> Integers:
    if values.dtype == pl.String():
        there = distinct.drop_nulls()
        codes = values.cast(pl.Enum(there)).to_physical()
        where = {value: place for place, value in enumerate(distinct.to_list())}
        order = np.array([where[value] for value in there.to_list()] + [where.get(None, 0)], dtype=np.int64)
        found: Integers = order[codes.fill_null(len(there)).to_numpy().astype(np.int64)]
        return found
    lookup = pl.int_range(len(distinct), dtype=pl.Int64, eager=True)
    return values.replace_strict(distinct, lookup, return_dtype=pl.Int64).to_numpy()
