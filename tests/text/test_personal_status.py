"""Family, home, income, belief: as a sentence tells it of somebody."""

from __future__ import annotations

import pytest
from tests.text.finding import found

pytestmark = pytest.mark.requirement("D-03")


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("He has been homeless since the fire.", "standing", "homeless"),
        ("She is a mother of three.", "standing", "mother of three"),
        ("Asha Rao, a widow, owns the house.", "standing", "widow"),
        ("He is divorced and has two children.", "standing", "divorced"),
        ("He is divorced and he has two small children.", "standing", "two small children"),
        ("His wife gave birth to a son.", "standing", "gave birth to a son"),
        ("She is separated from her husband.", "standing", "separated from her husband"),
        ("He came as an asylum seeker.", "standing", "asylum seeker"),
        ("He was adopted at birth.", "standing", "adopted"),
        ("Marital status: single", "standing", "single"),
        ("Familienstand: verheiratet", "standing", "verheiratet"),
        ("Está casado.", "standing", "casado"),
        ("Nationality: Ghanaian", "group", "Ghanaian"),
        ("Er ist türkischer Staatsangehöriger.", "standing", "türkischer Staatsangehöriger"),
        ("Il est de nationalité suisse.", "standing", "suisse"),
        ("He has a scar on his cheek.", "standing", "scar"),
        ("She has a law degree.", "standing", "law degree"),
        ("She is Orthodox and sings.", "belief", "Orthodox"),
        ("She votes Labour.", "belief", "Labour"),
        ("Religion: Hindu", "belief", "Hindu"),
        ("He is a Turkish national.", "group", "Turkish national"),
    ],
)
def test_how_somebody_lives(text: str, kind: str, value: str) -> None:
    assert (kind, value) in found(text)


@pytest.mark.parametrize(
    "text",
    [
        "The parent node has three children.",
        "The orphan process was killed.",
        "The motion was adopted unanimously.",
        "The two tables are separated by a line.",
        "The feature was retired last week.",
        "A single user can open ten files.",
        "We ate French fries and Chinese food.",
        "The liberal use of salt is harmful.",
        "Homeless shelters are full.",
        "The complaint was separated from the file.",
    ],
)
def test_what_is_told_of_things(text: str) -> None:
    assert found(text, "standing", "belief") == []
