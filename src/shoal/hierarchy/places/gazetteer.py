"""Where a place lies: its state, zone, country, region of the world and continent, found by its name.

Towns and countries are those of GeoNames (``shoal.geonames``: places with 15,000 people and more). A name that
several places have means the one in the country that is asked for, then the one near the others or with the most
people. What is not known is None: no place is guessed from a name that is merely like its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal, NamedTuple

import numpy as np
import polars as pl

from shoal import geonames
from shoal.hierarchy.places.india import OTHER_NAMES, STATE_OF_CODE, ZONE_OF_STATE
from shoal.hierarchy.places.singapore import REGION_OF_AREA
from shoal.hierarchy.places.world import (
    CENSUS_REGION_OF_STATE,
    CONTINENT_OF_REGION,
    OTHER_NAMES_OF_COUNTRIES,
    REGION_OF_COUNTRY,
)

AreaLevel = Literal["state", "zone", "country", "region", "continent"]
AREA_LEVELS: tuple[AreaLevel, ...] = ("state", "zone", "country", "region", "continent")
"""What a town lies in, from the smallest."""
MOSTLY = 0.8
"""The share of the names that have to be codes of countries for codes to be known: LA is no town otherwise."""
COMPANY = 100
"""How much more a place counts if all clear names lie in its state."""
_FOLDED = (
    pl.col("name").str.normalize("NFKD").str.replace_all(r"\p{M}", "").str.to_lowercase()
    .str.replace_all(r"[\s._-]+", " ").str.strip_chars()
)  # fmt: skip
"""A name, but for case, accents, hyphens and spaces."""


class Whereabouts(NamedTuple):
    """The areas that a place lies in. A country without states here has its own name for them."""

    state: str
    zone: str
    country: str
    region: str
    continent: str


@dataclass(frozen=True)
class _Place:
    """A place that has a name; of several the one with the highest rank is meant."""

    country: str
    rank: int
    lies_in: Whereabouts


def find_place(name: str, country: str | None = None) -> Whereabouts | None:
    """Where a place lies; ``country``, by its ISO 3166 code, is preferred for names that are known in several.

    >>> find_place("Nashik")
    Whereabouts(state='Maharashtra', zone='Western India', country='India', region='Southern Asia', continent='Asia')
    >>> find_place("Punggol").state, find_place("Hyderabad", "PK").country, find_place("no such place")
    ('North-East Region, Singapore', 'Pakistan', None)
    """
    return find_places([name], country).get(name)


def find_places(names: Iterable[str], country: str | None = None) -> dict[str, Whereabouts]:
    """Where each of the places lies that are known by their names.

    Of several Springfields the one is meant that lies in the state of the other names, then the largest.
    """
    candidates: dict[str, list[_Place]] = {}
    for name, place in _known(names):
        candidates.setdefault(name, []).append(place)
    there = {name: [one for one in places if one.country == country] or places for name, places in candidates.items()}
    clear = Counter(places[0].lies_in.state for places in there.values() if len({one.lies_in for one in places}) == 1)
    most = max(1, clear.total())

    def likeness(place: _Place) -> float:
        return (1 + place.rank) * (1 + COMPANY * clear[place.lies_in.state] / most)

    return {name: max(places, key=likeness).lies_in for name, places in there.items()}


def country_of_most(names: Iterable[str]) -> str | None:
    """The country, by its code, in which most of the names are known; of several, the one with the largest places."""
    votes: dict[str, dict[str, int]] = {}
    for name, place in _known(names):
        ranks = votes.setdefault(place.country, {})
        ranks[name] = max(ranks.get(name, 0), place.rank)
    return max(sorted(votes), key=lambda code: (len(votes[code]), sum(votes[code].values())), default=None)


def _known(names: Iterable[str]) -> Iterator[tuple[str, _Place]]:
    """Each name with every place that has it."""
    places, index = _gazetteer()
    distinct = list(dict.fromkeys(names))
    if are_country_codes(distinct):
        countries = _country_codes()
        yield from ((name, countries[name]) for name in distinct if name in countries)
        return
    asked = pl.DataFrame({"name": distinct}, schema={"name": pl.String})
    found = asked.with_columns(folded=_FOLDED).join(index, on="folded", maintain_order="left_right")
    yield from ((name, places[at]) for name, at in found.select("name", "place").iter_rows())


def are_country_codes(names: Sequence[str]) -> bool:
    """Whether nearly all are codes of two letters (ISO 3166).

    >>> are_country_codes(["IN", "SG", "FR"]), are_country_codes(["Pune", "NA"])
    (True, False)
    """
    return bool(names) and sum(name in _country_codes() for name in names) >= MOSTLY * len(names)


@cache
def _country_codes() -> dict[str, _Place]:
    return {one.code: _Place(one.code, 10**12, _country(one.name, one.code)) for one in geonames.countries()}


@cache
def _gazetteer() -> tuple[list[_Place], pl.DataFrame]:
    """All places, and by folded name which of them have it."""
    pairs = list(_places())
    names = [name for names, _ in pairs for name in names]
    index = pl.DataFrame(
        {"name": names, "place": np.repeat(np.arange(len(pairs)), [len(names) for names, _ in pairs])},
        schema={"name": pl.String, "place": pl.Int32},
    )
    return [place for _, place in pairs], index.select("place", folded=_FOLDED)


def _places() -> Iterator[tuple[Sequence[str], _Place]]:
    countries = {country.code: country.name for country in geonames.countries()}
    states = geonames.us_states()
    for code, iso3, name, _ in geonames.countries():
        yield (name, iso3, *OTHER_NAMES_OF_COUNTRIES.get(code, ())), _Place(code, 10**12, _country(name, code))
    yield from _states_of_india(countries["IN"])
    for code, name in states.items():
        yield (name,), _Place("US", 10**11, _state_of_us(code, states, countries))
    for area in REGION_OF_AREA:
        yield (area,), _Place("SG", 0, _area_of_singapore(area, countries["SG"]))
    for town in geonames.towns():
        lies_in = _town(town, countries, states)
        if lies_in is not None:
            yield (town.name, *town.other_names), _Place(town.country, town.population, lies_in)


def _town(town: geonames.Town, countries: dict[str, str], states: dict[str, str]) -> Whereabouts | None:
    code, area = town.country, town.area
    if code == "IN" and area in STATE_OF_CODE:
        return _state_of_india(STATE_OF_CODE[area], countries["IN"])
    if code == "US" and area in states:
        return _state_of_us(area, states, countries)
    area = town.name.removesuffix(" New Town").removesuffix(" Estate")
    if code == "SG" and area in REGION_OF_AREA:
        return _area_of_singapore(area, countries["SG"])
    return _country(countries[code], code) if code in countries else None


def _states_of_india(india: str) -> Iterator[tuple[Sequence[str], _Place]]:
    for state in ZONE_OF_STATE:
        others = [other for other, meant in OTHER_NAMES.items() if meant == state]
        yield (state, *others), _Place("IN", 10**11, _state_of_india(state, india))


def _state_of_india(state: str, india: str) -> Whereabouts:
    return Whereabouts(state, ZONE_OF_STATE[state], india, *_parts_of_the_world("IN"))


def _state_of_us(code: str, states: dict[str, str], countries: dict[str, str]) -> Whereabouts:
    country = countries["US"]
    # The state of Georgia is not the country of that name.
    name = f"{states[code]}, {country}" if states[code] in countries.values() else states[code]
    return Whereabouts(name, CENSUS_REGION_OF_STATE.get(code, country), country, *_parts_of_the_world("US"))


def _area_of_singapore(area: str, country: str) -> Whereabouts:
    return Whereabouts(REGION_OF_AREA[area], country, country, *_parts_of_the_world("SG"))


def _country(name: str, code: str) -> Whereabouts:
    return Whereabouts(name, name, name, *_parts_of_the_world(code, name))


def _parts_of_the_world(code: str, name: str = "") -> tuple[str, str]:
    """The region and the continent of a country."""
    region = REGION_OF_COUNTRY.get(code, name)
    return region, CONTINENT_OF_REGION.get(region, region)
