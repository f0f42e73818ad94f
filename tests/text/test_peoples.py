"""Words for a people that are made of the name of its country."""

from __future__ import annotations

import pytest

from shoal.text.personal_facts.groups_and_beliefs import named_after_countries

pytestmark = pytest.mark.requirement("D-03")


def test_what_is_made_of_a_country_is_no_word_of_the_lists() -> None:
    made = set(named_after_countries())
    assert "belizian" in made
    assert made.isdisjoint({"chili", "indian", "german", "romance", "finish"})
