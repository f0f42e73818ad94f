"""Dates and ages as people say them, and numbers and words that only look like them."""

from __future__ import annotations

import pytest
from tests.text.finding import values

pytestmark = pytest.mark.requirement("D-03", "X-01")


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("Last November we bought a house.", "November"),
        ("He starts in May.", "May"),
        ("The shop opened in early March.", "March"),
        ("Seit Oktober wohnt er allein.", "Oktober"),
        ("See you Wednesday!", "Wednesday"),
        ("can we do thursday instead", "thursday"),
        ("Am Dienstag regnet es.", "Dienstag"),
        ("rendez-vous mercredi matin", "mercredi"),
        ("We meet Friday the 3rd.", "Friday the 3rd"),
        ("Appointment: Wed 7 Jul at noon", "Wed 7 Jul"),
        ("Sent Mon, Nov 16, by post", "Mon, Nov 16"),
        ("She was born on May 5 in a small town.", "May 5"),
        ("Seen in clinic, follow up 14/06.", "14/06"),
    ],
)
def test_dates_are_found(text: str, date: str) -> None:
    assert values(text, "date") == [date]


@pytest.mark.parametrize(
    "text",
    [
        "It may rain, and the march goes on.",
        "You may 5 times retry.",
        "We open every Monday.",
        "Monday-style dread",
        "He sat 5 minutes in the sun.",
        "It runs on 24/7 power and 3/4 of the load.",
        "april is a name too",
        "",
    ],
)
def test_other_words_are_no_dates(text: str) -> None:
    assert values(text, "date") == []


@pytest.mark.parametrize(
    ("text", "age"),
    [
        ("When she was 54, the family emigrated.", "54"),
        ("My son is 7 and my daughter is older.", "7"),
        ("I'm 31, married with two kids.", "31"),
        ("im 48 and i need help", "48"),
        ("Patient is 26, a smoker.", "26"),
        ("Asha Rao, 34, of Pune was injured.", "34"),
        ("Maria Lopez (45) said no.", "45"),
        ("When I was 19 I moved.", "19"),
        ("She died at 82.", "82"),
        ("Priya (34) got married.", "34"),
        ("Asha turned 40 in winter.", "40"),
        ("At 19, he became a father.", "19"),
        ("A man in his late fifties was hurt.", "late fifties"),
        ("a woman in her 40s", "40s"),
        ("She is thirty-four years old.", "thirty-four years old"),
        ("In a month he'll be 3.", "3"),
        ("she's gonna be 32 on her next birthday", "32"),
        ("My aunt must have been about 80.", "80"),
        ("As someone who's 42, I disagree.", "42"),
        ("My oldest is 19 now.", "19"),
        ("Dad's 71 and still drives.", "71"),
        ("If I live to be 90 I will have seen it all.", "90"),
        ("He retired at 62.", "62"),
        ("a woman of 40 should know better", "40"),
        ("Now 49, Štěpán lives in the hills.", "49"),
        ("The plumber, 45, said nothing.", "45"),
        ("Bradley Morley-Griffiths, 35, pleaded guilty.", "35"),
        ("Asha Rao (34 yrs) was seen.", "34"),
        ("I [34, m] need advice.", "34"),
        ("How old are you? 46", "46"),
        ("- How old is she?\n- 34.", "34"),
        ("Happy 40th, grandpa!", "40th"),
        ("I'm thirty-two and single.", "thirty-two"),
        ("She turned forty in spring.", "forty"),
        ("My teacher was 37 when she left.", "37"),
        ("he claims to be 60", "60"),
        ("Is your son really 12?", "12"),
        ("Could you change my age to 27?", "27"),
        ("Age of driver: 57", "57"),
        ("Though only 22, he runs the firm.", "22"),
    ],
)
def test_ages_are_found(text: str, age: str) -> None:
    assert values(text, "age") == [age]


def test_one_age_leads_to_the_next() -> None:
    assert values("My two boys, 8 and 11, love football.", "age") == ["8", "11"]
    assert values("Their son (12) and daughter (9) are at school.", "age") == ["12", "9"]


@pytest.mark.parametrize(
    "text",
    [
        "He is 6 feet tall.",
        "Read about Paris (12) and Rome (13).",
        "I am 5 minutes late.",
        "She is 20 weeks pregnant.",
        "He turned 90 degrees and 3 pages.",
        "The score is 40 and the limit is 55.",
        "There are 25 of us.",
        "Section, 34, of the Act",
        "the music of the fifties",
        "At 100, the counter stops.",
        "You will be 5 points behind.",
        "It was 30 and sunny.",
        "I was twenty minutes late.",
        "Children under 12 eat free.",
        "The meeting starts at 10.",
        "I hit 50 on the motorway.",
        "How many are there? 46",
        "We are 3 and they are 5.",
        "He said the score was 40.",
        "My seat is 34 and yours is 35.",
        "Add 2 eggs, 30 g of flour, and mix.",
        "",
    ],
)
def test_other_numbers_are_no_ages(text: str) -> None:
    assert values(text, "age") == []
