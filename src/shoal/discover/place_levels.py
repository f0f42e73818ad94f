"""How far the places of a column can be generalised by what is known of them: to states, zones, countries, regions."""

from __future__ import annotations

from itertools import pairwise

import polars as pl

from shoal.discover.recognisers import Setting
from shoal.hierarchy.places.gazetteer import AREA_LEVELS, AreaLevel, Whereabouts, country_of_most, find_places

KNOWN = 0.8
"""The share of the distinct values that have to be known places: of villages, others far away have the names."""
MOST = 5_000
"""Distinct values that are looked up."""


def place_hierarchy(distinct: pl.Series) -> Setting | None:
    """A hierarchy for a column with these values; none where too few are known, or nothing lies between them and ``*``.

    >>> place_hierarchy(pl.Series(["Pune", "Nagpur", "Nashik", "Delhi", "Chennai", "Madurai"]))
    {'places': {'levels': ['state', 'country'], 'country': 'IN', 'unknown': 'suppress'}}
    """
    names = distinct.head(MOST).to_list()
    country = country_of_most(names)
    found = find_places(names, country)
    if country is None or len(found) < KNOWN * len(names):
        return None
    levels = _telling(found)
    if not levels:
        return None
    return {"places": {"levels": levels, "country": country, "unknown": "suppress"}}


def _telling(found: dict[str, Whereabouts]) -> list[AreaLevel]:
    """Levels that take several of the level before together, up to one that takes all: India says more than a star.

    Where that would be the first already, there is none.
    """
    groups = [len(found), *(len({getattr(place, level) for place in found.values()}) for level in AREA_LEVELS)]
    levels = [level for level, (below, here) in zip(AREA_LEVELS, pairwise(groups), strict=True) if here < below]
    return [] if len(levels) == 1 and groups[-1] == 1 else levels
