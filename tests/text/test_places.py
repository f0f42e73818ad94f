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
        ("I grew up in Larkspur, TX.", "Larkspur"),
        ("City: Zoeterwoude", "Zoeterwoude"),
        ("Town: Dumont", "Dumont"),
        ("What time is it in East Kara?", "East Kara"),
        ("They moved to Reynaud last year.", "Reynaud"),
        ("He studied in Val Della Torre.", "Val Della Torre"),
        ("offices in Lisse, Zoeterwoude and Matthewstad", "Matthewstad"),
        ("It lies 12 miles north of Hosakote.", "Hosakote"),
        ("Grüße aus Leclerc-sur-Mahe", "Leclerc-sur-Mahe"),
        ("She lives in Ostrov nad Ohří.", "Ostrov nad Ohří"),
        ("attached to the Taşova District", "Taşova District"),
        ("property in northern Cyprus", "northern Cyprus"),
        ("Made in Sri Lanka.", "Sri Lanka"),
        ("Customers in Lower Saxony", "Lower Saxony"),
        ("i'm from robinsonville but live elsewhere", "robinsonville"),
    ],
)
def test_places_are_found(text: str, place: str) -> None:
    assert place in values(text, "place")


@pytest.mark.parametrize(
    "text",
    [
        "Reading is fun.",
        "Nice work!",
        "in March",
        "in Article 5",
        "split of the data",
        "",
        "The decision in Hornby v. Brown was followed.",
        "We have confidence in Anna.",
        "The letter from John arrived.",
        "Die Bearbeitung dauert in der Regel bis zum Ende der Woche.",
        "Interest from Investors was strong.",
        "The Minister of Agriculture replied.",
        "Welcome to the jungle, Adrian!",
    ],
)
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


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("He was born in MOUNT HOPE and died young.", "MOUNT HOPE"),
        ("She comes from ŻORY but moved.", "ŻORY"),
        ("We met near København V last night.", "København V"),
        ("Sompa is the most beautiful town I have seen.", "Sompa"),
        ("Unterlembach residents protested.", "Unterlembach"),
        ("The road between Holmwood and Ardgour is closed.", "Ardgour"),
        ("The accident was in Green Bay.", "Green Bay."),
    ],
)
def test_towns_in_postal_capitals_and_on_no_list(text: str, place: str) -> None:
    assert place in values(text, "place")


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("Khandallah's mayor resigned.", "Khandallah"),
        ("Our branch at Freamunde has hired somebody.", "Freamunde"),
        ("Have you ever been to Salumäe?", "Salumäe"),
        ("We drove on to Hasleby in the dark.", "Hasleby"),
        ("A man from Tierra Amarilla was seen.", "Tierra Amarilla"),
        ("Stalhille, 4 May 2004", "Stalhille"),
        ("Emilie Broberg, Kulusuk", "Kulusuk"),
    ],
)
def test_towns_on_no_list_by_what_is_said_of_them(text: str, place: str) -> None:
    assert values(text, "place") == [place]


@pytest.mark.parametrize("text", ["It was transferred to David.", "He sat near Cora.", "Photo of Bojka Horn"])
def test_what_goes_to_somebody_goes_to_no_place(text: str) -> None:
    assert values(text, "place") == []
