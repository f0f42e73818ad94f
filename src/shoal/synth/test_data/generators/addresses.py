"""Postal addresses of no house, and names of cities.

Streets are common names with a number; what makes an address nobody's is its postal code, which is not in use: in
India and Singapore as in ``postal_codes``, in the United States a ZIP code below 00500 (the lowest in use is 00501).
"""

from __future__ import annotations

from functools import cache
from math import prod
from typing import ClassVar, Literal

import numpy as np
import polars as pl

from shoal.kernels.arrays import Integers
from shoal.synth.test_data.base import Assurance, ListGenerator, NumberedGenerator, Standing
from shoal.synth.test_data.generators.postal_codes import UNUSED_CIRCLES, UNUSED_SECTORS

Country = Literal["IN", "SG", "US"]


def _each(words: str) -> tuple[str, ...]:
    return tuple(words.split())


_NAMES = _each(
    "Park Station Lake Temple Market Garden Hill River Church Mill School Bridge Palm Rose Lotus Jasmine Orchid Mango "
    "Banyan Cedar Maple Coral Harbour Garnet Pearl Silver Sunrise Victoria Central Green"
)
_KINDS = {
    "IN": _each("Road Street Marg Lane Nagar Colony"),
    "SG": _each("Road Street Avenue Drive Crescent Lane"),
    "US": _each("Street Avenue Road Drive Lane Court"),
}
CITIES = {
    "IN": _each(
        "Mumbai Delhi Bengaluru Chennai Kolkata Hyderabad Pune Ahmedabad Jaipur Lucknow Kochi Bhopal Indore Nagpur "
        "Patna Surat Mysuru Madurai Guwahati Ranchi"
    ),
    "SG": ("Singapore",),
    "US": _each("Springfield Franklin Clinton Greenville Bristol Salem Fairview Madison Georgetown Arlington"),
}
_HOUSES = 999


@cache
def _tables(country: Country) -> tuple[pl.Series, ...]:
    """What stands behind each other in an address."""
    houses = pl.Series([f"{house} " for house in range(1, _HOUSES + 1)])
    streets = pl.Series([f"{name} {kind}, " for name in _NAMES for kind in _KINDS[country]])
    cities = pl.Series([f"{city} " for city in CITIES[country]])
    beginnings, width, codes = {
        "IN": (UNUSED_CIRCLES, 4, 10_000), "SG": (UNUSED_SECTORS, 4, 10_000), "US": (("00",), 3, 500),
    }[country]  # fmt: skip
    postal = pl.Series([f"{beginning}{code:0{width}d}" for beginning in beginnings for code in range(codes)])
    return houses, streets, cities, postal


class Addresses(NumberedGenerator):
    """
    >>> Addresses(country="US").write(np.array([7])).to_list()
    ['1 Park Street, Springfield 00007']
    """

    key = "address"
    title = "Addresses with a postal code that is not in use"
    shorthand = "country"
    stands_for: ClassVar = {"address": {}}

    country: Country = "IN"

    @property
    def size(self) -> int:
        return prod(map(len, _tables(self.country)))

    @property
    def assurance(self) -> Assurance:
        return Assurance(
            Standing.RESERVED,
            "its postal code is not in use",
            "India Post; Urban Redevelopment Authority; United States Postal Service",
        )

    def write(self, numbers: Integers) -> pl.Series:
        parts: list[pl.Series] = []
        for table in reversed(_tables(self.country)):
            numbers, place = np.divmod(numbers, len(table))
            parts.append(table.gather(place).alias(str(len(parts))))
        return pl.DataFrame(parts[::-1]).select(pl.concat_str(pl.all())).to_series()


class Cities(ListGenerator):
    key = "city"
    title = "Names of cities"
    shorthand = "country"
    stands_for: ClassVar = {"place": {}}

    country: Country = "IN"

    @property
    def listed(self) -> pl.Series:
        return pl.Series(CITIES[self.country])

    @property
    def assurance(self) -> Assurance:
        return Assurance(Standing.IMPERSONAL, "a city is no person")
