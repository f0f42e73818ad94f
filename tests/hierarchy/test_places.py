"""Places climb to larger ones by facts, and what is not known is never guessed."""

from __future__ import annotations

import polars as pl
import pytest

from shoal.discover.suggestion.hierarchy_choice import choose_hierarchy
from shoal.discover.table_profile import profile
from shoal.errors import DataError
from shoal.hierarchy import parse_hierarchy
from shoal.hierarchy.kinds.places import PlacesHierarchy
from shoal.hierarchy.places.gazetteer import AREA_LEVELS, _places, country_of_most, find_place
from shoal.hierarchy.places.india import STATE_OF_CODE, ZONE_OF_STATE
from shoal.hierarchy.places.singapore import REGION_OF_AREA
from shoal.hierarchy.places.world import REGION_OF_COUNTRY
from shoal.hierarchy.proposals import ColumnValues
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


WHERE = {
    "Nashik": "Maharashtra / Western India",
    "BENGALURU": "Karnataka / Southern India",
    "Bangalore": "Karnataka / Southern India",
    "Orissa": "Odisha / Eastern India",
    "Guwahati": "Assam / North Eastern India",
    "Toa Payoh": "Central Region, Singapore / Singapore",
    "Georgia": "Georgia / Georgia",
    "Atlanta": "Georgia, United States / South, United States",
}


@pytest.mark.parametrize(("name", "where"), WHERE.items())
def test_where_places_lie(name: str, where: str) -> None:
    found = find_place(name)
    assert found is not None
    assert f"{found.state} / {found.zone}" == where


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


def test_countries_have_other_names_and_codes() -> None:
    for name in ("UK", "Great Britain", "England", "U.K."):
        assert labels([name, "France"], 1, levels=["country"]) == ["United Kingdom", "France"]
    assert labels(["USA", "Viet Nam", "Korea, Republic of", "Türkiye"], 1, levels=["continent"]) == [
        "Americas", "Asia", "Asia", "Asia",
    ]  # fmt: skip
    assert labels(["IN", "SG", "FR", "BR"], 1, levels=["continent"]) == ["Asia", "Asia", "Europe", "Americas"]
    assert labels(["Pune", "Nagpur", "Delhi", "NA"], 1, unknown="suppress")[-1] == "*", "no Namibia among towns"


def test_two_letters_are_countries_where_the_column_says_so() -> None:
    codes = pl.LazyFrame({"country": ["IN", "SG", "FR", "DE", "BR"], "dept": ["IT", "HR", "IN", "PR", "CA"]})
    assert choose_hierarchy(codes, "country").setting == {
        "places": {"levels": ["region", "continent"], "unknown": "suppress"}
    }
    assert choose_hierarchy(codes, "dept").setting is None


def test_levels_go_upwards() -> None:
    with pytest.raises(ValueError, match="from the smallest"):
        parse_hierarchy({"places": ["country", "state"]})


@pytest.mark.parametrize(
    ("names", "levels"),
    [
        (["Pune", "Nagpur", "Nashik", "Delhi", "Chennai", "Madurai"], ["state", "country"]),
        (["Pune", "Nagpur", "Delhi", "Chennai", "Madurai", "no such place"], ["state", "country"]),
        (["France", "Germany", "Kenya", "Uganda"], ["region"]),
        (["India", "Singapore", "France", "Brazil", "Kenya", "Japan", "United States", "UK"], ["continent"]),
    ],
)
def test_levels_that_say_something_are_proposed(names: list[str], levels: list[str]) -> None:
    """Up to one that takes all together, which says more than a star; for a profile and for a column by itself."""
    distinct = pl.DataFrame({"value": names, "records": [1] * len(names)})
    (proposal,) = PlacesHierarchy.propose(ColumnValues(Column("town"), distinct))
    assert (proposal.parameters["levels"], proposal.parameters["unknown"]) == (levels, "suppress")
    profiled = profile(pl.LazyFrame({"town": names}))["town"].proposal.hierarchy
    assert profiled == {"places": proposal.parameters}
    assert choose_hierarchy(pl.LazyFrame({"town": names}), "town").setting == profiled


@pytest.mark.parametrize("names", [["Asha", "Ravi", "Meera", "Paris"], ["London", "Leeds", "York"], ["no", "such"]])
def test_nothing_is_proposed_for_other_names_or_where_all_are_in_one(names: list[str]) -> None:
    distinct = pl.DataFrame({"value": names, "records": [1] * len(names)})
    assert list(PlacesHierarchy.propose(ColumnValues(Column("town"), distinct))) == []
