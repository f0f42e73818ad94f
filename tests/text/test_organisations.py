"""Organisations by legal form, kind and context."""

from __future__ import annotations

import pytest
from tests.text.finding import found, values

pytestmark = pytest.mark.requirement("D-03", "X-01")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("An invoice of Infosys Ltd came.", "Infosys Ltd"),
        ("An invoice of Aunt Bertha Inc. came.", "Aunt Bertha Inc."),
        ("the firm Müller & Söhne GmbH", "Müller & Söhne GmbH"),
        ("She studied at the University of Klagenfurt.", "University of Klagenfurt"),
        ("He has an account at DBS Bank.", "DBS Bank"),
        ("heard by the Lubań District Court", "Lubań District Court"),
        ("I work for Xignite.", "Xignite"),
        ("Russell Plotwatt is a design agency.", "Russell Plotwatt"),
        ("He is from Hawkins, Richardson and Santana", "Hawkins, Richardson and Santana"),
    ],
)
def test_organisations_are_found(text: str, name: str) -> None:
    assert name in values(text, "organisation")


@pytest.mark.parametrize(
    "text",
    ["The Regional Court agreed.", "The Government replied.", "Our office is open.", "the company", "", "Dear Sir"],
)
def test_what_every_country_has_is_left(text: str) -> None:
    assert values(text, "organisation") == []


def test_an_officer_is_not_part_of_the_body() -> None:
    assert values("The Dean of Klagenfurt University left.", "organisation") == ["Klagenfurt University"]


def test_an_organisation_holds_its_town() -> None:
    assert found("the Istanbul Chamber of Commerce", "organisation", "place") == [
        ("organisation", "Istanbul Chamber of Commerce")
    ]
