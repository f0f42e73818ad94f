"""Columns that hold the values of a direct identifier beside their own record: a total that is one of its parts, a
login inside a path. A release of them would be stopped by the last look at the output, so they are found beforehand."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from shoal.discover.column_profile import ColumnProfile
from shoal.privacy.identifier_search import LeakSearch, find_leaks
from shoal.schema import Role

_WAS = "__shoal_was_"


def repeated_identifiers(
    seen: pl.DataFrame, columns: Sequence[ColumnProfile], person: str | None = None
) -> dict[str, str]:
    """By column that is no identifier itself, the direct identifier whose values it holds."""
    readable = [one for one in columns if not seen[one.name].dtype.is_nested() and seen[one.name].dtype != pl.Binary]
    direct = tuple(one.name for one in readable if one.proposal.role is Role.DIRECT and not one.free_text)
    others = [one.name for one in readable if one.proposal.role is not Role.DIRECT]
    if not direct or not others:
        return {}
    renamed = seen.select(*others, *(pl.col(name).alias(_WAS + name) for name in direct))
    looking = LeakSearch(direct, person, tests=len(direct) * len(others))
    hits = find_leaks(renamed, [_WAS + name for name in direct], others, looking, seen.height)
    return {hit.column: hit.identifier for hit in hits}
