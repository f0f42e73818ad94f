"""Counting by one number for each combination: the quick way where attributes have few values, or whole ones.

Each value gets a code, the codes of a record are packed into 63 bits, and sorting such numbers is all the counting.
Codes are found as the records pass by: the first records show most values, and where a new one turns up, it gets a code
of its own and what was counted so far is packed anew. A table that doesn't fit 63 bits, or has attributes of other
types or with very many values, is counted by `count_groups`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.kernels.arrays import Integers
from shoal.kernels.batch_streams import told_batches
from shoal.kernels.group_counts import BATCH_RECORDS, SEGMENT_RECORDS, count_groups
from shoal.schema.counts import Counts

MOST_CODES = 1 << 20
"""Codes of one attribute; 0 is for a missing value."""
_BITS = 63
_FAR = 1 << 61
_RECORDS = "__shoal_records"


class _DoesNotFitError(Exception):
    """The combinations can't be packed."""


@dataclass(frozen=True)
class _Texts:
    """The code of a text is its place among those known, from 1."""

    name: str
    known: pl.Series

    @property
    def bits(self) -> int:
        """With room for as many values again."""
        return (2 * len(self.known)).bit_length()

    @property
    def code(self) -> pl.Expr:
        places = pl.col(self.name).cast(pl.Enum(self.known), strict=False).to_physical()
        return places.cast(pl.Int64) + 1

    def with_more(self, seen: pl.Series) -> _Texts:
        new = seen.drop_nulls().unique()
        new = new.filter(~new.is_in(self.known.implode())).sort()
        return replace(self, known=pl.concat([self.known, new]))

    def values(self, codes: Integers) -> pl.Series:
        return self.known.gather(codes - 1)


@dataclass(frozen=True)
class _Wholes:
    """The code of a whole number, a date or a truth value is its distance from the lowest, from 1."""

    name: str
    dtype: pl.DataType
    lowest: int
    highest: int

    @property
    def bits(self) -> int:
        return (self.highest - self.lowest + 1).bit_length()

    @property
    def code(self) -> pl.Expr:
        number = pl.col(self.name).to_physical().cast(pl.Int64)
        return pl.when(number.is_between(self.lowest, self.highest)).then(number - (self.lowest - 1))

    def with_more(self, seen: pl.Series) -> _Wholes:
        """With room for half as many values again on the side where there are more."""
        numbers = seen.to_physical().cast(pl.Int64)
        least, most = int(numbers.min()), int(numbers.max())  # type: ignore[arg-type]  # integers, or it isn't asked
        room = (max(most, self.highest) - min(least, self.lowest)) // 2
        lowest = least - room if least < self.lowest else self.lowest
        highest = most + room if most > self.highest else self.highest
        return replace(self, lowest=lowest, highest=highest)

    def values(self, codes: Integers) -> pl.Series:
        return pl.Series(self.name, codes + (self.lowest - 1)).cast(self.dtype)


_Code = _Texts | _Wholes


@dataclass(frozen=True)
class _Packing:
    """How the codes of a record make one number, first attribute first."""

    codes: tuple[_Code, ...]

    @property
    def shifts(self) -> tuple[int, ...]:
        bits = [code.bits for code in self.codes]
        return tuple(sum(bits[place + 1 :]) for place in range(len(bits)))

    def check(self) -> None:
        if sum(code.bits for code in self.codes) > _BITS or any(1 << code.bits > 2 * MOST_CODES for code in self.codes):
            raise _DoesNotFitError

    def pack(self, columns: Sequence[Integers]) -> Integers:
        packed = np.zeros(len(columns[0]), dtype=np.int64)
        for column, shift in zip(columns, self.shifts, strict=True):
            packed |= column << shift
        return packed

    def unpack(self, packed: Integers) -> list[Integers]:
        return [(packed >> shift) & ((1 << code.bits) - 1) for code, shift in zip(self.codes, self.shifts, strict=True)]

    def encode(self, batch: pl.DataFrame) -> Integers | None:
        """One number for each record; None if the batch has values that have no code."""
        coded = batch.select(code.code.alias(code.name) for code in self.codes)
        if any(coded[name].null_count() != batch[name].null_count() for name in batch.columns):
            return None
        return self.pack([column.fill_null(0).to_numpy() for column in coded])

    def with_more(self, batch: pl.DataFrame) -> _Packing:
        coded = batch.select(code.code.alias(code.name) for code in self.codes)
        grown = _Packing(
            tuple(
                code.with_more(batch[code.name])
                if coded[code.name].null_count() != batch[code.name].null_count()
                else code
                for code in self.codes
            )
        )
        grown.check()
        return grown

    def again(self, packed: Integers, before: _Packing) -> Integers:
        """What was packed before, packed in this way; sorted numbers stay sorted."""
        moved = (
            new.lowest - old.lowest if isinstance(new, _Wholes) and isinstance(old, _Wholes) else 0
            for new, old in zip(self.codes, before.codes, strict=True)
        )
        columns = [
            np.where(column > 0, column - up, 0) for column, up in zip(before.unpack(packed), moved, strict=True)
        ]
        return self.pack(columns)


