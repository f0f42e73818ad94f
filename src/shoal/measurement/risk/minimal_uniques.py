"""Minimal sample uniques: the smallest sets of attributes by which a record is the only one of its kind.

A record that is alone by some attributes is alone by any more of them too. So only records that are alone by all
attributes can have minimal sample uniques, and a record needs no look at a set when a part of the set already tells it
apart; nor does it then stand in another's way. Sets are taken by size (Manning, Haglin and Keane 2008 go by rare values
instead); each costs one sort of the distinct combinations that are still in question, not of the records.

A missing cell is a value of its own: records with nothing in an attribute are alike in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import accumulate, combinations, pairwise
from math import comb

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.errors import InputError
from shoal.kernels.arrays import Integers

Keys = NDArray[np.uint64]
Places = tuple[int, ...]

WORD = 64
WHOLE = (pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64)
MOST_SETS = 1 << 20
"""A search of more sets of attributes than this is refused: it would take hours."""


@dataclass(frozen=True)
class MinimalUnique:
    """One set of attributes, and the records for which it is a minimal sample unique."""

    attributes: Places
    """Places among the keys."""
    records: Integers
    """Places among the records that are alone by all keys."""


@dataclass(frozen=True)
class Uniques:
    alone: Integers
    """The rows of the records that are alone by all keys, in ascending order."""
    in_pairs: int
    """How many records have a combination that exactly one other record has."""
    minimal: tuple[MinimalUnique, ...]
    """By size, then by the order of the keys."""


def find_uniques(frame: pl.DataFrame, max_size: int) -> Uniques:
    """All minimal sample uniques of up to so many of the frame's columns."""
    sets = sum(comb(frame.width, size) for size in range(1, max_size + 1))
    if sets > MOST_SETS:
        raise InputError(f"{frame.width} keys have {sets:,} sets to search", advice="set a smaller max_size")
    table = _Combinations.of([encode(series) for series in frame.iter_columns()], frame.height)
    return Uniques(table.alone, table.in_pairs, tuple(_search(table, max_size)))


def encode(series: pl.Series) -> Keys:
    """Each value as a number from zero on, equal for equal values; missing ones are one more value."""
    if series.dtype == pl.String:
        series = series.cast(pl.Categorical)
    numbers = series.cast(pl.UInt8) if series.dtype == pl.Boolean else series.to_physical()
    low, high = _limits(numbers)
    if numbers.dtype not in WHOLE or (high - low).bit_length() > max(8, len(numbers).bit_length()):
        numbers = series.rank("dense")
        low, high = _limits(numbers)
    # Differences are right whatever the sign and width: unsigned numbers wrap around.
    some_missing = numbers.null_count() > 0
    codes: Keys = (numbers.fill_null(low) if some_missing else numbers).to_numpy().astype(np.uint64)
    codes -= np.uint64(low % (1 << WORD))
    if some_missing:
        codes[numbers.is_null().to_numpy()] = high - low + 1
    return codes


def _limits(numbers: pl.Series) -> tuple[int, int]:
    low, high = numbers.min(), numbers.max()
    return (low, high) if isinstance(low, int) and isinstance(high, int) else (0, 0)


def fold(columns: Sequence[Keys], most_bits: int = WORD) -> Keys:
    """One number per row for several columns, equal where all of them are, of no more than so many bits."""
    key, used = columns[0], bits_of(columns[0])
    for column in columns[1:]:
        bits = bits_of(column)
        if used + bits > WORD:
            key = _rank(key)
            used = bits_of(key)
        key, used = key << np.uint64(bits) | column, used + bits
    return key if used <= most_bits else _rank(key)


def _rank(key: Keys) -> Keys:
    return np.unique(key, return_inverse=True)[1].astype(np.uint64)


def bits_of(column: Keys) -> int:
    return int(column.max()).bit_length() if len(column) else 0


