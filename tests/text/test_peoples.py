"""Peoples, beliefs and parties that somebody is said to be of, and words that only look like them."""

from __future__ import annotations

import pytest
from tests.text.finding import found, values

from shoal.text.personal_facts.groups_and_beliefs import named_after_countries

pytestmark = pytest.mark.requirement("D-03")


@pytest.mark.parametrize(
    ("text", "people"),
    [
        ("I am cambodian but grew up abroad.", "cambodian"),
        ("I am belizian, she said.", "belizian"),
        ("Her grandfather was half-Samoan.", "Samoan"),
        ("The Palauan president resigned.", "Palauan"),
        ("my neighbours are Cape Verdean and kind", "Cape Verdean"),
        ("Best French restaurant in town!", "French"),
        ("three Poles shared the flat", "Poles"),
        ("Many Swedes spend the winter here.", "Swedes"),
        ("I am polish and proud", "polish"),
        ("a European investor called", "European"),
        ("The case was heard in Turkish courts.", "Turkish"),
    ],
)
def test_peoples_are_found(text: str, people: str) -> None:
    assert values(text, "group") == [people]


@pytest.mark.parametrize(
    ("text", "belief"),
    [
        ("They are Muslims.", "Muslims"),
        ("Two Shias and a priest met.", "Shias"),
        ("The Tories lost the vote.", "Tories"),
        ("A Republican senator opposed it.", "Republican"),
        ("She joined the Green Party.", "Green Party"),
        ("He is a non-Muslim.", "Muslim"),
        ("Her in-laws are strict Methodists.", "Methodists"),
    ],
)
def test_beliefs_are_found(text: str, belief: str) -> None:
    assert values(text, "belief") == [belief]


@pytest.mark.parametrize(
    "text",
    [
        "polish the table with a soft cloth",
        "ten poles stood in the field",
        "I paid 300 Swiss francs.",
        "We had Belgian beer and Swedish meatballs.",
        "They speak Spanish at home.",
        "Do you have a manual in German?",
        "Choose: Switzerland (French)",
        "The European Union was blamed.",
        "the green party dress",
        "she made turkey with chili",
        "ask Finn",
        "I met Christian yesterday",
        "Dawn French was great",
        "Myers-Christian",
        "",
    ],
)
def test_other_words_are_no_peoples(text: str) -> None:
    assert found(text, "group", "belief") == []


def test_what_is_made_of_a_country_is_no_word_of_the_lists() -> None:
    made = set(named_after_countries())
    assert "belizian" in made
    assert made.isdisjoint({"chili", "indian", "german", "romance", "finish"})
