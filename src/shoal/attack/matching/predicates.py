"""Predicates on records, and how many records meet them.

A predicate is a conjunction of conditions, one for each of a few attributes: "the released label is this one", or, for
numbers, "at least" or "at most this". Met by an original record means that the label covers the original value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property

import numpy as np
import polars as pl

from shoal.attack.matching.coverage import Coverage, known_places
from shoal.attack.matching.label_join import spread
from shoal.hierarchy.labels import read_numbers
from shoal.kernels.arrays import Floats, Integers, Mask, as_floats


class PredicateOperator(IntEnum):
    SAME = 0
    AT_LEAST = 1
    AT_MOST = 2


Condition = tuple[int, PredicateOperator, int]
"""The attribute's place, the test, and the code of the released label it is made from."""
Predicate = tuple[Condition, ...]


@dataclass(frozen=True)
class ReleasedAttribute:
    """One attribute of the release: distinct labels, the label of each record, labels as numbers if they are that."""

    labels: pl.Series
    codes: Integers
    numbers: Floats | None

    @classmethod
    def of(cls, column: pl.Series) -> ReleasedAttribute:
        labels = column.unique(maintain_order=True)
        numbers = None
        if labels.dtype.is_numeric() or (labels.dtype == pl.String and labels.drop_nulls().len()):
            read = read_numbers(labels)
            if read.count() == len(labels) - labels.null_count() > 0:
                numbers = as_floats(read)
        return cls(labels, known_places(column, labels), numbers)

    @property
    def counts(self) -> Integers:
        return np.bincount(self.codes, minlength=len(self.labels))

    @property
    def median(self) -> float:
        known = np.empty(0) if self.numbers is None else self.numbers[self.codes]
        known = known[~np.isnan(known)]
        return float(np.median(known)) if len(known) else float("nan")

    def guess(self, uniform: Floats) -> tuple[Integers, Mask]:
        """For each number in (0, 1) a label, and whether it is the value that was drawn; of numbers the next one.

        >>> labels, exact = ReleasedAttribute.of(pl.Series([1, 2, 4])).guess(np.array([0.1, 0.3, 0.6, 0.9]))
        >>> labels.tolist(), exact.tolist()
        ([0, 1, 2, 2], [True, True, False, True])
        """
        if self.numbers is None:
            drawn = (uniform * len(self.labels)).astype(np.int64)
            return drawn, self.counts[drawn] > 1
        order = np.argsort(self.numbers)[: int(np.isfinite(self.numbers).sum())]
        numbers = self.numbers[order]
        step = _step(numbers)
        value = numbers[0] + np.floor(uniform * (round((numbers[-1] - numbers[0]) / step) + 1)) * step
        place = np.minimum(np.searchsorted(numbers, value - step / 2), len(numbers) - 1)
        return order[place], np.abs(numbers[place] - value) < step / 2


def _step(numbers: Floats) -> float:
    """The last decimal that the numbers are written to."""
    decimals = (10.0**-places for places in range(6))
    return next(
        (step for step in decimals if np.allclose(numbers, np.rint(numbers / step) * step, rtol=0, atol=step / 1e4)),
        1e-6,
    )


@dataclass(frozen=True)
class PredicateTable:
    """A table in which predicates on the release are tested: the release itself, the original, or strangers."""

    columns: tuple[PredicateColumn, ...]
    rows: int
    who: Integers | None = None
    """Whose each row is, where people have several."""

    @classmethod
    def released(cls, attributes: Sequence[ReleasedAttribute]) -> PredicateTable:
        return cls(tuple(PredicateColumn.released(each) for each in attributes), len(attributes[0].codes))

    @classmethod
    def known(
        cls,
        attributes: Sequence[ReleasedAttribute],
        frame: pl.DataFrame,
        names: Sequence[str],
        domain: pl.DataFrame,
        who: Integers | None = None,
    ) -> PredicateTable:
        """``domain`` has values that there are, beside those of the frame."""
        both = zip(attributes, names, strict=True)
        return cls(
            tuple(PredicateColumn.known(each, frame[name], domain[name]) for each, name in both), frame.height, who
        )

    def meeting(self, predicates: Sequence[Predicate]) -> Integers:
        """How many rows meet each predicate."""
        return np.array([len(self.rows_meeting(predicate)) for predicate in predicates], dtype=np.int64)

    def isolated(self, predicates: Sequence[Predicate]) -> Integers:
        """The same where all of them are one person's; otherwise 0."""
        return np.array([self._of_one(self.rows_meeting(predicate)) for predicate in predicates], dtype=np.int64)

    def _of_one(self, rows: Integers) -> int:
        one = len(rows) == 1 if self.who is None else np.ptp(self.who[rows]) == 0 if len(rows) else False
        return len(rows) if one else 0

    def rows_meeting(self, predicate: Predicate) -> Integers:
        """The rows that meet the rarest condition are looked at again for each of the others."""
        first, *others = sorted(predicate, key=lambda condition: self.columns[condition[0]].count(condition))
        rows = self.columns[first[0]].rows_that(first)
        for condition in others:
            rows = rows[self.columns[condition[0]].meets(condition, rows)]
        return rows


