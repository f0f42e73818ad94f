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


def test_a_text_without_capitals() -> None:
    assert values("send it to 3911 fourth avenue suite 112, calgary", "address") == [
        "3911 fourth avenue suite 112, calgary"
    ]
