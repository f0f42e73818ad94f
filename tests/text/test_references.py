"""Numbers of cases and files, after a label or by their form."""

from __future__ import annotations

import pytest
from tests.text.finding import found, values

pytestmark = pytest.mark.requirement("D-03")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Your case number is 2023-CV-004512.", "2023-CV-004512"),
        ("Ref. no. AB/1234/2019, please quote it.", "AB/1234/2019"),
        ("The court (case no. II K 123/04) acquitted him.", "II K 123/04"),
        ("Az.: 3 C 412/18", "3 C 412/18"),
        ("judgment of 3 March, 1 BvR 2378/98", "1 BvR 2378/98"),
        ("Claim No. HQ15X03456", "HQ15X03456"),
        ("[2005] UKHL 34 was cited.", "[2005] UKHL 34"),
        ("see 19-cv-08132 there", "19-cv-08132"),
        ("registered under no. D-4840 in the land register", "D-4840"),
        ("Our invoice INV-20394 is unpaid.", "INV-20394"),
        ("Policy number POL 8837261 lapsed.", "POL 8837261"),
        ("Writ Petition (Civil) No. 494 of 2012", "494 of 2012"),
        ("Aktenzeichen 12 O 345/17", "12 O 345/17"),
        ("N° de dossier : 2019/04567", "2019/04567"),
        ("Expediente n.º 1234/2020", "1234/2020"),
        ("Your booking reference is K7XQ2P.", "K7XQ2P"),
        ("student number s1829384", "s1829384"),
    ],
)
def test_numbers_of_files(text: str, value: str) -> None:
    assert value in values(text, "reference")


def test_numbers_that_are_counted_up_are_found_one_by_one() -> None:
    assert values("the plots nos. 260, 268, 119/5 and 425 were hers", "reference") == ["260", "268", "119/5", "425"]


@pytest.mark.parametrize(
    "text",
    [
        "Law no. 657 on Civil Servants",
        "Series A no. 268-A, pp. 12-13",
        "Bus no. 42 goes to the harbour.",
        "no. of rows: 2000",
        "in that case 10 minutes suffice",
        "order by date desc",
        "file size 2048 bytes",
        "Article 125 of the Criminal Code",
        "see paragraphs 32 and 33 below",
        "Use port 8080 in this case.",
        "in any case 12.05 is late",
    ],
)
def test_numbers_of_nobodys(text: str) -> None:
    assert found(text, "reference") == []
