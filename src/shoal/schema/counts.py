"""Counts: distinct combinations of attributes and how many records and people have each.

This is all that a solver ever sees of the data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.kernels.arrays import Integers, sums_by

Codes = NDArray[np.uint8] | NDArray[np.uint16] | NDArray[np.uint32] | NDArray[np.int32]

_BITS = 63
_FIRST, _FEW = 50_000, 1_000


def _no_pairs() -> Integers:
    return np.empty((0, 2), dtype=np.int64)


@dataclass(frozen=True)
class Counts:
    """``codes[i, j]`` is the position of combination i's value of attribute j in ``values[j]``.

    ``people[i]`` counts the people who appear in combination i *only*; those who appear in several are listed as
    (person, combination) pairs in ``shared``, so that any union of combinations can be counted exactly in people.
    Where no person column is declared, a record is a person. Values and combinations are in sorted order (missing
    last), so equal data give equal counts whatever engine or thread counted them.
    """

    attributes: tuple[str, ...]
    values: tuple[pl.Series, ...]
    codes: NDArray[np.int32]
    records: Integers
    people: Integers
    shared: Integers = field(default_factory=_no_pairs)

    @classmethod
    def from_frame(cls, frame: pl.DataFrame, attributes: tuple[str, ...], records: str) -> Counts:
        """From a frame with one row per distinct combination and a column of record counts."""
        values, codes, order = _encode(frame, attributes)
        counted = frame[records].cast(pl.Int64).to_numpy()[order]
        return cls(attributes, values, codes, counted, counted)

    @classmethod
    def from_codes(
        cls, attributes: tuple[str, ...], values: tuple[pl.Series, ...], columns: Sequence[Codes], records: Integers
    ) -> Counts:
        """From the codes of distinct combinations, one column per attribute, with their records, in any order."""
        order = _order(columns, values, len(records))
        counted = records[order]
        return cls(attributes, values, _sorted_codes(columns, order), counted, counted)

    @classmethod
    def from_pairs(cls, frame: pl.DataFrame, attributes: tuple[str, ...], person: str, records: str) -> Counts:
        """From a frame with one row per distinct (combination, person) and a column of record counts.

        All records without a person count as one person: the safe side.
        """
        frame = frame.with_columns(pl.struct(attributes).rank("dense").cast(pl.Int64).alias("__combination"))
        combinations = frame.unique("__combination").sort("__combination")
        values, codes, order = _encode(combinations, attributes)
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        where = place[frame["__combination"].to_numpy() - 1]
        who = frame[person].rank("dense").fill_null(0).cast(pl.Int64).to_numpy()
        counted = np.zeros(len(order), dtype=np.int64)
        np.add.at(counted, where, frame[records].cast(pl.Int64).to_numpy())
        several = np.bincount(who)[who] > 1
        single = np.bincount(where[~several], minlength=len(order)).astype(np.int64)
        return cls(attributes, values, codes, counted, single, _pairs(who[several], where[several]))

    @classmethod
    def from_shared(  # noqa: PLR0913  # what is known of combinations, and of the people who are in several
        cls,
        frame: pl.DataFrame,
        attributes: tuple[str, ...],
        *,
        records: str,
        single: str,
        shared: pl.DataFrame,
        person: str,
    ) -> Counts:
        """From one row per distinct combination, with its records and the people who appear in no other, and one row
        per distinct (combination, person) of those who appear in several.

        A missing person is one like others.
        """
        values, codes, order = _encode(frame, attributes)
        counted, alone = (frame[name].cast(pl.Int64).to_numpy()[order] for name in (records, single))
        both = pl.concat([frame[order].select(attributes), shared.select(attributes)])
        rank = both.select(pl.struct(attributes).rank("dense")).to_series().cast(pl.Int64).to_numpy() - 1
        place = np.empty(len(order), dtype=np.int64)
        place[rank[: len(order)]] = np.arange(len(order))
        where = place[rank[len(order) :]]
        who = shared[person].rank("dense").fill_null(0).cast(pl.Int64).to_numpy()
        return cls(attributes, values, codes, counted, alone, _pairs(who, where))

    @property
    def size(self) -> int:
        return len(self.records)

    @property
    def total_records(self) -> int:
        return int(self.records.sum())

    @property
    def total_people(self) -> int:
        return int(self.people.sum()) + len(np.unique(self.shared[:, 0]))

    def people_in(self, groups: Integers, number: int) -> Integers:
        """Distinct people per group, when combination i belongs to group ``groups[i]`` of ``number``."""
        people = np.zeros(number, dtype=np.int64)
        np.add.at(people, groups, self.people)
        if len(self.shared):
            pairs = np.unique(np.column_stack((groups[self.shared[:, 1]], self.shared[:, 0])), axis=0)
            np.add.at(people, pairs[:, 0], 1)
        return people

    def project(self, attributes: tuple[str, ...]) -> tuple[Counts, Integers]:
        """The counts by some of the attributes only, and for each combination here its place there."""
        if attributes == self.attributes:
            return self, np.arange(self.size)
        places = [self.attributes.index(name) for name in attributes]
        values = tuple(self.values[place] for place in places)
        columns = [self.codes[:, place] for place in places]
        order = _order(columns, values, self.size)
        new = np.zeros(self.size, dtype=bool)
        new[:1] = True
        for column in columns:
            new[1:] |= np.diff(column[order]) != 0
        where = np.empty(self.size, dtype=np.int64)
        where[order] = np.cumsum(new) - 1
        number = int(new.sum())
        codes = np.asfortranarray(self.codes[order[new]][:, places])
        records = sums_by(where, self.records, number)
        people = records
        if self.people is not self.records:
            people = sums_by(where, self.people, number)
        shared = np.column_stack((self.shared[:, 0], where[self.shared[:, 1]]))
        return Counts(attributes, values, codes, records, people, np.unique(shared, axis=0)), where

    def values_of(self, attribute: str) -> pl.Series:
        return self.values[self.attributes.index(attribute)]

    def value_counts(self, attribute: str) -> pl.DataFrame:
        """Columns ``value`` and ``records`` of one attribute."""
        position = self.attributes.index(attribute)
        records = np.zeros(len(self.values[position]), dtype=np.int64)
        np.add.at(records, self.codes[:, position], self.records)
        return pl.DataFrame({"value": self.values[position], "records": records})

    def frame(self) -> pl.DataFrame:
        """The combinations as values, one row each, in the order of ``records``."""
        return pl.DataFrame(
            [
                values.gather(self.codes[:, position]).alias(name)
                for position, (name, values) in enumerate(zip(self.attributes, self.values, strict=True))
            ]
        )


def _pairs(who: Integers, where: Integers) -> Integers:
    """(person, combination), people numbered by the combinations they appear in, whatever they were called before."""
    together = pl.DataFrame({"who": who, "where": where}).sort("who", "where").group_by("who", maintain_order=True)
    people = together.agg("where").select("where").sort("where").with_row_index("person")
    return people.explode("where").select(pl.col("person").cast(pl.Int64), "where").to_numpy().reshape(-1, 2)


def _encode(
    frame: pl.DataFrame, attributes: tuple[str, ...]
) -> tuple[tuple[pl.Series, ...], NDArray[np.int32], Integers]:
    """The distinct values of each attribute, each combination as codes into them, and the order that sorts both."""
    values = _values_at_first(frame, attributes)
    try:
        coded = frame.select(_codes(name, known) for name, known in zip(attributes, values, strict=True))
    except pl.exceptions.InvalidOperationError:
        # A value further down.
        values = tuple(_distinct(frame[name]) for name in attributes)
        coded = frame.select(_codes(name, known) for name, known in zip(attributes, values, strict=True))
    columns = [coded[name].to_numpy() for name in attributes]
    order = _order(columns, values, frame.height)
    return values, _sorted_codes(columns, order), order


def _sorted_codes(columns: Sequence[Codes], order: Integers) -> NDArray[np.int32]:
    codes = np.empty((len(order), len(columns)), dtype=np.int32, order="F")
    for place, column in enumerate(columns):
        codes[:, place] = column[order]
    return codes


def _values_at_first(frame: pl.DataFrame, attributes: tuple[str, ...]) -> tuple[pl.Series, ...]:
    """The distinct values of each attribute; of text with few, those of the first combinations, which are mostly all.

    What is overlooked so is found when the values are coded. It saves a third of that work.
    """
    values = []
    for name in attributes:
        column = frame[name]
        first = _distinct(column.head(_FIRST))
        seen = column.dtype == pl.String() and len(first) < _FEW and bool(first.null_count()) == column.has_nulls()
        values.append(first if seen else _distinct(column))
    return tuple(values)


def _distinct(column: pl.Series) -> pl.Series:
    return column.unique().sort(nulls_last=True)


def _codes(name: str, known: pl.Series) -> pl.Expr:
    """The position of each value among the known ones, in whatever integers hold it; missing is the last of them."""
    there = known.drop_nulls()
    if known.dtype == pl.String():
        code = pl.col(name).cast(pl.Enum(there)).to_physical()
    else:
        places = pl.int_range(len(there), dtype=pl.Int32, eager=True)
        code = pl.col(name).replace_strict(there, places, default=None)
    return (code.cast(pl.Int32).fill_null(len(there)) if known.null_count() else code).alias(name)


def _order(codes: Sequence[Codes], values: tuple[pl.Series, ...], height: int) -> Integers:
    """Sorted by the codes, first attribute first: by one number for all of them where that fits 63 bits."""
    combinations = prod(len(known) for known in values)
    if combinations > np.iinfo(np.int64).max:
        return np.lexsort(codes[::-1])
    key = np.zeros(height, dtype=np.int64)
    for code, known in zip(codes, values, strict=True):
        key *= len(known)
        key += code
    bits = height.bit_length()
    if combinations.bit_length() + bits > _BITS:
        return np.argsort(key)
    # Sorting numbers is several times faster than sorting positions by them, so the position is part of the number.
    key <<= bits
    key |= np.arange(height)
    key.sort()
    return key & ((1 << bits) - 1)
