"""δ-disclosure privacy: the logarithm of each ratio, record by record; a value that a class lacks is a disclosure."""

from __future__ import annotations

from math import exp, inf, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from tests.support.spreads import Integers, classes_of, tables

from shoal.privacy import privacy_models
from shoal.privacy.models.delta_disclosure import DeltaDisclosure

pytestmark = pytest.mark.requirement("S-04")


def change(row: list[int], whole: list[int]) -> float:
    """The greatest |ln(q ÷ p)| over the values of the table."""
    ratios = [q / sum(row) / (p / sum(whole)) for q, p in zip(row, whole, strict=True) if p]
    return max(abs(log(ratio)) if ratio else inf for ratio in ratios)


@given(tables(4), st.sampled_from([0.05, 0.4, 0.9, 2.0]))
def test_every_value_keeps_about_its_share(table: tuple[Integers, Integers], delta: float) -> None:
    block, whole = table
    model = DeltaDisclosure(attribute="ill", delta=delta)
    expected = [change(row, whole.tolist()) for row in block.tolist()]
    assert model.figures(classes_of(block, whole)).tolist() == pytest.approx(expected, abs=1e-13)
    assert model.holds(classes_of(block, whole)).tolist() == [figure < delta for figure in expected]


def test_no_delta_allows_a_class_to_lack_a_value() -> None:
    classes = classes_of(np.array([[10**6, 0], [10**6, 1]]), np.array([10**7, 10]))
    model = DeltaDisclosure(attribute="ill", delta=1000)
    assert model.holds(classes).tolist() == [False, True]
    assert model.find(classes).achieved == inf


def test_a_value_that_the_table_lacks_asks_for_nothing() -> None:
    classes = classes_of(np.array([[3, 0, 3]]), np.array([5, 0, 5]))
    assert DeltaDisclosure(attribute="ill", delta=0.01).holds(classes).all()


@pytest.mark.parametrize("times", [1, 10**7, 10**9])
def test_the_bound_is_strict(times: int) -> None:
    """From a half to a quarter is ln 2; half as likely and twice as likely are alike."""
    classes = classes_of(np.array([[1, 3], [1, 1]]) * times, np.array([5, 5]) * times)
    assert DeltaDisclosure(attribute="ill", delta=log(2)).holds(classes).tolist() == [False, True]
    assert DeltaDisclosure(attribute="ill", delta=log(2) + 1e-9).holds(classes).tolist() == [True, True]


def test_what_reaches_the_bound_but_for_rounding_does_not_pass() -> None:
    """From three fifths to one fifth is ln 3."""
    classes = classes_of(np.array([[1, 4]]), np.array([30, 20]))
    model = DeltaDisclosure(attribute="ill", delta=log(3))
    assert model.figures(classes)[0] < log(3), "in floating point it is kept"
    assert not model.holds(classes).any()


@pytest.mark.parametrize(
    ("whole", "delta", "records"),
    [([5, 5], 1, 2), ([99, 1], 0.01, 100), ([99, 1], 1, 37), ([99, 0, 1], 1, 37), ([1, 1, 1, 1], 3, 4), ([8], 0.1, 1)],
)
def test_floor(whole: list[int], delta: float, records: int) -> None:
    minimum = DeltaDisclosure(attribute="ill", delta=delta).minimum_class({"ill": np.array(whole)})
    assert (minimum.people, minimum.records, minimum.distinct) == (1, records, {"ill": sum(map(bool, whole))})


def test_the_rarest_value_alone_is_too_much_just_below_the_floor() -> None:
    whole = np.array([990, 10])
    model = DeltaDisclosure(attribute="ill", delta=1)
    least = model.minimum_class({"ill": whole}).records
    assert least == int(100 * exp(-1)) + 1
    classes = classes_of(np.array([[least - 2, 1], [least - 1, 1]]), whole)
    assert model.holds(classes).tolist() == [False, True]


@pytest.mark.parametrize("delta", [0, -1, float("nan")])
def test_parameters_that_make_no_sense_are_refused(delta: float) -> None:
    with pytest.raises(ValidationError, match=r"greater than 0|finite"):
        DeltaDisclosure(attribute="ill", delta=delta)


def test_it_is_found_by_its_key_and_explains_itself() -> None:
    assert privacy_models.get("delta_disclosure") is DeltaDisclosure
    assert "by a factor of 2.718 or more" in DeltaDisclosure(attribute="ill", delta=1).explain()
