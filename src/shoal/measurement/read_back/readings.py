"""What an attacker reads off a released record: one reading for each way that columns tell an attribute.

A reading is learnt from records whose originals are known, and then looks at released columns alone, as an attacker
would; only the order of records is read beside the originals.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.kernels.arrays import Floats, Integers
from shoal.measurement.read_back.characters import laid_out
from shoal.measurement.read_back.dictionary import CodedColumn, DictionaryEntries, places_of
from shoal.measurement.read_back.disclosure_rule import DisclosureMethod
from shoal.measurement.read_back.levels import Codes, Levels, as_text, places_in
from shoal.measurement.read_back.value_parts import ValuePart
from shoal.schema import Column as Described

Told = tuple[Codes, NDArray[np.int8]]
Key = str | ValuePart
"""A column, or a part of one."""


class ReleasedView:
    """A released table, its columns as codes where they are asked for."""

    def __init__(
        self, frame: pl.DataFrame, columns: Mapping[Key, CodedColumn], *, taught: bool, gone: pl.DataFrame | None = None
    ) -> None:
        """``taught``: it is the very table that the columns were made of. ``gone``: cells that are read as nothing."""
        self.frame, self._gone = frame, gone
        self._columns = columns
        self._codes: dict[Key, Integers] = {key: one.codes for key, one in columns.items()} if taught else {}

    def codes(self, key: Key) -> Integers:
        if key not in self._codes:
            codes = self._columns[key].of_others(series_of(self.frame, key))
            name = key if isinstance(key, str) else key.column
            if self._gone is not None and name in self._gone.columns:
                codes = np.where(self._gone[name].to_numpy(), -1, codes).astype(codes.dtype)
            self._codes[key] = codes
        return self._codes[key]


def series_of(frame: pl.DataFrame, key: Key) -> pl.Series:
    return frame[key] if isinstance(key, str) else key.of(frame[key.column])


@dataclass(frozen=True)
class ColumnReading(ABC):
    columns: tuple[str, ...]
    attribute: str
    how: DisclosureMethod

    @abstractmethod
    def read(self, view: ReleasedView) -> Told:
        """Of each record the label that is told, as a place in the attribute's vocabulary, and its level; or -1."""

    def telling(self, columns: Mapping[Key, CodedColumn]) -> Mapping[str, pl.Series] | None:
        """Per column, the values that have a part in what is told; None where any may have."""
        del columns
        return None


@dataclass(frozen=True)
class ByValue(ColumnReading):
    key: Key
    entries: DictionaryEntries = field(repr=False)

    def read(self, view: ReleasedView) -> Told:
        return self.entries.told(view.codes(self.key))

    def telling(self, columns: Mapping[Key, CodedColumn]) -> Mapping[str, pl.Series] | None:
        if not isinstance(self.key, str):
            return None
        values = columns[self.key].valued(np.flatnonzero(self.entries.labels >= 0))
        return None if values is None else {self.key: values}


