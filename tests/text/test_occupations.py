"""Occupations that are said of somebody, and those that only act in the story."""

from __future__ import annotations

import pytest
from tests.text.finding import found, values

pytestmark = pytest.mark.requirement("D-03")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("He is a retired police officer.", "retired police officer"),
        ("She was employed as a local authority housing officer until May.", "local authority housing officer"),
        ("He began working as a watchman at the town hall.", "watchman"),
        ("The applicant was the manager of a clinic.", "manager"),
        ("At the time he was a lance corporal in the army.", "lance corporal"),
        ("He held the post of deputy headmaster for a while.", "deputy headmaster"),
        ("She was appointed assistant professor at the faculty.", "assistant professor"),
        ("The witness, a taxi driver, saw the car.", "taxi driver"),
        ("I'm a software engineer and want to leave.", "software engineer"),
        ("The 52-year-old lorry driver was unhurt.", "lorry driver"),
        ("He is a welder by trade.", "welder"),
        ("Her mother was a dressmaker.", "dressmaker"),
        ("Both are teachers.", "teachers"),
        ("He met a locksmith named Rao.", "locksmith"),
        ("Occupation: crane operator", "crane operator"),
        ("Asha Rao (Regional Sales Manager) will call.", "Regional Sales Manager"),
        ("They followed songwriter Asha Rao home.", "songwriter"),
        ("Er arbeitet als Krankenpfleger in Wien.", "Krankenpfleger"),
        ("Ich bin Rentnerin und wohne allein.", "Rentnerin"),
        ("Il est avocat à Lyon.", "avocat"),
        ("Trabaja como camarero en Madrid.", "camarero"),
        ("Asha Rao\nAccountant\nPhone: 123", "Accountant"),
        ("Asha Rao\nMason\nPune", "Mason"),
        ("My sister became a hospital doctor last year.", "hospital doctor"),
        ("He used to be an editor before the accident.", "editor"),
        ("our accountant, Rosita Mosemann, will help", "accountant"),
        ("Occupation: Dining room and cafeteria attendant", "Dining room and cafeteria attendant"),
        ("She worked as a nurse and midwife in Leeds.", "nurse and midwife"),
        ("Asha Rao is the new set designer of the theatre.", "set designer"),
    ],
)
def test_an_occupation_that_is_said_of_somebody(text: str, value: str) -> None:
    assert value in values(text, "occupation")


@pytest.mark.parametrize(
    "text",
    [
        "The judge dismissed the case.",
        "Ask a lawyer before you sign.",
        "She was represented by Mr Rao, a lawyer practising in Pune.",
        "This script works as a wrapper around the API.",
        "The position of the cursor is saved.",
        "The package manager could not resolve it.",
        "We need a cook book and a pilot project.",
        "This is a cleaner solution.",
        "He used the umbrella as a weapon.",
        "The driver installs silently.",
        "As a result the claim was rejected.",
        "A lawyer shall be assigned to him.",
        "Der Server ist nicht erreichbar.",
        "Packages\nSnowball for Debian\nleaves this list",
        "This tool serves as a linter.",
        "Hello,\nplease ask your manager\nThanks",
        "Contact\nMason\nthanks",
        "Hello\nSebastian\nand all",
        "Mhealthcoach\nPune",
        "This is a player that supports all formats.",
        "Who is the director of that movie?",
        "",
    ],
)
def test_what_nobody_is(text: str) -> None:
    assert found(text, "occupation") == []
