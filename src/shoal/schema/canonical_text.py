"""The text that a value is pseudonymised as: the same person has to be the same text in every table.

| stored as | text |
|---|---|
| text | as it stands: nothing is trimmed, no letter is changed, ``007`` stays ``007`` |
| whole numbers | the digits: ``7`` |
| other numbers | without a decimal point where they are whole (``7.0`` → ``7``), else the shortest that reads back |
| dates, moments | ISO 8601: ``2026-03-01``, ``2026-03-01T09:30:00`` |
| truth values | ``true``, ``false`` |

It goes by how a value is stored and never by what a column seems to hold, so that no other value in a table changes it.
"""

from __future__ import annotations

import polars as pl

_MOMENT = "%Y-%m-%dT%H:%M:%S%.f"


def canonical_text(values: pl.Series) -> pl.Series:
    """The values as text; missing stays missing.

    >>> canonical_text(pl.Series([7.0, None, 0.5])).to_list()
    ['7', None, '0.5']
    """
    if values.dtype == pl.String():
        return values
    if values.dtype == pl.Date():
        return values.dt.to_string("%Y-%m-%d")
    if values.dtype == pl.Datetime:
        return values.dt.to_string(_MOMENT)
    if values.dtype.is_float() or values.dtype.is_decimal():
        return _plain(values)
    return values.cast(pl.String)


def _plain(values: pl.Series) -> pl.Series:
    """Numbers without a decimal point, or without the zeros that end it."""
    numbers = values.to_frame("value")
    whole = pl.col("value").cast(pl.Int64, strict=False)
    fits = whole.is_not_null() & (pl.col("value") == whole)
    shortest = pl.col("value").cast(pl.String)
    if values.dtype.is_decimal():
        shortest = shortest.str.strip_chars_end("0")
    return numbers.select(pl.when(fits).then(whole.cast(pl.String)).otherwise(shortest).alias(values.name)).to_series()
