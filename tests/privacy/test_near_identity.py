"""How near two texts are, by edit distance."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.privacy.near_identity import _within

pytestmark = pytest.mark.requirement("S-01")

TEXTS = st.text("ab1x", max_size=8)


def distance(one: str, other: str) -> int:
    if not one or not other:
        return len(one) + len(other)
    altered = distance(one[1:], other[1:]) + (one[0] != other[0])
    return altered if one[0] == other[0] else min(altered, distance(one[1:], other) + 1, distance(one, other[1:]) + 1)


@given(one=TEXTS, other=TEXTS, limit=st.integers(0, 8))
def test_texts_are_near_if_few_signs_have_to_be_altered(one: str, other: str, limit: int) -> None:
    assert _within(one, other, limit) == (distance(one, other) <= limit)
