"""The second way to test data (PDPC guide, step 3): real data, anonymised until nothing true is left of a row.

Every number is blurred, every date is moved, and then every column is dealt out again by itself, so that no row says
anything about anybody. What names people, and texts most of which stand once, are taken out: dealing them out would
leave them in the table. Distributions of single columns stay roughly, which the first way (``rows_of``) doesn't know;
so does every category, and an extreme is still extreme. It is weaker than the first way, and that is said.
"""

from __future__ import annotations

from typing import Any, Final

import polars as pl

from shoal.discover.recognisers.recogniser_set import RecogniserSet, default_recognisers
from shoal.errors import DataError
from shoal.policy import Policy
from shoal.schema.roles import Role

NOISE_SD: Final = 0.2
"""Numbers change by about a fifth."""
DAYS: Final = 60
MOSTLY_ONCE: Final = 0.5
"""A text column with more distinct values than this share of its rows is taken out."""
MOST_COLUMNS: Final = 1_000
_LARGEST: Final = 2**60
_LARGEST_FLOAT: Final = 1e100
LONGEST: Final = 60
"""Longer texts are prose, and may name people."""


def heavy_policy(table: pl.DataFrame, name: str = "test-data", recognisers: RecogniserSet | None = None) -> Policy:
    """What is done to each column.

    >>> heavy_policy(pl.DataFrame({"name": ["Asha", "Ravi"], "age": [30, 40]}))
    <Policy test-data: 1 direct, 1 insensitive>
    """
    known = recognisers or default_recognisers()
    if table.width > MOST_COLUMNS:
        raise DataError(f"a table of {table.width:,} columns is too wide: at most {MOST_COLUMNS:,} go together")
    attributes = {column.name: _attribute(column, known) for column in table}
    return Policy.of({"shoal": 1, "name": name, "attributes": attributes})


def _attribute(column: pl.Series, recognisers: RecogniserSet) -> dict[str, Any]:
    if recognisers.direct_by_name(column.name) is not None or _too_odd(column) or _names_people(column):
        return {"role": str(Role.DIRECT), "technique": "suppress"}
    return {"role": str(Role.INSENSITIVE), "technique": [*_blurred(column.dtype), "permute"]}


def _too_odd(column: pl.Series) -> bool:
    """Spans of time, what is no number (NaN, infinite), and numbers so large that noise would leave their type."""
    stored = column.dtype
    if isinstance(stored, pl.Duration):
        return True
    if stored.is_float():
        return not bool((column.drop_nulls().abs() < _LARGEST_FLOAT).all())
    known = column.drop_nulls()
    exact = stored.is_integer() or isinstance(stored, pl.Decimal)
    return exact and bool((known.cast(pl.Float64).abs() > _LARGEST).any())


def _names_people(column: pl.Series) -> bool:
    """Nested and binary values are taken out with them: nothing can be said of what they hold."""
    if column.dtype.is_numeric() or column.dtype.is_temporal() or column.dtype == pl.Boolean:
        return False
    if column.dtype.is_nested() or column.dtype in (pl.Binary, pl.Object):
        return True
    texts = column.drop_nulls().cast(pl.String)
    most = max(MOSTLY_ONCE * len(texts), 1)
    return texts.n_unique() > most or bool((texts.str.len_chars() > LONGEST).any())


def _blurred(dtype: pl.DataType) -> list[dict[str, Any]]:
    if dtype.is_integer():
        return [{"noise": {"multiplicative": {"sd": NOISE_SD}, "decimals": 0}}]
    if dtype.is_numeric():
        return [{"noise": {"multiplicative": {"sd": NOISE_SD}}}]
    return [{"noise": {"days": DAYS}}] if dtype in (pl.Date, pl.Datetime) else []
