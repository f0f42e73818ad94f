"""Records of a stream as a table: the columns that the policy names, each of the type that it declares."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl

from shoal.errors import DataError
from shoal.kernels.arrays import Integers, Mask
from shoal.schema import Column, ValueType
from shoal.streaming.sources.base import RawRecord

STORAGES: Final[Mapping[ValueType, pl.DataType]] = {
    ValueType.INTEGER: pl.Int64(),
    ValueType.DECIMAL: pl.Float64(),
    ValueType.BOOLEAN: pl.Boolean(),
}
"""How values are held; dates and texts as text."""
_TRUTHS: Final = {"true": True, "false": False}
_NAMED: Final = 5


@dataclass(frozen=True)
class RecordShape:
    columns: Mapping[str, Column]
    """Those that are read."""
    ignored: frozenset[str] = frozenset()
    """Those that are suppressed, and read by nothing."""
    ignores_unnamed: bool = False

    def frame(self, records: Sequence[RawRecord | None]) -> tuple[pl.DataFrame, Integers]:
        """The records that can be read, and where they stand among all."""
        there = [number for number, record in enumerate(records) if record is not None]
        found = [record for record in records if record is not None]
        if not self.ignores_unnamed:
            self._refuse_unnamed(found)
        places = np.array(there, dtype=np.int64)
        made = [_series([record.get(name) for record in found], column) for name, column in self.columns.items()]
        bad = np.zeros(len(found), dtype=bool)
        for _, wrong in made:
            if wrong is not None:
                bad |= wrong
        frame = pl.DataFrame([series for series, _ in made])
        return (frame.filter(pl.Series(~bad)), places[~bad]) if bad.any() else (frame, places)

    def _refuse_unnamed(self, records: list[RawRecord]) -> None:
        known = self.columns.keys() | self.ignored
        unnamed = sorted(set().union(*records) - known)
        if unnamed:
            listed = ", ".join(f"'{name}'" for name in unnamed[:_NAMED])
            more = f" and {len(unnamed) - _NAMED} more" if len(unnamed) > _NAMED else ""
            raise DataError(
                f"records have field(s) {listed}{more} that the policy doesn't name",
                advice='name them, or add `"*": suppress`; what was published until now stays',
            )


def _series(values: list[object], column: Column) -> tuple[pl.Series, Mask | None]:
    """The values as a column, and which of them it can't hold; None where it holds all."""
    truths = column.is_number and bool in set(map(type, values))
    try:
        series = pl.Series(column.name, map(str, values) if truths else values, dtype=column.storage, strict=True)
    except (TypeError, OverflowError, ValueError, pl.exceptions.PolarsError):
        kept, wrong = _one_by_one(values, column)
        return pl.Series(column.name, kept, dtype=column.storage), wrong | _unread(kept, column)
    if column.storage == pl.Float64() and not bool(series.is_finite().all()):
        return series, (~series.is_finite()).fill_null(value=False).to_numpy()
    return series, (_unread(values, column) if column.is_date else None)


def _unread(values: list[object], column: Column) -> Mask:
    if not column.is_date:
        return np.zeros(len(values), dtype=bool)
    texts = pl.Series(column.name, values, dtype=pl.String())
    dtype = pl.Date() if column.type is ValueType.DATE else pl.Datetime("us")
    read = texts.str.strptime(dtype, column.date_format, strict=False)
    return (read.is_null() & texts.is_not_null()).to_numpy()


def _one_by_one(values: list[object], column: Column) -> tuple[list[object], Mask]:
    kept: list[object] = []
    wrong = np.zeros(len(values), dtype=bool)
    for place, value in enumerate(values):
        try:
            kept.append(None if value is None else _as(column.type, value))
        except (TypeError, ValueError, OverflowError):
            kept.append(None)
            wrong[place] = True
    return kept, wrong


def _as(kind: ValueType, value: object) -> object:
    if not isinstance(value, str | int | float):
        raise TypeError
    if kind is ValueType.BOOLEAN:
        return _truth(value)
    if kind is ValueType.INTEGER:
        return _whole(value)
    if kind is ValueType.DECIMAL:
        return _decimal(value)
    text = value if isinstance(value, str) else json.dumps(value)
    text.encode()
    return text


def _truth(value: str | float) -> bool:
    if isinstance(value, bool):
        return value
    if not isinstance(value, str) or value.lower() not in _TRUTHS:
        raise ValueError
    return _TRUTHS[value.lower()]


def _whole(value: str | float) -> int:
    if isinstance(value, bool) or (isinstance(value, float) and not value.is_integer()):
        raise ValueError
    number = int(value.strip()) if isinstance(value, str) else int(value)
    if not -(1 << 63) <= number < 1 << 63:
        raise OverflowError
    return number


def _decimal(value: str | float) -> float:
    if isinstance(value, bool):
        raise TypeError
    number = float(value)
    if not np.isfinite(number):
        raise ValueError
    return number
