"""In which types a table is stored, and how a synthetic one gets the same.

What is learnt from is plainer: numbers that are none (NaN, infinite) are missing, spans of time are whole numbers,
categories are text. What was drawn goes back into the types of the source, as far as they can hold it: a key that is
numbered anew, or a sum, may need more room.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import polars as pl

from shoal.synth.column_shapes import ShapeKind

_CATEGORIES = (pl.Categorical, pl.Enum)


def plain(frame: pl.DataFrame) -> pl.DataFrame:
    """The table as methods read it.

    >>> plain(pl.DataFrame({"x": [1.5, float("nan"), float("inf")]}))["x"].to_list()
    [1.5, None, None]
    """
    return frame.with_columns(
        _plain(values)
        for values in frame.iter_columns()
        if isinstance(values.dtype, (*_CATEGORIES, pl.Duration)) or values.dtype.is_float()
    )


def _plain(values: pl.Series) -> pl.Series:
    if isinstance(values.dtype, pl.Duration):
        return values.to_physical()
    if isinstance(values.dtype, _CATEGORIES):
        return values.cast(pl.String)
    return values.set(~values.is_finite(), None)


def not_numbers(frame: pl.DataFrame) -> dict[str, int]:
    """How many values of each column are missing only because they are no numbers."""
    floats = [name for name, stored in frame.schema.items() if stored.is_float()]
    found = {name: int((~frame[name].is_finite()).sum()) for name in floats}
    return {name: count for name, count in found.items() if count}


@dataclass(frozen=True)
class StoredTypes:
    """The types of a source, and what of each column its shape says."""

    source: pl.Schema
    kinds: Mapping[str, ShapeKind]
    computed: Collection[str] = ()
    """Sums, which may be larger than any in the source."""
    as_text: bool = True
    """Whether numbers and dates that were stored as text are text again: a file of text needs no such."""

    def restored(self, drawn: pl.DataFrame) -> pl.DataFrame:
        """Records in the types of the source.

        >>> ages = StoredTypes(pl.Schema({"age": pl.Int8()}), {"age": ShapeKind.WHOLE})
        >>> ages.restored(pl.DataFrame({"age": [30, 700]}))["age"].to_list()
        [30, 127]
        """
        return drawn.with_columns(
            self._restored(values, self.source[values.name])
            for values in drawn.iter_columns()
            if values.name in self.source and values.dtype != self.source[values.name]
        )

    def _restored(self, values: pl.Series, target: pl.DataType) -> pl.Series:
        stored, empty = values.dtype, self.kinds.get(values.name) is ShapeKind.TEXT
        if isinstance(target, pl.Datetime) and isinstance(stored, pl.Datetime):
            return _moments(values, target)
        if isinstance(target, pl.Time) and isinstance(stored, pl.Datetime):
            return values.dt.time()
        if stored.is_numeric() and target.is_numeric():
            return self._number(values, target)
        if isinstance(target, _CATEGORIES) and stored == pl.String():
            return values.cast(pl.Categorical)
        same = (empty and (target.is_numeric() or target.is_temporal())) or (target == pl.String() and self.as_text)
        return values.cast(target) if same or (stored.is_integer() and isinstance(target, pl.Duration)) else values

    def _number(self, values: pl.Series, target: pl.DataType) -> pl.Series:
        if target.is_float():
            return values.cast(target)
        roomy = self.kinds.get(values.name) is ShapeKind.IDENTIFIER or values.name in self.computed
        if roomy and target not in {pl.UInt64(), pl.Int128()}:
            return values
        if isinstance(target, pl.Decimal):
            most = (10.0**15 - 1) / 10.0**15 * 10.0 ** ((target.precision or 38) - target.scale)
            return values.cast(pl.Float64).clip(-most, most).cast(target, strict=False)
        return _clipped(values, target)


def _clipped(values: pl.Series, target: pl.DataType) -> pl.Series:
    if not target.is_integer():
        return values
    bits = int(str(target).removeprefix("U").removeprefix("Int"))
    low, high = (0, 2**bits - 1) if target.is_unsigned_integer() else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    whole = values if values.dtype.is_integer() else values.round(0).cast(pl.Int64, strict=False)
    return whole.clip(max(low, -(2**63)), min(high, 2**63 - 1)).cast(target)


def _moments(values: pl.Series, target: pl.Datetime) -> pl.Series:
    """An hour that clocks leave out is taken for the next one."""
    moments = values.cast(pl.Datetime(target.time_unit))
    if target.time_zone is None:
        return moments
    at, later = (
        moment.dt.replace_time_zone(target.time_zone, ambiguous="earliest", non_existent="null")
        for moment in (moments, moments.dt.offset_by("1h"))
    )
    return at.fill_null(later)
