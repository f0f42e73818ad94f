"""Places to larger ones (PDPC annex B, address; MeitY 2.2.6): ``Nashik`` → ``Maharashtra`` → ``Western India`` → ``*``.

Where a place lies is a fact that comes with Shoal: towns of 15,000 people and more of all countries, the states and
zones of India, the planning areas and regions of Singapore, the states of the United States, the regions of the world,
the continents. A column of countries may hold their codes of two letters. A state or a country among the values stays
as it is until its level is reached.

Loss of a cell: (distinct values with the same label − 1) ÷ (distinct values − 1); 1 for ``*``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Annotated, Literal

import polars as pl
from pydantic import Field, field_validator

from shoal.hierarchy.base import TOP, Hierarchy
from shoal.hierarchy.bound_ladder import StarredLadder
from shoal.hierarchy.places.gazetteer import (
    AREA_LEVELS,
    AreaLevel,
    Whereabouts,
    are_country_codes,
    country_of_most,
    find_places,
)
from shoal.hierarchy.proposals import ColumnValues, HierarchyProposal, starred
from shoal.schema.columns import Column

SOURCE = "GeoNames; United Nations, M49; Zonal Councils of India; Urban Redevelopment Authority of Singapore"
KNOWN_PLACES = 0.8
"""The share of the distinct names that have to be known. Of names of people and trades, hardly one in six is a town."""
OF_COUNTRIES = frozenset(["country", "nation", "nationality", "citizenship", "origin", "birthplace", "land", "pays"])
"""Words in a column's name without which two letters are no country."""
ABOVE_COUNTRIES: tuple[AreaLevel, ...] = ("region", "continent")
MOST = 5_000
"""Distinct names that are looked up before a hierarchy is proposed."""


class PlacesHierarchy(Hierarchy):
    """Towns to states, zones, countries and regions of the world."""

    key = "places"
    turn = 40
    shorthand = "levels"

    levels: tuple[AreaLevel, ...] = Field(AREA_LEVELS[:-1], min_length=1)
    """Which areas there are, from the smallest."""
    country: Annotated[str, Field(pattern="^[A-Z]{2}$")] | None = None
    """Where names that several countries have are looked for first, by its ISO 3166 code; else where most are known."""
    also: dict[str, str] = Field(default_factory=dict)
    """Further names and spellings, each with a place that is known: ``{Bombay Fort: Mumbai}``."""
    unknown: Literal["stop", "suppress"] = "stop"
    """What becomes of names that are not known: the run stops, or they are starred on every level."""

    @field_validator("levels")
    @classmethod
    def _from_the_smallest(cls, levels: tuple[AreaLevel, ...]) -> tuple[AreaLevel, ...]:
        places = [AREA_LEVELS.index(level) for level in levels]
        if sorted(set(places)) != places:
            raise ValueError(f"levels go from the smallest to the largest: {', '.join(AREA_LEVELS)}")
        return levels

    @classmethod
    def propose(cls, values: ColumnValues) -> Iterator[HierarchyProposal]:
        """None where too few are known, or nothing lies between them and ``*``."""
        if not values.is_named:
            return
        looked_up = replace(values, distinct=values.distinct.head(MOST))
        names = looked_up.texts
        if are_country_codes(names.to_list()) and not OF_COUNTRIES & values.words:
            return
        country = country_of_most(names)
        found = find_places(names, country)
        levels = _telling(found)
        if country is None or len(found) < KNOWN_PLACES * len(names) or not levels:
            return
        share = looked_up.share(names.is_in(list(found)))
        reason = f"they are places, which become larger ones{starred(share, 'names')}"
        within = {} if levels[0] in ABOVE_COUNTRIES else {"country": country}
        yield HierarchyProposal({"levels": levels, **within, "unknown": "suppress"}, reason, SOURCE)

    def refuse(self, column: Column) -> str | None:
        return None if not (column.is_number or column.is_date) else "places are names, and these are numbers or dates"

    def bind(self, column: Column, distinct: pl.DataFrame) -> StarredLadder:
        """
        >>> towns = pl.DataFrame({"value": ["Pune", "Nagpur", "Delhi"], "records": [1, 1, 1]})
        >>> bound = PlacesHierarchy().bind(Column("town"), towns)
        >>> [bound.generalise(towns["value"], level).to_list() for level in (1, 2)]
        [['Maharashtra', 'Maharashtra', 'Delhi'], ['Western India', 'Western India', 'Northern India']]
        """
        values = [value for value in distinct["value"].cast(pl.String).unique(maintain_order=True) if value is not None]
        known = self._found(values)
        if self.unknown == "stop":
            values = [value for value in values if value in known]
        starred = Whereabouts(*[TOP] * len(AREA_LEVELS))
        rungs = [[getattr(known.get(value, starred), level) for value in values] for level in self.levels]
        return StarredLadder.build(column, [values, *rungs], distinct)

    def _found(self, values: list[str]) -> dict[str, Whereabouts]:
        country = self.country or country_of_most(values)
        others = find_places(self.also.values(), country)
        return find_places(values, country) | {
            value: others[self.also[value]] for value in values if self.also.get(value) in others
        }


def _telling(found: Mapping[str, Whereabouts]) -> list[AreaLevel]:
    """Levels that take several of the level before together, up to one that takes all: India says more than a star.

    Where that would be the first already, there is none.
    """
    groups = [len(found), *(len({getattr(place, level) for place in found.values()}) for level in AREA_LEVELS)]
    levels = [level for level, (below, here) in zip(AREA_LEVELS, pairwise(groups), strict=True) if here < below]
    return [] if len(levels) == 1 and groups[-1] == 1 else levels
