"""Sums of money, numbers of cases, years, and numbers in groups after words of calling."""

from __future__ import annotations

import pytest
from tests.text.finding import found

pytestmark = pytest.mark.requirement("D-03")


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("a fine of EUR 1,470,000 was paid", "money", "EUR 1,470,000"),
        ("it cost $5.20 there", "money", "$5.20"),
        ("about 250,000 Swedish kronor", "money", "about 250,000 Swedish kronor"),
        ("Rs. 5 lakh were paid", "money", "Rs. 5 lakh"),
        ("application no. 18403/91 was lodged", "reference", "18403/91"),
        ("She was born in 1950.", "date", "1950"),
        ("It ended in May 2019.", "date", "May 2019"),
        ("call me at 0680 298 70 63", "phone", "0680 298 70 63"),
    ],
)
def test_figures_are_found(text: str, kind: str, value: str) -> None:
    assert (kind, value) in found(text)


@pytest.mark.parametrize(
    "text", ["room 1950", "3 apples", "1,950 people", "the ratio 18403/91", "port 5432", "ABC 123", ""]
)
def test_other_numbers_are_left(text: str) -> None:
    assert found(text, "money", "reference", "date", "phone") == []
