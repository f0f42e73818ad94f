"""Where an organisation ends beside a person, a role or a town; and the work that long runs cost."""

from __future__ import annotations

from functools import partial

import pytest
from tests.support.work import calls
from tests.text.finding import found, values

from shoal.text.lexicon.capitalised_runs import runs_in
from shoal.text.organisation_names.finder import organisations
from shoal.text.person_names.finder import persons

pytestmark = pytest.mark.requirement("D-03", "X-01")


def test_an_organisation_holds_its_town() -> None:
    assert found("the Istanbul Chamber of Commerce", "organisation", "place") == [
        ("organisation", "Istanbul Chamber of Commerce")
    ]


@pytest.mark.parametrize(
    ("text", "person"),
    [
        ("I work with Daniel Weber on this.", "Daniel Weber"),
        ("I had a call with Weber about it.", "Weber"),
        ("Anna Schmidt is a bank manager.", "Anna Schmidt"),
        ("The Nolan family moved.", "Nolan"),
        ("Olivia at Ernst AG confirmed it.", "Olivia"),
        ("Tom & Susanne are married.", "Susanne"),
    ],
)
def test_a_person_is_no_firm(text: str, person: str) -> None:
    assert person in values(text, "person")
    assert not [value for value in values(text, "organisation") if person in value]


@pytest.mark.parametrize(
    "piece", ["The ", "A of ", "Nordwind and ", "CEO of ", "AB & ", "da ", "Board of the ", "Rao, Lim and Tan "]
)
def test_long_runs_are_read_in_linear_time(piece: str) -> None:
    """Work is counted in calls, which don't depend on the machine; patterns are compiled by a first reading."""
    _read(piece * 2)
    counted = [calls(partial(_read, piece * count)) for count in (200, 400, 800)]
    assert counted[2] - counted[1] <= 2.5 * (counted[1] - counted[0]) + 200


def _read(text: str) -> None:
    runs = list(runs_in(text))
    list(organisations(text, runs))
    list(persons(text, runs))


def test_a_role_in_brackets_is_not_part_of_the_name() -> None:
    text = "between Zelvex Ltd (the Seller) and Asha Rao (the Buyer)"
    assert found(text, "organisation", "person") == [("organisation", "Zelvex Ltd"), ("person", "Asha Rao")]


def test_a_town_behind_a_firm_is_no_firm() -> None:
    assert found("Zelvex Ltd, Muntendam", "organisation", "place") == [
        ("organisation", "Zelvex Ltd"),
        ("place", "Muntendam"),
    ]


def test_a_word_that_ends_as_towns_do_is_a_place() -> None:
    assert found("I love Catherinefurt.", "organisation", "place", "person") == [("place", "Catherinefurt")]
