"""Which original values a released cell can stand for, and so which released records a known person can be.

A label covers a value where it is that value, a wider form of it that anybody can read (``*``, ``30-39``, ``2026-03``,
``560xxx``, ``{a, b}``), or one that the hierarchy in the policy makes of it. A label that can't be read covers all: the
attacker can rule nothing out by it. A missing cell covers a missing value, and all of them where no value is missing in
the data, because then the release has taken it out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Self

import numpy as np
import polars as pl

from shoal.attack.matching.label_join import Codes, join
from shoal.attack.matching.label_pairs import LabelPairs, pairs_of
from shoal.errors import DataError
from shoal.kernels.arrays import Floats, Integers, Mask, places_among
from shoal.kernels.group_counts import count_groups

_RECORDS = "__shoal_records"
_PLACE = "__shoal_place"


@dataclass(frozen=True)
class Coverage:
    """Of one attribute: distinct ``values`` of the people, distinct released ``labels``, and what covers what."""

    values: pl.Series = field(repr=False)
    labels: pl.Series = field(repr=False)
    everything: Mask = field(repr=False)
    """Which labels cover every value; they are not repeated among the pairs."""
    of_value: Integers = field(repr=False)
    of_label: Integers = field(repr=False)
    """Beside each other: a value and a label that covers it, sorted by value, then label."""
    unread: int = 0
    """How many labels could not be read and cover everything for that reason."""

    @classmethod
    def of(
        cls,
        values: pl.Series,
        labels: pl.Series,
        known: pl.DataFrame | None = None,
        domain: pl.Series | None = None,
    ) -> Self:
        """``known`` has a value in its first column and in each further one a label that it may become.

        ``domain`` has further values that there are, which nobody among these people need have: a label that is one of
        them is then not taken for a word that can't be read.

        >>> seen = Coverage.of(pl.Series([34, 41]), pl.Series(["30-39", "41", "*"]))
        >>> seen.matrix().tolist()
        [[True, False, True], [False, True, True]]
        """
        if domain is not None:
            values = pl.concat([values.to_frame(), domain.rename(values.name).to_frame()], how="vertical_relaxed")[:, 0]
        values, labels = values.unique(maintain_order=True), labels.unique(maintain_order=True)
        read: LabelPairs = pairs_of(values, labels, known)
        return cls(values, labels, read.everything, read.of_value, read.of_label, read.unread)

    @cached_property
    def first(self) -> Integers:
        """Where the pairs of each value begin, and the end."""
        return np.searchsorted(self.of_value, np.arange(len(self.values) + 1))

    @cached_property
    def _keys(self) -> Integers:
        """Each pair as one number, in order."""
        return self.of_value * len(self.labels) + self.of_label

    def covers(self, values: Integers, labels: Integers) -> Mask:
        """For values and labels beside each other, given by their codes: whether the label covers the value."""
        asked = values * len(self.labels) + labels
        place = np.searchsorted(self._keys, asked)
        found = np.zeros(len(asked), dtype=bool)
        if len(self._keys):
            found = self._keys[np.minimum(place, len(self._keys) - 1)] == asked
        return np.asarray(self.everything[labels] | found)

    def matrix(self) -> Mask:
        """Values × labels, for small ones."""
        covers = np.tile(self.everything, (len(self.values), 1))
        covers[self.of_value, self.of_label] = True
        return covers

    def of_each(self, values: Integers) -> tuple[Mask, Integers]:
        """Distinct values, given by their codes, × all labels: what covers what; and the row of each of the values."""
        distinct, row = np.unique(values, return_inverse=True)
        labels = np.arange(len(self.labels))
        covers = self.covers(np.repeat(distinct, len(labels)), np.tile(labels, len(distinct)))
        return covers.reshape(len(distinct), -1), row

    def codes(self, values: pl.Series) -> Integers:
        """The place of each of the values among the distinct ones."""
        return known_places(values, self.values)

    def label_codes(self, labels: pl.Series) -> Integers:
        return known_places(labels, self.labels)


def compatible(targets: Codes, classes: Codes, coverages: Sequence[Coverage]) -> Iterator[tuple[Integers, Integers]]:
    """Pairs of rows of ``targets`` and ``classes`` that agree on all attributes, in blocks of bounded size.

    One row for each combination, one column of codes for each attribute. Every pair comes once; the pairs of one
    target may be spread over several blocks.
    """
    return join(targets, classes, coverages)


@dataclass(frozen=True)
class Match:
    """People and released records, both as distinct combinations, and which of them go together."""

    coverages: tuple[Coverage, ...]
    targets: Codes = field(repr=False)
    target_of: Integers = field(repr=False)
    """For each person, the row of ``targets``."""
    classes: Codes = field(repr=False)
    class_of: Integers = field(repr=False)
    """For each released record, the row of ``classes``."""

    @classmethod
    def of(
        cls,
        release: pl.DataFrame,
        people: pl.DataFrame,
        attributes: Sequence[str],
        known: Mapping[str, pl.DataFrame] | None = None,
        domain: pl.DataFrame | None = None,
    ) -> Self:
        """``known`` has hierarchies by attribute, ``domain`` a table with values that these people need not have.

        >>> release = pl.DataFrame({"age": ["30-39", "30-39", "40+"]})
        >>> Match.of(release, pl.DataFrame({"age": [34, 41]}), ["age"]).candidates().tolist()
        [2, 1]
        """
        _check(release, people, attributes)
        coverages = tuple(
            Coverage.of(people[name], release[name], (known or {}).get(name), None if domain is None else domain[name])
            for name in attributes
        )
        targets, target_of = distinct_rows([each.codes(people[each.values.name]) for each in coverages])
        classes, class_of = distinct_rows([each.label_codes(release[each.labels.name]) for each in coverages])
        return cls(coverages, targets, target_of, classes, class_of)

    @property
    def records(self) -> Integers:
        """Released records of each class."""
        return np.bincount(self.class_of, minlength=len(self.classes))

    @property
    def unread(self) -> int:
        return sum(each.unread for each in self.coverages)

    def pairs(self) -> Iterator[tuple[Integers, Integers]]:
        """Rows of ``targets`` and ``classes`` that go together, in blocks."""
        return compatible(self.targets, self.classes, self.coverages)

    @cached_property
    def wide(self) -> Mask:
        """The classes that go with everybody, as those of thousands of pseudonyms that nobody can read."""
        covers = [each.everything[self.classes[:, place]] for place, each in enumerate(self.coverages)]
        return np.asarray(np.logical_and.reduce(covers))

    def told_pairs(self) -> Iterator[tuple[Integers, Integers]]:
        """The same without the wide classes, of which there is one pair for every target each."""
        told = np.flatnonzero(~self.wide)
        for target, released in compatible(self.targets, self.classes[told], self.coverages):
            yield target, told[released]

    def candidates(self) -> Integers:
        """For each person, the number of released records that can be theirs."""
        return np.rint(self.by_target(self.records)).astype(np.int64)[self.target_of]

    def by_target(self, weights: Integers | Floats) -> Floats:
        """For each row of ``targets``, the weights of the classes that go with it, added up."""
        if len(self.coverages) == 1:
            seen, labels = self.coverages[0], np.zeros(len(self.coverages[0].labels))
            labels[self.classes[:, 0]] = weights
            values = np.bincount(seen.of_value, labels[seen.of_label], len(seen.values))
            return np.asarray((values + labels[seen.everything].sum())[self.targets[:, 0]])
        total = np.full(len(self.targets), float(weights[self.wide].sum()))
        for target, released in self.told_pairs():
            total += np.bincount(target, weights=weights[released], minlength=len(total))
        return total

    def by_class(self, weights: Integers | Floats) -> Floats:
        """For each row of ``classes``, the weights of the targets that go with it, added up."""
        if len(self.coverages) == 1:
            seen, values = self.coverages[0], np.zeros(len(self.coverages[0].values))
            values[self.targets[:, 0]] = weights
            labels = np.bincount(seen.of_label, values[seen.of_value], len(seen.labels))
            return np.asarray(np.where(seen.everything, values.sum(), labels)[self.classes[:, 0]])
        total = np.where(self.wide, float(weights.sum()), 0.0)
        for target, released in self.told_pairs():
            total += np.bincount(released, weights=weights[target], minlength=len(total))
        return total

    def people(self, owner: pl.Series) -> Integers:
        """For each person, the number of people whose released records can be theirs.

        ``owner`` says whose each record is; one that nobody is known for counts as somebody's of their own.

        >>> release = pl.DataFrame({"age": ["30-39", "34", "40+"]})
        >>> Match.of(release, pl.DataFrame({"age": [34, 41]}), ["age"]).people(pl.Series([7, 7, 8])).tolist()
        [1, 1]
        """
        held = pl.DataFrame({"owner": owner, "class": self.class_of})
        nobodys, held = held.filter(pl.col("owner").is_null()), held.drop_nulls().unique()
        several = held.filter(pl.col("owner").is_duplicated())
        alone = held.filter(pl.col("owner").is_unique())
        known = np.concatenate([alone["class"].to_numpy(), nobodys["class"].to_numpy()])
        each = np.bincount(known, minlength=len(self.classes))
        total, seen = self.by_target(each), [pl.DataFrame(schema={"target": pl.Int64, "owner": owner.dtype})]
        everybodys = several.filter(pl.Series(self.wide[several["class"].to_numpy()], dtype=pl.Boolean))
        several = several.join(everybodys, on="owner", how="anti")
        total += everybodys["owner"].n_unique()
        for target, released in self.told_pairs() if several.height else ():
            pairs = pl.DataFrame({"target": target, "class": released})
            seen.append(pairs.join(several, on="class").select("target", "owner").unique())
        once = pl.concat(seen).unique()["target"].to_numpy()
        total += np.bincount(once, minlength=len(total))
        return np.rint(total).astype(np.int64)[self.target_of]

    def fits(self, people: Integers, records: Integers) -> Mask:
        """Whether the released record beside each person can be theirs."""
        return self.agrees(self.target_of[people], self.class_of[records])

    def agreeing(self, people: Integers, records: Integers, attributes: Sequence[int]) -> Mask:
        """The same by some of the attributes."""
        return self.agrees(self.target_of[people], self.class_of[records], attributes)

    def agrees(self, targets: Integers, classes: Integers, attributes: Sequence[int] | None = None) -> Mask:
        """The same for rows of ``targets`` and ``classes``."""
        agree = np.ones(len(targets), dtype=bool)
        for place in range(len(self.coverages)) if attributes is None else attributes:
            coverage = self.coverages[place]
            agree &= coverage.covers(self.targets[targets, place], self.classes[classes, place])
        return agree


def distinct_rows(columns: Sequence[Integers]) -> tuple[Codes, Integers]:
    """The distinct rows, and for each row which of them it is."""
    frame = pl.DataFrame({str(place): column for place, column in enumerate(columns)})
    names = frame.columns
    rows = count_groups(frame.lazy(), names, _RECORDS, at_most=frame.height).select(names).sort(names)
    numbered = rows.with_columns(pl.Series(_PLACE, np.arange(rows.height)))
    where = frame.join(numbered, on=names, how="left", maintain_order="left")[_PLACE]
    return rows.to_numpy().astype(np.int64).reshape(rows.height, len(columns)), where.to_numpy()


def known_places(values: pl.Series, among: pl.Series) -> Integers:
    """The place of each value among distinct ones, which have all of them."""
    found = places_among(values, among)
    if found.null_count():
        raise DataError(f"column '{values.name}': {found.null_count()} values were not known beforehand")
    return found.to_numpy()


def _check(release: pl.DataFrame, people: pl.DataFrame, attributes: Sequence[str]) -> None:
    if not attributes:
        raise DataError("there is no attribute to link by")
    for name in attributes:
        for frame, whose in ((release, "the release"), (people, "the people's table")):
            if name not in frame.columns:
                raise DataError(f"{whose} has no column '{name}' to link by")
    if not release.height or not people.height:
        raise DataError("there is nothing to link: a table has no rows")
