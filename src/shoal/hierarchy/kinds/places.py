"""Places to larger ones (PDPC annex B, address; MeitY 2.2.6): ``Nashik`` → ``Maharashtra`` → ``Western India`` → ``*``.

Where a place lies is a fact that comes with Shoal: towns of 15,000 people and more of all countries, the states and
zones of India, the planning areas and regions of Singapore, the states of the United States, the regions of the world.
A state or a country among the values stays as it is until its level is reached.

Loss of a cell: (distinct values with the same label − 1) ÷ (distinct values − 1); 1 for ``*``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Literal

import polars as pl
from pydantic import Field, field_validator

from shoal.hierarchy.base import TOP, Hierarchy
from shoal.hierarchy.bound_ladder import StarredLadder
from shoal.hierarchy.places.gazetteer import AREA_LEVELS, AreaLevel, Whereabouts, country_of_most, find_places
from shoal.hierarchy.proposals import KNOWN, ColumnValues, HierarchyProposal, starred
from shoal.schema.columns import Column

SOURCE = "GeoNames; United Nations, M49; Zonal Councils of India; Urban Redevelopment Authority of Singapore"


class PlacesHierarchy(Hierarchy):
    """Towns to states, zones, countries and regions of the world."""

    key = "places"
    turn = 40
    shorthand = "levels"

    levels: tuple[AreaLevel, ...] = Field(AREA_LEVELS, min_length=1)
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
        if not values.is_named:
            return
        texts = values.texts
        found = find_places(texts.to_list())
        share = values.share(pl.Series([text in found for text in texts]))
        levels = list(_telling(texts, found))
        if share < KNOWN or not levels:
            return
        parameters: dict[str, object] = {"levels": levels} | ({} if share == 1 else {"unknown": "suppress"})
        yield HierarchyProposal(
            parameters, f"they are places, which become larger ones{starred(share, 'names')}", SOURCE
        )

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


def _telling(texts: pl.Series, found: Mapping[str, Whereabouts]) -> Iterator[AreaLevel]:
    """Levels on which fewer areas are left than on the one below; where all lie in one, it says nothing."""
    before = len({text for text in texts if text in found})
    for level in AREA_LEVELS:
        areas = len({getattr(found[text], level) for text in texts if text in found})
        if 1 < areas < before:
            yield level
            before = areas
