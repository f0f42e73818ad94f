"""Where the intervals of a column begin, so that none of the widest ones is nearly empty.

One person of 89 among others below 80 would force everybody's age up to ``*``; intervals from 10 to 49 and from 50 to
89 do not.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl

from shoal.discover.recognisers import Setting

ENOUGH = 5
"""Records that each of the widest intervals has to have."""
SMALL = 1_000
"""Records from which one person who is like nobody else is better suppressed."""


def with_origin(hierarchy: Setting | None, counted: pl.DataFrame) -> Setting | None:
    """The hierarchy of intervals with an origin, where one helps; others as they are.

    ``counted`` has the distinct values as text, and how many records have each.

    >>> ages = pl.DataFrame({"value": ["15", "34", "38", "52", "89"], "records": [5, 5, 5, 5, 1]})
    >>> with_origin({"intervals": {"widths": [10, 20, 40]}}, ages)
    {'intervals': {'widths': [10, 20, 40], 'origin': 10}}
    """
    given = hierarchy.get("intervals") if isinstance(hierarchy, Mapping) else None
    widths = given.get("widths") if isinstance(given, Mapping) else None
    if not isinstance(given, Mapping) or not isinstance(widths, list | tuple):
        return hierarchy
    number = pl.col("value").str.strip_chars().cast(pl.Float64, strict=False)
    known = counted.select(number=number, records="records").filter(pl.col("number").is_finite())
    if not 2 * ENOUGH <= int(known["records"].sum()) <= SMALL:
        return hierarchy
    step, widest = int(str(widths[0])), int(str(widths[-1]))
    fullest = {origin: _emptiest(known, origin, widest) for origin in range(0, widest, step)}
    best = max(fullest, key=lambda origin: fullest[origin])
    if fullest[0] >= ENOUGH or fullest[best] < ENOUGH:
        return hierarchy
    return {"intervals": {**given, "origin": best}}


def _emptiest(known: pl.DataFrame, origin: int, width: int) -> int:
    """The records of the interval that has the fewest, of those that have any."""
    _, where = np.unique((known["number"].to_numpy() - origin) // width, return_inverse=True)
    return int(np.bincount(where, weights=known["records"].to_numpy()).min())
