"""Which columns are numbers or dates, as ``detect`` has it, but without a pass for each format that a date may have."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from shoal.schema import Column, ValueType
from shoal.schema.type_detection import detect

_FEW = 200
_CODE = r"^(\+|-?0[0-9])"
_DATE = r"^\s*[0-9]{1,4}[-/. ]"
"""How every date begins."""
_USUAL = {
    r"^[1-9][0-9]{3}-[0-9]{2}-[0-9]{2}$": "%Y-%m-%d",
    r"^[1-9][0-9]{3}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}$": "%Y-%m-%dT%H:%M:%S",
    r"^[1-9][0-9]{3}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}$": "%Y-%m-%d %H:%M:%S",
}
"""Dates that can't be read in another way."""
_WHOLE = 2.0**63
"""From here on, a whole number is a code."""


def kinds_of(frame: pl.DataFrame, names: Sequence[str]) -> dict[str, Column]:
    """By every value; what is neither a number nor a date is text here. Of numbers it is not said of which type."""
    found = {name: Column(name) for name in names}
    typed = [name for name in names if frame[name].dtype != pl.String()]
    found |= detect(frame.select(typed).head(_FEW).lazy(), typed) if typed else {}
    open_ones = []
    for name in names:
        if name in typed:
            continue
        numeric = _is_numeric(frame[name])
        if numeric:
            found[name] = Column(name, ValueType.DECIMAL)
        elif (usual := _usual_date(frame[name])) is not None:
            found[name] = Column(name, ValueType.DATETIME if "%H" in usual else ValueType.DATE, date_format=usual)
        elif numeric is None or frame[name].head(_FEW).str.contains(_DATE).all():
            open_ones.append(name)
    return found | (detect(frame.lazy(), open_ones, sample_rows=_FEW) if open_ones else {})


def _is_numeric(texts: pl.Series) -> bool | None:
    """None where it takes a closer look."""
    for part in (texts.head(_FEW), texts):
        numbers = part.cast(pl.Float64, strict=False)
        if numbers.null_count() != part.null_count() or part.str.contains(_CODE).any():
            return False
    if (numbers.abs() >= _WHOLE).any() or not numbers.is_finite().any():
        return None
    return True


def _usual_date(texts: pl.Series) -> str | None:
    """The format, where all texts are dates as computers write them."""
    first = texts.head(_FEW)
    for shape, written in _USUAL.items():
        if first.null_count() < len(first) and first.str.contains(shape).all() and texts.str.contains(shape).all():
            read = texts.str.strptime(pl.Datetime("us"), written, strict=False)
            return written if read.null_count() == texts.null_count() else None
    return None
