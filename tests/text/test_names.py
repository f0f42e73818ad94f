"""Names beside titles and towns, and what a word on no list looks like."""

from __future__ import annotations

import pytest
from tests.text.finding import found

from shoal.text.lexicon.word_shapes import looks_coined, looks_like_a_name

pytestmark = pytest.mark.requirement("D-03", "X-01")


def test_a_title_is_a_span_of_its_own() -> None:
    assert found("Dr. Asha Rao", "title", "person") == [("title", "Dr."), ("person", "Asha Rao")]


def test_a_city_that_is_a_name_is_told_by_what_stands_before() -> None:
    assert found("He lives in Florence.", "person", "place") == [("place", "Florence")]
    assert found("He met Florence, who waved.", "person", "place") == [("person", "Florence")]


def test_what_a_word_on_no_list_looks_like() -> None:
    names = ["monjeau", "glyceria", "brabec", "vedrashko", "okonjo", "hamaguchi"]
    made = ["brightwater", "papertrail", "zanderly", "swiftpay", "novasoft", "goodroot"]
    assert [word for word in names if not looks_like_a_name(word) or looks_coined(word)] == []
    assert [word for word in made if looks_like_a_name(word) or not looks_coined(word)] == []
