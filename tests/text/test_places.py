"""Places by list and context; peoples, beliefs and occupations."""

from __future__ import annotations

import pytest
from tests.text.finding import found, values

pytestmark = pytest.mark.requirement("D-03", "X-01")


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("They went to Singapore.", "Singapore"),
        ("They live in New Delhi now.", "New Delhi"),
        ("A letter from the United States of America.", "United States of America"),
        ("She was born in Kurzenkirchen.", "Kurzenkirchen"),
        ("in the village of Kalogrea", "Kalogrea"),
        ("The meeting in Cracow is over.", "Cracow"),
        ("मैं मुंबई में हूँ", "मुंबई"),
        ("他住在新加坡。", "新加坡"),
        ("Я живу в городе Москва.", "Москва"),
    ],
)
def test_places_are_found(text: str, place: str) -> None:
    assert place in values(text, "place")


@pytest.mark.parametrize("text", ["Reading is fun.", "Nice work!", "in March", "in Article 5", "split of the data", ""])
def test_words_that_are_towns_somewhere_are_left(text: str) -> None:
    assert values(text, "place") == []


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("i am cambodian", "group", "cambodian"),
        ("He is a Turkish national.", "group", "Turkish national"),
        ("They are Sikhs.", "belief", "Sikhs"),
        ("She is a member of the Green Party.", "belief", "Green Party"),
        ("She is a civil engineer.", "occupation", "civil engineer"),
        ("He worked as a taxi driver.", "occupation", "taxi driver"),
        ("Asha Rao\nSenior network installer\n", "occupation", "Senior network installer"),
    ],
)
def test_peoples_beliefs_and_occupations(text: str, kind: str, value: str) -> None:
    assert (kind, value) in found(text)


@pytest.mark.parametrize("text", ["polished", "The judge said so.", "Germanium is a metal."])
def test_parts_of_words_and_mere_roles_are_left(text: str) -> None:
    assert found(text, "group", "belief", "occupation") == []
