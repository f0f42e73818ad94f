"""How figures are written: nothing rounded to a promise."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.results.number_format import count, number, one_in, percent


@given(st.floats(0, 1))
def test_none_and_all_are_said_only_where_meant(share: float) -> None:
    said = percent(share)
    assert (said == "0%") == (share == 0)
    assert (said == "100%") == (share == 1)


@given(st.floats(0.001, 0.999))
def test_a_percentage_is_right_to_one_decimal(share: float) -> None:
    assert math.isclose(float(percent(share).rstrip("%")), 100 * share, abs_tol=0.0501)


@given(st.integers(1, 10**9))
def test_one_in_k_is_whole_for_a_whole_k(k: int) -> None:
    assert one_in(1 / k) == f"1 in {k:,}"


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (0.0, "0"),
        (5.0, "5"),
        (-3.0, "-3"),
        (1 / 3, "0.3333"),
        (999.96, "1000"),
        (481207.4, "481,207"),
        (10**15, "1,000,000,000,000,000"),
        (math.nan, "–"),
        (math.inf, "–"),
        (0.00001234, "1.234e-05"),
    ],
)
def test_numbers(value: float, said: str) -> None:
    assert number(value) == said


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_what_is_no_number_is_shown_as_none(value: float) -> None:
    assert percent(value) == one_in(value) == "–"


def test_one_is_singular() -> None:
    assert [count(amount, "person", "people") for amount in (0, 1, 2)] == ["0 people", "1 person", "2 people"]
