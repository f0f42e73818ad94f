"""Text that is a measurement in most cells: times of day, and numbers or dates with words or broken values among them.

A column of 400 laboratory values of which forty say ``<5`` is no free text, and one date outside the calendar does not
make words of all others. Words that enough records have are kept apart; what else can't be read counts as missing.
"""

from __future__ import annotations

from typing import Final

import polars as pl

from shoal.schema.type_detection import DATE_FORMATS
from shoal.synth.column_shapes import MOST_DECIMALS, ColumnShape, ShapeKind, read

_MOSTLY: Final = 0.6
"""Of all values, the share that has to be readable."""
_BROKEN: Final = 0.05
"""Of all values, the share that may be neither readable nor a word of enough records."""
_FEWEST: Final = 20
"""Different values that are readable: fewer are names."""
_NUMBER: Final = r"^-?(0|[1-9][0-9]{0,17})(\.[0-9]+)?$"
_NAME_OF_THING: Final = r"^[^0-9<>=≤≥+-]*[A-Za-z][^0-9]*[0-9]|^[0-9]+[A-Za-z]|^0[0-9]|^\+[0-9]"
"""``V45``, ``12a``, ``007``: where such stand among numbers, all are names of things."""
_TIMES: Final = {"%H:%M": r"^[0-2][0-9]:[0-5][0-9]$", "%H:%M:%S": r"^[0-2][0-9]:[0-5][0-9]:[0-5][0-9]$"}
_REASON: Final = "most values can be read so"


def partly_measured(present: pl.Series, counts: pl.DataFrame, rare: int) -> ColumnShape | None:
    """How to read such a column; None where it is a text like any other. ``counts`` are its values with ``records``.

    >>> told = pl.Series("lab", [f"{place / 10:.1f}" for place in range(300)] + ["<5"] * 40 + ["lost"])
    >>> found = partly_measured(told, told.value_counts(name="records"), 10)
    >>> found.kind.value, found.decimals, found.words
    ('decimal', 1, ('<5',))
    """
    if counts.height < _FEWEST:
        return None
    texts = counts[present.name]
    for shape in (_times(texts), _numbers(texts), _dates(texts)):
        if shape is not None and (told := _with_words(shape, counts, present.name, rare)) is not None:
            return told
    return None


def _with_words(shape: ColumnShape, counts: pl.DataFrame, name: str, rare: int) -> ColumnShape | None:
    unread = counts.filter(read(counts[name], shape).is_null())
    words = unread.filter(pl.col("records") >= rare)
    total, lost, kept = (int(part["records"].sum()) for part in (counts, unread, words))
    broken = lost - kept
    if total - lost < _MOSTLY * total or broken > _BROKEN * total or counts.height - unread.height < _FEWEST:
        return None
    if unread[name].str.contains(_NAME_OF_THING).any() and shape.kind in {ShapeKind.WHOLE, ShapeKind.DECIMAL}:
        return None
    found = {"words": tuple(sorted(words[name])), "partly": bool(broken)}
    return shape.model_copy(update=found)


def _times(texts: pl.Series) -> ColumnShape | None:
    share, pattern = max((float(texts.str.contains(form).mean() or 0), key) for key, form in _TIMES.items())  # type: ignore[arg-type]
    return _shape(ShapeKind.TIME, date_format=pattern) if share else None


def _numbers(texts: pl.Series) -> ColumnShape | None:
    numbers = texts.filter(texts.str.contains(_NUMBER))
    if numbers.is_empty():
        return None
    digits = numbers.str.extract(r"\.([0-9]+)$").str.len_chars().max()
    whole = numbers.str.extract(r"^-?([0-9]+)").str.len_chars().max()
    if not isinstance(digits, int):
        return _shape(ShapeKind.WHOLE)
    longest = whole if isinstance(whole, int) else 0
    return _shape(ShapeKind.DECIMAL, decimals=max(0, min(digits, MOST_DECIMALS, 15 - longest)))


def _dates(texts: pl.Series) -> ColumnShape | None:
    """In the format that reads most; in none where two with day and month swapped read as many."""
    dated = texts.filter(texts.str.contains("[0-9]{4}") & texts.str.contains("[-/. ]"))
    if len(dated) < _MOSTLY * len(texts) / 2:
        return None
    shapes = [
        _shape(ShapeKind.DATETIME if "%H" in pattern else ShapeKind.DATE, date_format=pattern)
        for pattern in DATE_FORMATS
    ]
    counted = [(read(dated, shape).count(), shape) for shape in shapes]
    most = max(count for count, _ in counted)
    best = [shape for count, shape in counted if count == most > 0]
    swapped = len({_day_first(shape) for shape in best}) > 1
    return None if swapped or not best else best[0]


def _day_first(shape: ColumnShape) -> bool:
    return (shape.date_format or "").startswith("%d")


def _shape(kind: ShapeKind, **more: object) -> ColumnShape:
    return ColumnShape.model_validate({"kind": kind, "partly": True, "origin": "found", "reason": _REASON, **more})