@dataclass(frozen=True)
class PredicateColumn:
    """One attribute of the table: its rows in order of value, and of number, so that few have to be touched."""

    attribute: ReleasedAttribute
    coverage: Coverage
    codes: Integers

    @classmethod
    def released(cls, attribute: ReleasedAttribute) -> PredicateColumn:
        """A released label is only itself, whatever it covers."""
        places = np.arange(len(attribute.labels))
        nothing = np.zeros(len(places), dtype=bool)
        only_itself = Coverage(attribute.labels, attribute.labels, nothing, places, places)
        return cls(attribute, only_itself, attribute.codes)

    @classmethod
    def known(cls, attribute: ReleasedAttribute, values: pl.Series, domain: pl.Series) -> PredicateColumn:
        coverage = Coverage.of(values, attribute.labels, domain=domain)
        return cls(attribute, coverage, coverage.codes(values))

    @cached_property
    def numbers(self) -> Floats:
        """Of each row; NaN where it has none."""
        return np.asarray(as_floats(read_numbers(self.coverage.values))[self.codes])

    @cached_property
    def _by_number(self) -> tuple[Integers, Floats]:
        order = np.argsort(self.numbers, kind="stable")[: int(np.isfinite(self.numbers).sum())]
        return order, self.numbers[order]

    @cached_property
    def _by_value(self) -> tuple[Integers, Integers]:
        order = np.argsort(self.codes, kind="stable")
        return order, np.searchsorted(self.codes[order], np.arange(len(self.coverage.values) + 1))

    @cached_property
    def _by_label(self) -> tuple[Integers, Integers]:
        order = np.argsort(self.coverage.of_label, kind="stable")
        starts = np.searchsorted(self.coverage.of_label[order], np.arange(len(self.coverage.labels) + 1))
        return self.coverage.of_value[order], starts

    def count(self, condition: Condition) -> int:
        """How many rows meet it."""
        _, test, label = condition
        if test is not PredicateOperator.SAME:
            start, stop = self._stretch(test, label)
            return stop - start
        if self.coverage.everything[label]:
            return len(self.codes)
        values, starts = self._values(label), self._by_value[1]
        return int((starts[values + 1] - starts[values]).sum())

    def rows_that(self, condition: Condition) -> Integers:
        _, test, label = condition
        if test is not PredicateOperator.SAME:
            start, stop = self._stretch(test, label)
            return self._by_number[0][start:stop]
        if self.coverage.everything[label]:
            return np.arange(len(self.codes))
        values, (order, starts) = self._values(label), self._by_value
        return order[spread(starts[values], starts[values + 1] - starts[values])[1]]

    def meets(self, condition: Condition, rows: Integers) -> Mask:
        """Which of these rows do."""
        _, test, label = condition
        if test is PredicateOperator.SAME:
            return self.coverage.covers(self.codes[rows], np.full(len(rows), label))
        bound = self._bound(label)
        return np.asarray(
            self.numbers[rows] >= bound if test is PredicateOperator.AT_LEAST else self.numbers[rows] <= bound
        )

    def _values(self, label: int) -> Integers:
        values, starts = self._by_label
        return values[starts[label] : starts[label + 1]]

    def _stretch(self, test: PredicateOperator, label: int) -> tuple[int, int]:
        """From where to where the rows that meet the test lie, in the order of their numbers."""
        numbers = self._by_number[1]
        if test is PredicateOperator.AT_LEAST:
            return int(np.searchsorted(numbers, self._bound(label), side="left")), len(numbers)
        return 0, int(np.searchsorted(numbers, self._bound(label), side="right"))

    def _bound(self, label: int) -> float:
        numbers = self.attribute.numbers
        return float("nan") if numbers is None else float(numbers[label])
