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
        "Servicio de Urgencias",
        "Sexo: H",
        "Domicilio: no consta",
        "Tak for din hjælp.",
        "Hun er gift.",
        "1234 5678 9012",
        "Venus",
        "Toyota",
        "Nama: -\nAlamat: -\nTelepon: -",
        "Fødselsdato: ukendt",
        "Osoite: -\nPuhelin: -\nSyntymäaika: -",
        "Wohnort: unbekannt",
        "Nazwisko: -\nUlica: -",
        "The call to UserService.getName() failed, and so did OrderRepository.",
        "Take 20 mg of Atorvastatin twice a day.",
        "Continue Metformin 500 mg and Lisinopril.",
        "We went w/o any help.",
    ],
)
def test_nothing_is_about_anybody(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Dr. Venus Rao called.", ("person", "Venus Rao")),
        ("Mr. Newton came.", ("person", "Newton")),
        ("Paid by PayPal.", ("organisation", "PayPal")),
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
        ("amount 4,500.00 mac=00:1A:2B:3C:4D:5E", ("mac", "00:1A:2B:3C:4D:5E")),
    ],
)
def test_somebody_is_still_found(text: str, value: tuple[str, str]) -> None:
    assert value in found(text)
    assert not [other for other in found(text) if other != value and other[0] != "title"]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("The clerk wrote down muthu s/o Ramasamy.", "muthu"),
        ("Complaint of lakshmi w/o Suresh, Pune.", "lakshmi"),
        ("Siva asked for kumar a/l Raman.", "kumar"),
    ],
)
def test_who_is_called_by_their_father_or_husband_is_named_in_small_letters_too(text: str, name: str) -> None:
    assert ("person", name) in found(text)


@pytest.mark.parametrize(
    "account",
    [
        "DE89 3704 0044 0532 0130 01",
        "GB82 WEST 1234 5698 7654 33",
        "NL91 ABNA 0417 1643 01",
        "ES91 2100 0418 4502 0005 1333",
        "IT60 X054 2811 1010 0000 0123 457",
        "FR14 2004 1010 0505 0001 3M02 607",
        "CH93 0076 2011 6238 5295 8",
        "DE89370400440532013001",
    ],
)
def test_an_account_with_a_wrong_digit_is_one_all_the_same(account: str) -> None:
    assert found(f"please use {account} today") == [("iban", account)]


def test_the_tail_of_a_cut_account_is_no_phone() -> None:
    assert not [kind for kind, _ in found("to GB82 WEST 1234 5698 7654 3") if kind == "phone"]


@pytest.mark.parametrize(
    ("text", "phones"),
    [
        ("Call us about order\n1234 5678 9012 3456", []),
        ("Phone support; card 4929 9012 3456", ["4929 9012 3456"]),
        ("hp 9012 3456", ["9012 3456"]),
        ("hp +65 9012 3456", ["+65 9012 3456"]),
        ("Contact by phone since 2024 9012 3456", ["2024", "9012 3456"]),
    ],
)
def test_the_tail_of_a_longer_number_is_no_phone(text: str, phones: list[str]) -> None:
    assert [value for kind, value in found(text) if kind == "phone"] == phones


@pytest.mark.parametrize(
    ("text", "people"),
    [
        ("Fornavn: Anna Efternavn: Holm", ["Anna", "Holm"]),
        ("Vorname: Anna Maria Nachname: Holm", ["Anna Maria", "Holm"]),
        ("Asha Han: see you at ten", ["Asha Han"]),
        ("Voornaam: Jan Achternaam: van den Brzkowiak", ["Jan", "van den Brzkowiak"]),
        ("Nombre: Zdzsk Apellidos: Brzkowiak de la Vrtk", ["Zdzsk", "Brzkowiak de la Vrtk"]),
        ("Nombre: Apellidos: Brzkowiak", ["Brzkowiak"]),
        ("Efternavn: de", []),
    ],
)
def test_a_name_ends_where_the_next_label_begins(text: str, people: list[str]) -> None:
    assert [value for kind, value in found(text) if kind == "person"] == people


def test_times_and_weekdays_are_found_where_they_are_asked_for() -> None:
    asked = Annotator(types=frozenset({"time", "date"}))
    assert found("The meeting is at 10:15 on Monday.", asked) == [("time", "10:15"), ("date", "Monday")]
    assert found("We met on Monday the 3rd and on 5 March 2024.") == [
        ("date", "Monday the 3rd"),
        ("date", "5 March 2024"),
    ]


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("Domicilio: Calle Mayor 5. Tak. NASS: 83 45978369 13", "Domicilio: [ADDRESS]. Tak. NASS: [NASS]"),
        ("Domicilio: Calle Mayor 5, Madrid. Teléfono: 612 345 678", "Domicilio: [ADDRESS]. Teléfono: [PHONE]"),
        ("Nama: Budi Santoso\nAlamat: Jl. Sudirman No. 5, Jakarta 10220", "Nama: [PERSON]\nAlamat: [ADDRESS]"),
        ("Anschrift: Hauptstr. 5, 9000 St. Gallen", "Anschrift: [ADDRESS]"),
    ],
)
def test_labels_stay_and_what_they_label_goes(text: str, rest: str) -> None:
    for span in reversed(ANNOTATOR.annotate(text)):
        text = f"{text[: span.start]}[{span.type.upper()}]{text[span.end :]}"
    assert text == rest


def test_who_speaks_in_a_chat_is_somebody() -> None:
    assert ("person", "Budi") in found("Budi: see you at eight\nAsha: fine")
