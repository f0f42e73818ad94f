"""What looks like a name and is nobody's stays; times and weekdays stay unless they are asked for."""

from __future__ import annotations

import pytest

from shoal.text import Annotator

pytestmark = pytest.mark.requirement("X-01")

ANNOTATOR = Annotator()


def found(text: str, annotator: Annotator = ANNOTATOR) -> list[tuple[str, str]]:
    return [(span.type, text[span.start : span.end]) for span in annotator.annotate(text)]


@pytest.mark.parametrize(
    "text",
    [
        "The lump was 4 x 2 cm.",
        "He drives a Toyota to work.",
        "A NullPointerException was thrown.",
        "We use Redis and Nginx in production.",
        "Newton's second law says that force is mass times acceleration.",
        "Cook the Basmati rice for ten minutes.",
        "Venus is the second planet.",
        "Mars and Jupiter are visible tonight.",
        "The meeting is at 10:15 on Monday.",
        "It starts at 5 pm.",
        "login ok",
        "The FSNamesystem class is slow.",
        "Servicio: Cardiología",
        "Tak for din hjælp.",
        "1234 5678 9012",
    ],
)
def test_nothing_is_about_anybody(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Dr. Venus Rao called.", ("person", "Venus Rao")),
        ("Mr. Newton came.", ("person", "Newton")),
        ("phone=+919845012345 200 12ms", ("phone", "+919845012345")),
        ("login: asha", ("username", "asha")),
        ("user: lnarayanan", ("username", "lnarayanan")),
        ("F, 67 yrs, admitted", ("age", "F, 67 yrs")),
        ("POSB 123-45678-9", ("account", "123-45678-9")),
        ("my ip: ::1", ("ipv6", "::1")),
        ("my voter: DBJ2289013", ("voter_id", "DBJ2289013")),
        ("NASS: 83 45978369 13", ("nass", "83 45978369 13")),
        ("NºCol: 28 28 46158", ("colegiado", "28 28 46158")),
        ("IdNr. 98765432106 liegt vor.", ("steuer_id", "98765432106")),
        ("556703-7485 är vårt orgnummer.", ("orgnummer", "556703-7485")),
        ("My CN number is 13812345678", ("phone", "13812345678")),
    ],
)
def test_somebody_is_still_found(text: str, value: tuple[str, str]) -> None:
    assert value in found(text)
    assert not [other for other in found(text) if other != value and other[0] != "title"]


def test_times_and_weekdays_are_found_where_they_are_asked_for() -> None:
    asked = Annotator(types=frozenset({"time", "date"}))
    assert found("The meeting is at 10:15 on Monday.", asked) == [("time", "10:15"), ("date", "Monday")]
    assert found("We met on Monday the 3rd and on 5 March 2024.") == [
        ("date", "Monday the 3rd"),
        ("date", "5 March 2024"),
    ]
