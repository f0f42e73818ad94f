"""Places climb to larger ones by facts, and what is not known is never guessed."""

from __future__ import annotations

import polars as pl
import pytest

from shoal.errors import DataError
from shoal.hierarchy import parse_hierarchy
from shoal.hierarchy.places.gazetteer import AREA_LEVELS, _places, country_of_most, find_place
from shoal.hierarchy.places.india import STATE_OF_CODE, ZONE_OF_STATE
from shoal.hierarchy.places.singapore import REGION_OF_AREA
from shoal.hierarchy.places.world import REGION_OF_COUNTRY
from shoal.schema import Column

pytestmark = pytest.mark.requirement("T-08")


def labels(values: list[str], level: int, **spec: object) -> list[str]:
    distinct = pl.DataFrame({"value": values, "records": [1] * len(values)})
    return (
        parse_hierarchy({"places": spec}).bind(Column("town"), distinct).generalise(distinct["value"], level).to_list()
    )


def test_the_facts_are_whole() -> None:
    assert (len(ZONE_OF_STATE), len(REGION_OF_AREA), len(REGION_OF_COUNTRY)) == (36, 55, 252)
    assert set(STATE_OF_CODE.values()) == set(ZONE_OF_STATE), "28 states and 8 union territories"


def test_every_area_lies_in_one_larger_area() -> None:
    above: dict[tuple[str, str], str] = {}
    for _, place in _places():
        for level, (small, large) in zip(
            AREA_LEVELS, zip(place.lies_in, place.lies_in[1:], strict=False), strict=False
        ):
            assert above.setdefault((level, small), large) == large


@pytest.mark.parametrize(
    ("name", "state", "zone"),
    [
        ("Nashik", "Maharashtra", "Western India"),
        ("BENGALURU", "Karnataka", "Southern India"),
        ("Bangalore", "Karnataka", "Southern India"),
        ("Orissa", "Odisha", "Eastern India"),
        ("Guwahati", "Assam", "North Eastern India"),
        ("Toa Payoh", "Central Region, Singapore", "Singapore"),
        ("Georgia", "Georgia", "Georgia"),
        ("Atlanta", "Georgia, United States", "South, United States"),
    ],
)
def test_where_places_lie(name: str, state: str, zone: str) -> None:
    found = find_place(name)
    assert found is not None
    assert (found.state, found.zone) == (state, zone)


def test_a_name_of_several_towns_means_the_one_where_the_others_are() -> None:
    assert country_of_most(["Hyderabad", "Karachi", "Lahore"]) == "PK"
    assert labels(["Hyderabad", "Karachi", "Lahore"], 1, levels=["country"]) == ["Pakistan"] * 3
    assert labels(["Hyderabad", "Pune"], 1, levels=["state"]) == ["Telangana", "Maharashtra"]


def test_what_is_not_known_stops_the_run_without_being_named() -> None:
    with pytest.raises(DataError, match="1 distinct value") as stopped:
        labels(["Pune", "Balglore"], 1)
    assert "Balglore" not in str(stopped.value)


def test_or_is_starred_or_explained() -> None:
    assert labels(["Pune", "Balglore"], 1, unknown="suppress") == ["Maharashtra", "*"]
    assert labels(["Pune", "Balglore"], 1, also={"Balglore": "Bengaluru"}) == ["Maharashtra", "Karnataka"]


def test_levels_go_upwards() -> None:
    with pytest.raises(ValueError, match="from the smallest"):
        parse_hierarchy({"places": ["country", "state"]})
