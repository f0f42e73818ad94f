"""Street addresses of several countries, with their tails; and numbers that are none."""

from __future__ import annotations

import pytest
from tests.text.finding import values

pytestmark = pytest.mark.requirement("D-03", "X-01")


@pytest.mark.parametrize(
    "address",
    [
        "221B Baker Street, London NW1 6XE",
        "8 Elm Grove, Leeds LS6 2QT",
        "45 Rue de la Paix, 75002 Paris",
        "Lindenallee 7, 10117 Berlin",
        "Via Garibaldi 12, 20121 Milano",
        "Calle Mayor 5, 28013 Madrid",
        "ul. Zamkowa 33",
        "Blk 123 Ang Mo Kio Ave 3 #05-12 Singapore 560123",
        "27 Tampines Street 34, Singapore 529234",
        "Flat 4B, Sunrise Apartments, 12th Cross, Indiranagar, Bengaluru 560038",
        "12 MG Road, Bengaluru 560001",
        "P.O. Box 1234",
        "Unit 4719 Box 7394",
        "1987 Diakou Street\nSuite 680\nKissousa\nCyprus 36903",
        "Alexandra-Doppler-Weg 6-8",
        "Berliner Straße 12, 10115 Berlin",
        "rue Boechat 260",
        "12 bis rue de l'Église",
        "ul. Lipowa 5/7, 00-950 Warszawa",
        "Karl Johans gate 5, 0154 Oslo",
        "Teréz körút 4",
        "Tverskaya ulitsa 14, Moscow",
        "ул. Ленина, д. 12, кв. 5",
        "#146, 5th Main, Jayanagar, Bengaluru 560 007",
        "62/A, Lal Bahadur Shastri Marg, Kurla West, Mumbai 400070",
        "Suite 601 1 Aguilar Plaza",
        "Rosewood Cottage, 71 Elm Close, Leeds LS6 2QT",
        "Private Bag X26",
        "GPO Box 7207",
        "Springfield, IL 62704",
        "8010 Graz",
        "13001 Marseille",
        "the corner of Maple Way and Harlow Close",
    ],
)
def test_addresses_are_found_whole(address: str) -> None:
    assert values(f"Please write to {address}.", "address") == [address]


@pytest.mark.parametrize(
    "text",
    [
        "On 12 March 1997 the court held a hearing.",
        "12 May 1994",
        "Article 5 of the Convention",
        "He scored 12 points.",
        "It takes 20 minutes to the next stop.",
        "chapter 7, page 12",
        "version 2.0.1",
        "",
    ],
)
def test_dates_and_counts_are_no_addresses(text: str) -> None:
    assert values(text, "address") == []


@pytest.mark.parametrize(
    ("text", "street"),
    [
        ("He walked along Cedar Lane towards the station.", "Cedar Lane"),
        ("Turn left onto Jefferson Square and stop.", "Jefferson Square"),
        ("Officers searched a flat in Station Street, Huesca.", "Station Street, Huesca"),
        ("The store on Linden Ct has it in stock.", "Linden Ct"),
        ("Le demandeur demeure avenue Daniel Guillot.", "avenue Daniel Guillot"),
        ("She has lived at 909 Williams Forges since spring.", "909 Williams Forges"),
        ("I used to rent a place at 89 Mill, remember?", "89 Mill"),
    ],
)
def test_streets_need_no_number_and_numbers_no_street(text: str, street: str) -> None:
    assert values(text, "address") == [street]


@pytest.mark.parametrize(
    "text",
    [
        "The street was wet and the road was closed.",
        "He took a drive along the coast.",
        "Java 17 and Node 20 are installed.",
        "BP 120/80, HR 72",
        "Omega 3 and Vitamin B12",
        "Graduated 2024, married 2003.",
        "aged 38, divorced",
        "x 412 34 567 y",
        "A 10-year-plan was adopted.",
        "2024 Annual Report, 2023 Review",
        "the Constitutional Court in Strasbourg",
        "In the High Court of Justice",
    ],
)
def test_counts_products_and_courts_are_no_addresses(text: str) -> None:
    assert values(text, "address") == []


def test_a_text_without_capitals() -> None:
    assert values("send it to 3911 fourth avenue suite 112, calgary", "address") == [
        "3911 fourth avenue suite 112, calgary"
    ]
    assert values("the shop at 12 turner street in leeds is closed", "address") == ["12 turner street"]