@dataclass(frozen=True)
class ByPair(ColumnReading):
    size: int
    """Values of the second column."""
    keys: Integers = field(repr=False)
    entries: DictionaryEntries = field(repr=False)

    def read(self, view: ReleasedView) -> Told:
        one, other = (view.codes(name) for name in self.columns)
        both = np.where((one >= 0) & (other >= 0), one * self.size + other, -1)
        return self.entries.told(places_of(self.keys, both))

    def telling(self, columns: Mapping[Key, CodedColumn]) -> Mapping[str, pl.Series] | None:
        keys = self.keys[self.entries.labels >= 0]
        codes = np.unique(keys // self.size), np.unique(keys % self.size)
        found = {name: columns[name].valued(each) for name, each in zip(self.columns, codes, strict=True)}
        told = {name: values for name, values in found.items() if values is not None}
        return told if len(told) == len(found) else None


@dataclass(frozen=True)
class ByCopy(ColumnReading):
    levels: Levels = field(repr=False)

    def read(self, view: ReleasedView) -> Told:
        return _on(self.levels, 0, self.levels.value_codes(view.frame[self.columns[0]]))


@dataclass(frozen=True)
class ByFormula(ColumnReading):
    """The attribute is nearly a sum of multiples of the columns."""

    level: int
    levels: Levels = field(repr=False)
    described: Sequence[Described] = field(repr=False)
    weights: Floats = field(repr=False)
    """Of the columns, then what is added."""
    values: Floats = field(repr=False)
    """The numbers that the original values are, in order, and their places."""
    places: Integers = field(repr=False)

    def read(self, view: ReleasedView) -> Told:
        matrix = numbers_in(view.frame, self.described)
        near = nearest(self.values, matrix @ self.weights[:-1] + self.weights[-1])
        return _on(self.levels, self.level, np.where(near >= 0, self.places[near], -1).astype(np.int32))


@dataclass(frozen=True)
class ByCharacters(ColumnReading):
    """Some characters stand in the other column, some in the attribute's own, others are always the same."""

    level: int
    levels: Levels = field(repr=False)
    length: int
    shown: Mapping[int, tuple[str, int]] = field(repr=False)
    """Where each character is read: column and place."""
    fixed: Mapping[int, str] = field(repr=False)

    def read(self, view: ReleasedView) -> Told:
        rows = view.frame.height
        letters = {name: laid_out(as_text(view.frame[name])) for name in {name for name, _ in self.shown.values()}}
        built = np.zeros((rows, self.length), dtype=np.uint32)
        for place in range(self.length):
            if place in self.fixed:
                built[:, place] = ord(self.fixed[place])
            else:
                name, there = self.shown[place]
                wide = letters[name]
                built[:, place] = wide[:, there] if there < wide.shape[1] else 0
        texts = pl.Series(built.view(f"<U{self.length}").ravel().astype(str).tolist(), dtype=pl.String)
        labels = places_in(self.levels.words, texts)
        possible = np.zeros(len(self.levels.vocabulary) + 1, dtype=bool)
        possible[self.levels.labels[self.level]] = True
        labels = np.where(possible[labels], labels, -1).astype(np.int32)
        return labels, np.where(labels >= 0, self.level, -1).astype(np.int8)


@dataclass(frozen=True)
class ByOrder(ColumnReading):
    """Sorted records: whoever knows how values are distributed knows where each begins."""

    levels: Levels = field(repr=False)
    original: Codes = field(repr=False)

    def read(self, view: ReleasedView) -> Told:
        return _on(self.levels, 0, self.original)


def _on(levels: Levels, level: int, values: Codes) -> Told:
    """The labels of original values on a level; -1 for unknown values."""
    known = values >= 0
    labels = np.where(known, levels.labels[level][values], -1).astype(np.int32)
    return labels, np.where(known, level, -1).astype(np.int8)


def numbers_in(frame: pl.DataFrame, described: Sequence[Described]) -> Floats:
    """Numbers as they are, dates as years; what can't be read, as a star, is NaN."""
    return np.column_stack([_numbers(frame[one.name], one) for one in described])


def _numbers(values: pl.Series, column: Described) -> Floats:
    if column.is_date:
        if values.dtype == pl.String():
            read = values.str.strptime(pl.Datetime("us"), column.date_format, strict=False)
        else:
            read = values.cast(pl.Datetime("us"), strict=False)
        return read.dt.epoch("s").cast(pl.Float64).fill_null(np.nan).to_numpy() / (365.2425 * 86400)
    return values.cast(pl.Float64, strict=False).fill_null(np.nan).to_numpy()


def nearest(sorted_values: Floats, numbers: Floats) -> Integers:
    """The place of the nearest of some values; -1 for what is no number or lies beyond them."""
    known = np.isfinite(numbers)
    asked = np.where(known, numbers, sorted_values[0])
    right = np.clip(np.searchsorted(sorted_values, asked), 1, max(1, len(sorted_values) - 1))
    left = right - 1
    right = np.minimum(right, len(sorted_values) - 1)
    closer = np.where(np.abs(sorted_values[right] - asked) < np.abs(asked - sorted_values[left]), right, left)
    span = sorted_values[-1] - sorted_values[0]
    inside = (asked >= sorted_values[0] - 0.05 * span) & (asked <= sorted_values[-1] + 0.05 * span)
    return np.where(known & inside, closer, -1)
