"""An illness that is called after somebody."""

from __future__ import annotations

import pytest
from tests.text.finding import found

pytestmark = pytest.mark.requirement("D-03")


def test_a_name_in_the_name_of_an_illness_is_part_of_it() -> None:
    assert found("She has Down syndrome.") == [("health", "Down syndrome")]