@pytest.mark.parametrize(
    "address",
    [
        "87081 Storgata 134 Apt. 577\nSandefjord\n, nan\n Norway 21422",
        "50795 127 Makariou Avenue\nVavla\n, nan\n 53478",
        "23462 ul. 3 Maja 96\n Apt. 465\n Zgierz\n Poland 88210",
        "Petőfi Sándor u. 43. Suite 147 Pécs",
        "58886 Reyes Católicos 184",
        "Kadaka tee 30",
        "Trg svobode 147",
        "Am Steinfeld 122",
        "Bratří Čapků 46",
    ],
)
def test_streets_of_many_countries(address: str) -> None:
    assert values(f"We met at {address}.", "address") == [address]


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("Is Bratří Čapků 46 far from the station?", "Bratří Čapků 46"),
        ("It is where Rautatienkatu 100 meets 90415 Øster Allé 178.", "90415 Øster Allé 178"),
        ("turn left at 131 racecourse road and park behind the church.", "131 racecourse road"),
        ("we ship the parcel to παπανικολάου 92 apt. 389", "παπανικολάου 92 apt. 389"),
        ("Return it to Erika Vass, 1809 178 Loop St, Leeds.", "1809 178 Loop St, Leeds"),
    ],
)
def test_an_address_ends_where_the_sentence_goes_on(text: str, address: str) -> None:
    assert address in values(text, "address")


@pytest.mark.parametrize(
    "text",
    [
        "Im Jahr 1999 und am Montag 12 Uhr.",
        "Im Januar 20 Grad, Am Ende 2 Punkte.",
        "Order 5512 Premium Widgets 20 for the warehouse.",
        "Xbox 360 and Playstation 5 are sold out.",
    ],
)
def test_numbers_beside_other_names(text: str) -> None:
    assert values(text, "address") == []


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ('"Jalan Kenari No. 37," she said.', "Jalan Kenari No. 37"),
        ("Ring the bell of Apt. 926.", "Apt. 926"),
        ("The shop beside Nákovná 6 went broke.", "Nákovná 6"),
        ("Deed of Příční 1429 transferred today", "Příční 1429"),
        ("Name Goldberg\nAddress Ringstrasse 411", "Ringstrasse 411"),
        ("Name Brandon\nAddress 5850 Jana Nerudy 894", "5850 Jana Nerudy 894"),
        ("The parcel for 2407 tawastintie 6 came back.", "2407 tawastintie 6"),
        ("Contact: Antti, hegyalja út 98, floor two", "hegyalja út 98"),
        ("It is the house on Ariane-Brand-Weg with the green door.", "Ariane-Brand-Weg"),
        ("Two accidents on Tarsicio Isle within a week.", "Tarsicio Isle"),
        ("It is the house on Avenida Moura with the green door.", "Avenida Moura"),
        ("Charlotte Simonsen | Elmvej 92 | Svaneke | n/a", "Elmvej 92 | Svaneke"),
        ("Av. Mitre N° 556 is empty.", "Av. Mitre N° 556"),
        ("they towed the car outside ziegelgasse 19 yesterday", "ziegelgasse 19"),
    ],
)
def test_addresses_depend_little_on_the_words_around_them(text: str, address: str) -> None:
    assert values(text, "address") == [address]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("my postcode's 8592", "8592"),
        ("Send it to 77543 please", "77543"),
        ("They deliver to 75534-030 only.", "75534-030"),
    ],
)
def test_codes_by_themselves(text: str, code: str) -> None:
    assert values(text, "postal_code") == [code]


@pytest.mark.parametrize(
    "text",
    [
        "Wed, 28 May 1975, 1996",
        "21/08/1994, March 05, 2003",
        "ring me on 3468-6770 after six.",
        "Mobile 033 398 42 90",
        "Anna 467 3395 88",
        "A letter from Debra Green-Nicholas to me.",
        "For my take on Dr. Wells, see below.",
        "A letter to William Ford arrived.",
        "In Lidice 340 innocent people were killed.",
    ],
)
def test_dates_phones_and_persons_are_no_addresses(text: str) -> None:
    assert values(text, "address") == []


def test_a_phone_number_behind_an_address_is_none_of_it() -> None:
    text = "8 Elm Grove, Leeds LS6 2QT, 699 956 915"
    assert values(text, "address") == ["8 Elm Grove, Leeds LS6 2QT"]
    assert values("Name: Emma Larsen\nStreet: 8 Elm Grove", "address") == ["8 Elm Grove"]
    assert values("Amal R. Costa, 138 Consul Place, Senegal", "address") == ["138 Consul Place, Senegal"]
