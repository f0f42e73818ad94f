"""A form of address is looked for wherever it can match, though its words are looked for first."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from shoal.text.lexicon.gazetteers import sections_in
from shoal.text.street_addresses.address_parts import GATES, WITH_UNIT, address_forms, opened_gates

pytestmark = pytest.mark.requirement("D-03", "X-01")

_STREETS = sections_in("streets")
_WRITTEN = st.sampled_from(
    [
        *(word for section in ("openings", "openings in small letters", "endings") for word in _STREETS[section]),
        *(word.upper() for word in _STREETS["openings"]),
        *("Flat", "Apt.", "Bus", "apt", "CMR", "кв", "#", "Am", "Zum", "Auf der", "Unter den", "An", "In den"),
        *("STR.", "STRASSE"),
        *("Linden", "Larch", "Box", "No", "of", "5", "12a", "680", "10117", ",", ".", "\n", "-", "_", ":"),
    ]
)  # fmt: skip
_PLACED = st.lists(st.tuples(_WRITTEN, st.sampled_from([" ", " ", " ", ""])), max_size=14).map(
    lambda parts: "".join(word + gap for word, gap in parts)
)


@example("is: Flat 7")
@example("Linden 12 #4")
@given(_PLACED)
def test_a_form_is_looked_for_wherever_it_can_match(text: str) -> None:
    """What is looked for first, words, opens as many gates as the gates themselves."""
    opened = opened_gates(text, 0, len(text))
    assert opened - {WITH_UNIT} >= {gate for gate, holds in GATES.items() if holds.search(text)} - {WITH_UNIT}
    for plain in (True, False) if text.isascii() else (False,):
        for form, _, gate in address_forms(small=False, plain=plain).cores:
            assert gate in opened or form.search(text) is None