def count_combinations(
    frame: pl.LazyFrame, attributes: tuple[str, ...], *, segment_records: int = SEGMENT_RECORDS
) -> Counts:
    """The distinct combinations of one or more attributes with their records, in one streamed pass (mostly).

    >>> table = pl.LazyFrame({"city": ["Pune", None, "Pune"], "age": [34, 7, 34]})
    >>> counts = count_combinations(table, ("city", "age"))
    >>> counts.frame().rows(), counts.records.tolist()
    ([('Pune', 34), (None, 7)], [2, 1])
    """
    try:
        return _count(frame.select(attributes), attributes, segment_records)
    except _DoesNotFitError:
        return Counts.from_frame(count_groups(frame, attributes, _RECORDS), attributes, _RECORDS)


def _count(narrow: pl.LazyFrame, attributes: tuple[str, ...], segment_records: int) -> Counts:
    schema = narrow.collect_schema()
    if not all(_codable(dtype) for dtype in schema.values()):
        raise _DoesNotFitError
    batches = told_batches(narrow, BATCH_RECORDS)
    first = next((batch for batch in batches if batch.height), None)
    if first is None:
        raise _DoesNotFitError
    packing = _Packing(tuple(_first_code(first[name]) for name in attributes))
    packing.check()
    packed, records = _nothing(), _nothing()
    waiting = [_encoded(packing, first)]
    for batch in batches:
        if (more := packing.encode(batch)) is None:
            packed, records = _added(packed, records, waiting)
            before, packing = packing, packing.with_more(batch)
            packed, waiting = packing.again(packed, before), []
            more = _encoded(packing, batch)
        waiting.append(more)
        # Adding up costs as much as the combinations are many, so segments grow with them.
        if sum(map(len, waiting)) >= max(segment_records, 4 * len(packed)):
            packed, records = _added(packed, records, waiting)
            waiting = []
    packed, records = _added(packed, records, waiting)
    return _counts(packing, attributes, packed, records)


def _codable(dtype: pl.DataType) -> bool:
    return dtype in (pl.String, pl.Boolean, pl.Date) or (dtype.is_integer() and dtype not in (pl.UInt64, pl.Int128))


def _first_code(column: pl.Series) -> _Code:
    if column.dtype == pl.String():
        return _Texts(column.name, column.drop_nulls().unique().sort())
    numbers = column.to_physical().cast(pl.Int64)
    if numbers.null_count() == len(numbers) or not numbers.is_between(-_FAR, _FAR).all():
        raise _DoesNotFitError
    return _Wholes(column.name, column.dtype, int(numbers.min()), int(numbers.max()))  # type: ignore[arg-type]


def _encoded(packing: _Packing, batch: pl.DataFrame) -> Integers:
    packed = packing.encode(batch)
    if packed is None:
        raise _DoesNotFitError
    return packed


def _nothing() -> Integers:
    return np.empty(0, dtype=np.int64)


def _added(packed: Integers, records: Integers, waiting: Sequence[Integers]) -> tuple[Integers, Integers]:
    """The sorted combinations with their records, and those that wait added to them."""
    if not waiting:
        return packed, records
    new = np.concatenate(waiting)
    new.sort()
    starts = _starts(new)
    new, counted = new[starts], np.diff(np.append(starts, len(new)))
    if not len(packed):
        return new, counted
    both = np.concatenate((packed, new))
    order = np.argsort(both, kind="stable")
    both = both[order]
    starts = _starts(both)
    return both[starts], np.add.reduceat(np.concatenate((records, counted))[order], starts)


def _starts(ordered: Integers) -> Integers:
    """Where the runs of equal numbers start."""
    return np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))


def _counts(packing: _Packing, attributes: tuple[str, ...], packed: Integers, records: Integers) -> Counts:
    ranked = [_ranked(code, column) for code, column in zip(packing.codes, packing.unpack(packed), strict=True)]
    return Counts.from_codes(attributes, tuple(values for values, _ in ranked), [codes for _, codes in ranked], records)


def _ranked(code: _Code, column: Integers) -> tuple[pl.Series, NDArray[np.int32]]:
    """The values that occur, in order and missing last, and the place of each combination's value among them."""
    there = np.zeros(1 << code.bits, dtype=bool)
    there[column] = True
    missing, there[0] = bool(there[0]), False
    codes = np.flatnonzero(there)
    values = code.values(codes)
    order = values.arg_sort().to_numpy()
    values = values.gather(order)
    places = np.zeros(len(there), dtype=np.int32)
    places[codes[order]] = np.arange(len(codes), dtype=np.int32)
    if missing:
        places[0] = len(codes)
        values = pl.concat([values, pl.Series(values.name, [None], dtype=values.dtype)])
    return values, places[column]
