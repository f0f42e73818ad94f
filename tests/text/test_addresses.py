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
