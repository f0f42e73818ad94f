"""Persons' names: by title, list, initials, introduction, script; and words that only look like names."""

from __future__ import annotations

import pytest
from tests.text.finding import found, values

from shoal.text.lexicon.word_shapes import looks_coined, looks_like_a_name

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
        ("It was heard by Judge Mark Villiger.", "Mark Villiger"),
        ("@Asha can you look at this?", "Asha"),
        ("Estimado Ravi, gracias por su mensaje.", "Ravi"),
        ("Signed: Yashodhan Pimpalkhute", "Yashodhan Pimpalkhute"),
        ("Has Monjeau replied yet?", "Monjeau"),
        ("Hyacinthe Monjeau, a teacher, declined.", "Hyacinthe Monjeau"),
        ("We told Christian B. Martinsen.", "Christian B. Martinsen"),
        ("Brought in by Dattatray, who lives nearby.", "Dattatray"),
        ("Next of kin: Yashodhan Pimpalkhute, 411058.", "Yashodhan Pimpalkhute"),
        ("The land of a farmer s/o Dattatray Pimpalkhute.", "Dattatray Pimpalkhute"),
        ("follow up with benjamin a seiler in a week", "benjamin a seiler"),
        ("PLEASE SEND THE FORM TO RITA HARDY AT ONCE TODAY", "RITA HARDY"),
    ],
)
def test_names_are_found(text: str, name: str) -> None:
    assert name in values(text, "person")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Luckily Asha was there.", "Asha"),
        ("As Asha Rao put it, nobody is perfect.", "Asha Rao"),
        ("CC Asha Rao", "Asha Rao"),
        ("Thanks Monjeau, that worked.", "Monjeau"),
        ("Goodbye Monjeau", "Monjeau"),
        ("The Watsons are on holiday.", "Watsons"),
        ("can you tell rubija monjeau the meeting moved", "rubija monjeau"),
    ],
)
def test_what_stands_before_a_name_is_not_part_of_it(text: str, name: str) -> None:
    assert values(text, "person") == [name]


@pytest.mark.parametrize(
    "text",
    [
        "Parkinson's disease is common.",
        "The Heisenberg principle holds.",
        "I love Saint Raymond.",
    ],
)
def test_things_called_after_somebody(text: str) -> None:
    assert values(text, "person") == []


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
        "C'mon, sing it with me.",
        "ho comprato la macchina",
        "the outage lasted three hours",
        "write to @asha@example.org or a@b.example",
        "PLEASE SEND THE FORM BACK AT ONCE TODAY",
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


def test_who_follows_people_and_which_follows_the_rest() -> None:
    assert values("We sued Brightwater, which paid.", "person") == []
    assert values("It went to the Government, who refused.", "person") == []
    assert values("The aunt, who came, and Novasoft, whose pumps leak.", "person") == []


def test_an_article_is_no_initial() -> None:
    assert values("A Lindvall came to the house.", "person") == ["Lindvall"]


def test_what_a_word_on_no_list_looks_like() -> None:
    names = ["monjeau", "glyceria", "brabec", "vedrashko", "okonjo", "hamaguchi"]
    made = ["brightwater", "papertrail", "zanderly", "swiftpay", "novasoft", "goodroot"]
    assert [word for word in names if not looks_like_a_name(word) or looks_coined(word)] == []
    assert [word for word in made if looks_like_a_name(word) or not looks_coined(word)] == []
