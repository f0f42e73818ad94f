"""Which columns are numbers or dates: most are seen to be neither by a few of their values."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from shoal.schema import Column
from shoal.schema.detect import detect

_FEW = 200
_NUMBER_OR_DATE = r"(?i)^\s*[+-]?([0-9.]|nan|inf)"
"""How every number and every date begins."""


def kinds_of(frame: pl.DataFrame, names: Sequence[str]) -> dict[str, Column]:
    """By every value, as ``detect`` has it; what is text in a few is text."""
    read = [name for name in names if _may_be_read(frame[name])]
    typed = [name for name in names if frame[name].dtype != pl.String()]
    found = detect(frame.lazy(), read, sample_rows=_FEW) if read else {}
    found |= detect(frame.select(typed).head(_FEW).lazy(), typed) if typed else {}
    return {name: found.get(name, Column(name)) for name in names}


def _may_be_read(values: pl.Series) -> bool:
    if values.dtype != pl.String():
        return False
    some = values.head(_FEW).drop_nulls()
    return some.is_empty() or bool(some.str.contains(_NUMBER_OR_DATE).all())
