"""Lists of phrases with numbers in them take every digit for the same."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.text.listed_phrases import find_listed

pytestmark = pytest.mark.requirement("D-03")


@given(st.from_regex(r"(he|no\.|case|has|[0-9]{1,5}|years|kg|of|[ ,/]){1,12}", fullmatch=True))
def test_all_digits_are_the_same_to_the_lists(text: str) -> None:
    assert list(find_listed(text)) == list(find_listed(re.sub("[0-9]", "5", text)))
