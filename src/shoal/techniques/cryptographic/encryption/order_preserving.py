"""Order-preserving encryption (ISO/IEC 20889, 9.2.3): ciphertexts are whole numbers, sorted as the values are.

Sorting, ranks, medians and ranges work without the key, in one table and between tables that have the same key, the
same ``bounds`` and the same ``range_bits``. The cipher is that of Boldyreva and others (``crypto.order_preserving``).

It is the weakest of all ciphers, because its use is its leak. Equal values have equal ciphertexts and their ranks are
open: who knows how ages, salaries or birthdays are distributed finds most of them by laying one order beside the other,
and no key is needed for that (``shoal attack`` does it; Naveed, Kamara & Wright 2015). A column in which every value of
the domain occurs is open altogether. Use it inside the organisation, never as the only protection.

``bounds`` say which values there can be. A value outside stops the run; so does a change of the bounds stop ciphertexts
from being comparable, since they belong to the key. Numbers with decimals are scaled by the digits the column has, so
give ``decimals`` where tables of different digits are to be compared.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

import polars as pl

from shoal.crypto import Key
from shoal.crypto.hazmat.order_preserving import MOST_BITS, OrderPreserving
from shoal.errors import DataError
from shoal.kernels.arrays import Integers
from shoal.kernels.memo import Memo
from shoal.schema.columns import Column
from shoal.schema.values import DATES, NUMBERS, ValueType
from shoal.techniques.base import ColumnStep
from shoal.techniques.cryptographic.fixed_point import EXACT, Bounds, FixedPoint

if TYPE_CHECKING:
    from shoal.techniques.cryptographic.encryption.encrypt import Encrypt

SPARE_BITS = 8
"""A range less than 256 times the domain would leave so little choice that a ciphertext nearly is the value."""
READ_EVERYWHERE = 52
"""Bits of the range by default: whole numbers that spreadsheets and JSON readers keep exactly."""

TYPE_BOUNDS: Mapping[ValueType, Bounds] = MappingProxyType(
    {
        ValueType.DATE: (datetime.date(1, 1, 1), datetime.date(9999, 12, 31)),
        ValueType.DATETIME: (datetime.datetime(1900, 1, 1), datetime.datetime(2100, 1, 1)),  # noqa: DTZ001
    }
)
INTEGER_BOUNDS = (-(1 << 31), (1 << 31) - 1)
"""Without ``bounds``: integers of 32 bits, decimals that have them when scaled, every day of the calendar."""


def refuse_order(technique: Encrypt, column: Column) -> str | None:
    if column.type not in NUMBERS | DATES:
        return f"order-preserving encryption works on numbers and dates; column '{column.name}' is {column.type}"
    if technique.bounds is not None and column.is_date != isinstance(technique.bounds[0], datetime.date):
        return f"bounds are dates for dates and numbers for numbers; column '{column.name}' is {column.type}"
    low, high = _domain(technique, _scaled(technique, column))
    if low >= high:
        return f"the bounds leave fewer than two values for column '{column.name}'"
    if max(abs(low), abs(high)) >= EXACT and column.type is ValueType.DECIMAL:
        return f"the bounds of column '{column.name}' have more than 15 digits"
    least = (high - low).bit_length() + SPARE_BITS
    if least > (technique.range_bits or MOST_BITS):
        return f"the bounds of column '{column.name}' need a range of {least} bits; " + (
            f"range_bits is {technique.range_bits}" if technique.range_bits else f"at most {MOST_BITS} are possible"
        )
    return None


def bind_order(technique: Encrypt, column: Column, secret: Key) -> OrderStep:
    column = _scaled(technique, column)
    return OrderStep(column, cipher_of(technique, column, secret))


def leaves_order(column: Column) -> Column:
    return replace(column, type=ValueType.INTEGER, storage=pl.Int64(), scale=0, date_format=None)


def undo_order(technique: Encrypt, column: Column, encrypted: pl.Series, secret: Key) -> pl.Series:
    """The values again, for the column as it was before; missing ones missing."""
    column = _scaled(technique, column)
    cipher = cipher_of(technique, column, secret)
    return FixedPoint.of(column).written(Memo().map(encrypted.cast(pl.Int64), _on_columns(cipher.decrypt)))


def cipher_of(technique: Encrypt, column: Column, secret: Key) -> OrderPreserving:
    low, high = _domain(technique, column)
    bits = technique.range_bits or max(READ_EVERYWHERE, min(MOST_BITS, (high - low).bit_length() + 2 * SPARE_BITS))
    return OrderPreserving(secret, low, high, bits)


def _scaled(technique: Encrypt, column: Column) -> Column:
    if technique.decimals is None or not column.is_number:
        return column
    return replace(column, type=ValueType.DECIMAL, scale=technique.decimals)


def _domain(technique: Encrypt, column: Column) -> tuple[int, int]:
    given = technique.bounds or TYPE_BOUNDS.get(column.type)
    return FixedPoint.of(column).inside(*given) if given else INTEGER_BOUNDS


@dataclass(frozen=True)
class OrderStep(ColumnStep):
    """
    >>> step = OrderStep(Column("age", ValueType.INTEGER), OrderPreserving(Key(bytes(32)), 0, 120, 52))
    >>> step.apply(pl.DataFrame({"age": ["41", "7", None, "41"]}))["age"].rank("dense").to_list()
    [2, 1, None, 2]
    """

    cipher: OrderPreserving = field(repr=False)
    memo: Memo = field(default_factory=Memo, init=False, repr=False, compare=False)

    @property
    def adds(self) -> frozenset[str]:
        return frozenset("0123456789")

    def apply(self, frame: pl.DataFrame) -> pl.DataFrame:
        numbers = FixedPoint.of(self.column).read(self.column, frame[self.column.name])
        outside = int(((numbers < self.cipher.low) | (numbers > self.cipher.high)).sum())
        if outside:
            raise DataError(
                f"column '{self.column.name}': {outside} value(s) lie outside the bounds of its encryption",
                advice="give wider `bounds`; ciphertexts made with others can't be compared with these",
            )
        encrypted = self.memo.map(numbers, _on_columns(self.cipher.encrypt))
        return frame.with_columns(encrypted.alias(self.column.name))


def _on_columns(work: Callable[[Integers], Integers]) -> Callable[[pl.Series], pl.Series]:
    return lambda numbers: pl.Series(work(numbers.to_numpy()))