@dataclass(frozen=True)
class _Combinations:
    """The distinct combinations: first those of one record, then the others, which only stand in the way.

    The low bits of a key hold one more than the place of a record that is alone, and zero for the others.
    """

    alone: Integers
    in_pairs: int
    columns: tuple[Keys, ...]
    tags: Keys
    tag_bits: int
    packed: Keys | None
    """All columns and the tag in one number, where they fit."""
    fields: tuple[int, ...]
    """The bits of each column in it."""

    @classmethod
    def of(cls, columns: Sequence[Keys], records: int) -> _Combinations:
        bits = (records + 1).bit_length()
        sorted_keys = fold(columns, WORD - bits) << np.uint64(bits) | np.arange(records, dtype=np.uint64)
        sorted_keys.sort()
        rows = (sorted_keys & np.uint64((1 << bits) - 1)).astype(np.int64)
        sorted_keys >>= np.uint64(bits)
        starts = np.flatnonzero(sorted_keys[1:] != sorted_keys[:-1]) + 1
        starts = np.concatenate((np.zeros(min(records, 1), dtype=np.int64), starts))
        sizes = np.diff(starts, append=records)
        alone = np.sort(rows[starts[sizes == 1]])
        chosen = np.concatenate((alone, rows[starts[sizes > 1]]))
        return cls._tagged(alone, 2 * int((sizes == 2).sum()), tuple(column[chosen] for column in columns), bits)

    @classmethod
    def _tagged(cls, alone: Integers, in_pairs: int, columns: tuple[Keys, ...], bits: int) -> _Combinations:
        tags = np.zeros(len(columns[0]), dtype=np.uint64)
        tags[: len(alone)] = np.arange(1, len(alone) + 1)
        ends = list(accumulate((bits_of(column) for column in columns), initial=bits))
        packed = None
        if ends[-1] <= WORD:
            packed = tags.copy()
            for column, start in zip(columns, ends, strict=False):
                packed |= column << np.uint64(start)
        fields = tuple((1 << end) - (1 << start) for start, end in pairwise(ends))
        return cls(alone, in_pairs, columns, tags, bits, packed, fields)

    def tell_apart(self, attributes: Places, among: Integers) -> Integers:
        """Which of these records (of those that are alone by all keys) are alone by the attributes."""
        keys = self._keys(attributes, among)
        keys.sort()
        groups = keys >> np.uint64(self.tag_bits)
        differs = np.ones(len(keys) + 1, dtype=bool)
        np.not_equal(groups[1:], groups[:-1], out=differs[1:-1])
        tags = keys[differs[1:] & differs[:-1]] & np.uint64((1 << self.tag_bits) - 1)
        return tags[tags > 0].astype(np.int64) - 1

    def _keys(self, attributes: Places, among: Integers) -> Keys:
        """Of these records and of all that stand in the way."""
        number = len(self.alone)
        if self.packed is not None:
            kept = sum(self.fields[place] for place in attributes) + (1 << self.tag_bits) - 1
            keys = np.concatenate((self.packed[among], self.packed[number:]))
            keys &= np.uint64(kept)
            return keys
        rows = np.concatenate((among, np.arange(number, len(self.tags))))
        folded = fold([self.columns[place][rows] for place in attributes], WORD - self.tag_bits)
        return folded << np.uint64(self.tag_bits) | self.tags[rows]


def _search(table: _Combinations, max_size: int) -> Iterator[MinimalUnique]:
    """Level by level; ``alike`` has, for each set of the last level, the records that it leaves alike to another."""
    number = len(table.alone)
    alike: dict[Places, NDArray[np.uint8]] = {(): np.packbits(np.ones(number, dtype=bool))} if number else {}
    for size in range(1, max_size + 1):
        last, alike = alike, {}
        for attributes in combinations(range(len(table.columns)), size):
            parts = [last[part] for part in combinations(attributes, size - 1) if part in last]
            if len(parts) < size:
                continue
            left = np.unpackbits(reduce(np.bitwise_and, parts), count=number)
            in_question = np.flatnonzero(left)
            if not len(in_question):
                continue
            found = table.tell_apart(attributes, in_question)
            if len(found):
                yield MinimalUnique(attributes, found)
            if len(found) < len(in_question):
                left[found] = 0
                alike[attributes] = np.packbits(left)
