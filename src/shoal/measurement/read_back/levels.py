"""The levels of a quasi-identifier as numbers: which label each original value has on each level."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.errors import DataError
from shoal.hierarchy import BoundHierarchy
from shoal.hierarchy.base import TOP, escape_top
from shoal.kernels.arrays import Integers, Mask

Codes = NDArray[np.int32]
MISSING = "\0missing"
"""Stands for a missing cell among labels; no table has it."""


def as_text(values: pl.Series) -> pl.Series:
    return values.cast(pl.String).fill_null(MISSING)


@dataclass(frozen=True)
class Levels:
    """``labels[level][value]`` is the label of an original value as a place in ``vocabulary``; the top is left out."""

    attribute: str
    values: pl.Series
    """The distinct original values, as text."""
    labels: tuple[Codes, ...]
    vocabulary: pl.Series

    @classmethod
    def of(cls, attribute: str, values: pl.Series, bound: BoundHierarchy | None) -> Levels:
        """By a hierarchy, where the values are its own; else there is only the value itself."""
        distinct = values.unique().sort(nulls_last=True)
        ladder = [escape_top(as_text(distinct))]
        if bound is not None:
            try:
                ladder += [as_text(bound.generalise(distinct, level)) for level in range(1, bound.height)]
            except (DataError, pl.exceptions.PolarsError):
                ladder = ladder[:1]
        vocabulary = pl.concat(ladder).unique().sort()
        words = pl.Enum(vocabulary)
        labels = tuple(places_in(words, labels) for labels in ladder)
        return cls(attribute, as_text(distinct), labels, vocabulary)

    @property
    def height(self) -> int:
        """The level on which nothing is told any more."""
        return len(self.labels)

    def value_codes(self, values: pl.Series) -> Codes:
        """Places among the original values; -1 for others."""
        return places_in(self._values, as_text(values))

    def label_codes(self, released: pl.Series) -> Codes:
        """Places in the vocabulary; -1 for what no level has, and for a star, also where a level below the top has one:
        rare values that can't stand alone are starred at once."""
        codes = places_in(self.words, as_text(released))
        return codes if self.star is None else np.where(codes == self.star, -1, codes).astype(np.int32, copy=False)

    @cached_property
    def star(self) -> int | None:
        """The place of the star, where a hierarchy gives it to a value below its top; an original one is written
        otherwise."""
        return self.vocabulary.index_of(TOP)

    @cached_property
    def _values(self) -> pl.Enum:
        return pl.Enum(self.values)

    @cached_property
    def words(self) -> pl.Enum:
        """The vocabulary as a type."""
        return pl.Enum(self.vocabulary)

    def common(self, values: Codes, share: float) -> Mask:
        """Which labels, of whatever level, at least this share of the records has."""
        records = self._records(values)
        found = np.zeros(len(self.vocabulary), dtype=bool)
        for names in self.labels:
            counted = np.bincount(names, weights=records, minlength=1)
            found[counted.argmax()] |= counted.max() >= share * records.sum() - 1e-9
        return found

    def _records(self, values: Codes) -> Integers:
        """Of each original value."""
        return np.bincount(values[values >= 0], minlength=len(self.values))

    @cached_property
    def compact(self) -> tuple[tuple[Integers, Integers], ...]:
        """Per level, the label of each value by its place among those of the level, and these as words."""
        made = (np.unique(names, return_inverse=True) for names in self.labels)
        return tuple((places.astype(np.int64), words.astype(np.int64)) for words, places in made)

    @cached_property
    def above(self) -> NDArray[np.int32]:
        """Per level, the label there of each word of the vocabulary, where the word is finer than that; else -1."""
        found = np.full((self.height, len(self.vocabulary)), -1, dtype=np.int32)
        for level in reversed(range(self.height)):
            for higher in range(level + 1, self.height):
                found[higher][self.labels[level]] = self.labels[higher]
        return found

    def finer(self, told: Codes, released: Codes) -> Mask:
        """Whether each told label says more than the released one, and does not contradict it."""
        higher = self.above
        fits = released < 0
        for level in range(self.height):
            fits |= higher[level][told] == released
        finer: Mask = (told >= 0) & (told != released) & fits
        return finer if self.star is None else finer & (told != self.star)


def places_in(known: pl.Enum, values: pl.Series) -> Codes:
    """The place of each text among distinct ones; -1 for an unknown one."""
    codes = values.cast(known, strict=False).to_physical().cast(pl.Int32)
    return codes.fill_null(-1).to_numpy().astype(np.int32, copy=False)
