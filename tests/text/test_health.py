"""Matters of health, told of somebody or of nobody."""

from __future__ import annotations

import pytest
from tests.text.finding import found, values

pytestmark = pytest.mark.requirement("D-03")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("She has been suffering from hepatitis C since May.", "hepatitis C"),
        ("He was diagnosed with paranoid schizophrenia.", "paranoid schizophrenia"),
        ("The report showed a fracture of the left kneecap.", "fracture of the left kneecap"),
        ("My son has asthma.", "asthma"),
        ("Patient has a history of type 2 diabetes.", "type 2 diabetes"),
        ("She is HIV-positive.", "HIV-positive"),
        ("He had suffered a stroke.", "stroke"),
        ("She was six months pregnant then.", "six months pregnant"),
        ("He was declared partially disabled.", "partially disabled"),
        ("She underwent a hysterectomy.", "hysterectomy"),
        ("The applicant is a heroin addict.", "heroin addict"),
        ("He is deaf.", "deaf"),
        ("The accident led to the applicant’s total disability.", "total disability"),
        ("He shows mild spondyloarthritis.", "mild spondyloarthritis"),
        ("PMH: COPD, gout.", "COPD"),
        ("Er leidet an Diabetes.", "Diabetes"),
        ("Elle souffre d'asthme.", "asthme"),
        ("Padece diabetes desde niño.", "diabetes"),
    ],
)
def test_an_illness_that_somebody_has(text: str, value: str) -> None:
    assert value in values(text, "health")


@pytest.mark.parametrize(
    "text",
    [
        "Asthma is a common disease of the airways.",
        "The vaccine protects against hepatitis B.",
        "The market is in a depression.",
        "The system suffers from memory leaks.",
        "The blind spot of the camera is wide.",
        "He had a stroke of genius.",
        "A stroke of luck.",
        "The diagnosis of the engine failed.",
        "She aids the search and has als ob.",
        "The disk failure was a severe problem.",
    ],
)
def test_an_illness_that_nobody_has(text: str) -> None:
    assert found(text, "health") == []


def test_notes_that_tell_of_several_are_about_somebody() -> None:
    assert values("Gout. Psoriasis. Sciatica.", "health") == ["Gout", "Psoriasis", "Sciatica"]
    assert values("Gout. Psoriasis.", "health") == []


def test_a_name_in_the_name_of_an_illness_is_part_of_it() -> None:
    assert found("She has Down syndrome.") == [("health", "Down syndrome")]
