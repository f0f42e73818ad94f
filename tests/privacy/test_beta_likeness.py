"""β-likeness: the gain of each value against its bound, record by record."""

from __future__ import annotations

from fractions import Fraction
from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.spreads import Integers, classes_of, tables

from shoal.privacy import privacy_models
from shoal.privacy.models.beta_likeness import BetaLikeness, LikenessKind

pytestmark = pytest.mark.requirement("S-04")

BETAS = st.sampled_from(["0.1", "0.25", "0.5", "1", "2", "10"])


def gains(row: list[int], whole: list[int]) -> list[tuple[Fraction, Fraction]]:
    """Of the values that become more likely: their share in the table, and (q − p) ÷ p."""
    known = [(Fraction(q, sum(row)), Fraction(p, sum(whole))) for q, p in zip(row, whole, strict=True)]
    return [(p, (q - p) / p) for q, p in known if q > p]


@given(tables(5), BETAS)
def test_basic_bounds_every_gain(table: tuple[Integers, Integers], beta: str) -> None:
    block, whole = table
    model = BetaLikeness(attribute="ill", beta=float(beta), kind=LikenessKind.BASIC)
    found = [[gain for _, gain in gains(row, whole.tolist())] for row in block.tolist()]
    assert model.holds(classes_of(block, whole)).tolist() == [max(gain, default=0) <= Fraction(beta) for gain in found]
    expected = [float(max(gain, default=0)) for gain in found]
    assert model.figures(classes_of(block, whole)).tolist() == pytest.approx(expected, abs=1e-13)


@given(tables(5), BETAS)
def test_enhanced_bounds_frequent_values_more(table: tuple[Integers, Integers], beta: str) -> None:
    block, whole = table
    model = BetaLikeness(attribute="ill", beta=float(beta), kind=LikenessKind.ENHANCED)
    expected = [
        all(gain <= Fraction(beta) and gain <= -log(p) for p, gain in gains(row, whole.tolist()))
        for row in block.tolist()
    ]
    assert model.holds(classes_of(block, whole)).tolist() == expected


def test_enhanced_never_lets_a_frequent_value_become_certain() -> None:
    whole = np.array([60, 40])
    classes = classes_of(np.array([[1, 0], [9, 1]]), whole)
    assert BetaLikeness(attribute="ill", beta=1, kind=LikenessKind.BASIC).holds(classes).tolist() == [True, True]
    assert BetaLikeness(attribute="ill", beta=1, kind=LikenessKind.ENHANCED).holds(classes).tolist() == [False, True]


def test_a_gain_that_is_bounded_by_the_logarithm_counts_for_more() -> None:
    model = BetaLikeness(attribute="ill", beta=2, kind=LikenessKind.ENHANCED)
    (figure,) = model.figures(classes_of(np.array([[9, 1]]), np.array([60, 40])))
    assert figure == pytest.approx(0.5 * 2 / -log(0.6))


@pytest.mark.parametrize("kind", LikenessKind)
def test_one_value_that_all_have_can_not_gain(kind: LikenessKind) -> None:
    model = BetaLikeness(attribute="ill", beta=0.5, kind=kind)
    classes = classes_of(np.array([[3, 0]]), np.array([7, 0]))
    assert model.figures(classes).tolist() == [0]
    assert model.holds(classes).all()


@pytest.mark.parametrize("times", [1, 10**7, 10**9])
def test_a_gain_of_exactly_beta_will_do_and_no_more(times: int) -> None:
    """From 0.3 to 0.33 is a tenth more."""
    classes = classes_of(np.array([[33, 67]]) * times, np.array([300, 700]) * times)
    assert BetaLikeness(attribute="ill", beta=0.1, kind=LikenessKind.BASIC).holds(classes).all()
    assert not BetaLikeness(attribute="ill", beta=0.1 - 1e-9, kind=LikenessKind.BASIC).holds(classes).any()


@pytest.mark.parametrize(
    ("whole", "beta", "kind", "records", "distinct"),
    [
        ([1] * 10, 1, LikenessKind.BASIC, 5, 5),
        ([1] * 10, 9, LikenessKind.BASIC, 1, 1),
        ([1] * 10, 9, LikenessKind.ENHANCED, 4, 4),
        ([9, 1], 0.5, LikenessKind.BASIC, 1, 1),
        ([9, 1], 0.05, LikenessKind.BASIC, 10, 2),
        ([1] * 3000, 1, LikenessKind.BASIC, 1500, 1500),
        ([10**6, 1], 1e-7, LikenessKind.BASIC, 1002, 2),
    ],
)
def test_floor(whole: list[int], beta: float, kind: LikenessKind, records: int, distinct: int) -> None:
    minimum = BetaLikeness(attribute="ill", beta=beta, kind=kind).minimum_class({"ill": np.array(whole)})
    assert (minimum.people, minimum.records, minimum.distinct) == (1, records, {"ill": distinct})


def test_it_is_found_by_its_key_and_explains_itself() -> None:
    assert privacy_models.get("beta_likeness") is BetaLikeness
    basic, enhanced = (BetaLikeness(attribute="ill", beta=2, kind=kind).explain() for kind in LikenessKind)
    assert "more than 3 times as likely as it is in the whole table." in basic
    assert "less for values that are frequent anyway" in enhanced
