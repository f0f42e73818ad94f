"""Phone numbers by the words around them, and other numbers in groups."""

from __future__ import annotations

import pytest
from tests.text.finding import values

pytestmark = pytest.mark.requirement("D-03")


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("my number is 36036374 in case you need me", "36036374"),
        ("His new mobile: 51 516 33 75", "51 516 33 75"),
        ("i texted 04241189002 twice", "04241189002"),
        ("Reply STOP to 4106 3329", "4106 3329"),
        ("F: 451 5986", "451 5986"),
        ("Reach me (home) 699 956 915", "699 956 915"),
        ("99 577450 - call after six", "99 577450"),
        ("Jerneja Kodrič, 699 956 915", "699 956 915"),
        ('"451 5986," she said.', "451 5986"),
        ("Asha Rao\n912 779 169\nthanks", "912 779 169"),
    ],
)
def test_numbers_that_are_called(text: str, number: str) -> None:
    assert values(text, "phone") == [number]


@pytest.mark.parametrize(
    "text",
    [
        "1 200 000 people live there.",
        "Rows 12 345 678 were deleted.",
        "We sold 1 200 000 from 2010 on.",
        "Hania Bazid, 43 73313",
        "Version 12.4.2026 is out.",
        "",
    ],
)
def test_numbers_that_are_not(text: str) -> None:
    assert values(text, "phone") == []
