"""Persons' names: by title, list, initials, introduction, script; and words that only look like names."""

from __future__ import annotations

import pytest
from tests.text.finding import found, values

pytestmark = pytest.mark.requirement("D-03", "X-01")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("We saw Dr. Asha Rao today.", "Asha Rao"),
        ("We saw Shri Venkataraman today.", "Venkataraman"),
        ("Smt. Lakshmi Narayanan signed.", "Lakshmi Narayanan"),
        ("Encik Ahmad bin Abdullah signed.", "Ahmad bin Abdullah"),
        ("It was Tan Wei Ling who called.", "Tan Wei Ling"),
        ("It was A. Demetriades who called.", "A. Demetriades"),
        ("It was Szabina J Gelencsér who called.", "Szabina J Gelencsér"),
        ("my name is priya raman", "priya raman"),
        ("Best regards,\nPriya Raman", "Priya Raman"),
        ("It was Jean-Claude Moreau.", "Jean-Claude Moreau"),
        ("It was Sinéad O'Brien.", "Sinéad O'Brien"),
        ("Send it to JOHN SMITH.", "JOHN SMITH"),
        ("Вчера Мария Смирнова пришла.", "Мария Смирнова"),
        ("यह राजेश शर्मा है", "राजेश शर्मा"),
        ("திருமதி லட்சுமி வந்தார்", "திருமதி லட்சுமி"),
        ("王小明先生来了。", "王小明"),
        ("She told Frank about it.", "Frank"),
    ],
)
def test_names_are_found(text: str, name: str) -> None:
    assert name in values(text, "person")


def test_a_title_is_a_span_of_its_own() -> None:
    assert found("Dr. Asha Rao", "title", "person") == [("title", "Dr."), ("person", "Asha Rao")]


@pytest.mark.parametrize(
    "text",
    [
        "Will you grant me this in May?",
        "The quick brown fox jumps over the lazy dog.",
        "Please open the front door.",
        "I'm sure that you're right.",
        "Capital Letters Begin The Words Of This Title",
        "The Supreme Court dismissed the appeal under Article 5.",
        "ERROR: connection to host refused",
        "HTTP GET OK",
        "",
        " \n ",
    ],
)
def test_everyday_words_are_no_names(text: str) -> None:
    assert values(text, "person") == []


def test_a_name_that_is_a_word_needs_its_context() -> None:
    assert values("Hope is not a plan.", "person") == []
    assert values("The baby was named Hope.", "person") == ["Hope"]


def test_a_city_that_is_a_name_is_told_by_what_stands_before() -> None:
    assert found("He lives in Florence.", "person", "place") == [("place", "Florence")]
    assert found("He met Florence, who waved.", "person", "place") == [("person", "Florence")]
