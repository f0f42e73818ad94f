"""Numbers that tell of somebody, in digits and in words."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.text.finding import found, values

from shoal.text.listed_phrases import find_listed

pytestmark = pytest.mark.requirement("D-03")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("He was sentenced to two years and six months' imprisonment.", "two years and six months'"),
        ("They sentenced him to ten years in prison.", "ten years in prison"),
        ("He got eighteen months.", "eighteen months"),
        ("She got life imprisonment.", "life imprisonment"),
        ("He had been married for twenty-three years.", "twenty-three years"),
        ("He weighs 82 kg.", "82 kg"),
        ("Height 5'10\", weight 180 lbs.", "5'10\""),
        ("He was caught driving 26 km/h over the limit.", "26 km/h"),
        ("Police found 3.4 grams of cocaine on him.", "3.4 grams of cocaine"),
        ("The plot measures 6,299 m².", "6,299 m²"),
        ("The flat has 80 m2.", "80 m2"),
        ("His working capacity was reduced by 33%.", "33%"),
        ("He has a 50 to 79% disability rating.", "50 to 79%"),
        ("Her share of the estate is 5/48.", "5/48"),
        ("He was tried with 623 other suspects.", "623 other suspects"),
        ("She owned ten plots of land.", "ten plots of land"),
    ],
)
def test_what_is_counted_of_somebody(text: str, value: str) -> None:
    assert value in values(text, "number")


@pytest.mark.parametrize(
    "text",
    [
        "CPU usage is at 85% and memory at 4.2 GB.",
        "The backup takes two hours every night.",
        "For three years nothing happened.",
        "We offer a 20% discount.",
        "The table is 2 m long.",
        "Speed limit 50 km/h",
        "Two other files were changed.",
        "In 2002 the court held four hearings.",
        "After 30 days the link expires.",
        "A dose of 5 mg is usual.",
    ],
)
def test_what_is_counted_of_things(text: str) -> None:
    assert found(text, "number") == []


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("He was fined five hundred euros.", "five hundred euros"),
        ("The sum of twenty thousand dollars was wired.", "twenty thousand dollars"),
        ("She owes nearly two million pounds.", "nearly two million pounds"),
        ("He asked for approximately EUR 1,800 then.", "approximately EUR 1,800"),
        ("damages of 250,000 kronor (SEK; about 27,000 euros)", "about 27,000 euros"),
        ("I earn $85k before tax.", "$85k"),
    ],
)
def test_sums_of_money(text: str, value: str) -> None:
    assert value in values(text, "money")


@given(st.from_regex(r"(he|no\.|case|has|[0-9]{1,5}|years|kg|of|[ ,/]){1,12}", fullmatch=True))
def test_all_digits_are_the_same_to_the_lists(text: str) -> None:
    assert list(find_listed(text)) == list(find_listed(re.sub("[0-9]", "5", text)))
