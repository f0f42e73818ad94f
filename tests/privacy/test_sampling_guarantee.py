"""β and k of differentially private tables, against exact sums and against the distributions themselves (S-06)."""

from __future__ import annotations

from fractions import Fraction
from math import comb, exp, log
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom
from tests.support.definitions import Group, Table
from tests.support.model_cases import ModelCase

from shoal.privacy.models.differential_privacy import DifferentialPrivacy
from shoal.privacy.sampling_guarantee import SamplingGuarantee, delta_of, largest_sampling

pytestmark = pytest.mark.requirement("S-06")


def definition(model: Any, group: Group, table: Table) -> bool:
    return len(group.people) >= SamplingGuarantee.of(model.epsilon, model.delta).smallest_group


CASE = ModelCase(
    key="differential_privacy",
    models=st.builds(DifferentialPrivacy, epsilon=st.sampled_from([0.5, 1.0]), delta=st.just(0.01)),
    definition=definition,
    policy={
        "attributes": {
            "age": {"role": "quasi", "type": "integer", "hierarchy": {"intervals": [10, 20, 40]}},
            "sex": {"role": "quasi", "type": "text"},
        },
        "privacy": [{"differential_privacy": {"epsilon": 0.7, "delta": 0.01}}],
        "solve": {"levels": {"age": 3, "sex": 1}, "drop_suppressed": True, "suppression_limit": 1},
    },
)

LARGEST = 120
"""Sizes of groups that exact sums go up to: tails beyond are far below those that count."""


def exact_tail(size: int, gamma: Fraction, chance: Fraction) -> Fraction:
    """P(X > γ·n) in whole numbers."""
    above = int(gamma * size) + 1
    return sum(
        (comb(size, j) * chance**j * (1 - chance) ** (size - j) for j in range(above, size + 1)), start=Fraction(0)
    )


def exact_delta(k: int, factor: Fraction, chance: Fraction) -> Fraction:
    """The published formula; ``factor`` is e^ε."""
    gamma = (factor - 1 + chance) / factor
    first = -(-k // gamma) - 1
    return max(exact_tail(size, gamma, chance) for size in range(max(1, int(first)), LARGEST))


def released(size: int, k: int, chance: float) -> list[float]:
    """By the number of records that a group of this size is released with, the chance of it."""
    drawn = binom.pmf(np.arange(size + 1), size, chance).tolist()
    return [sum(drawn[:k]), *(0.0 if j < k else drawn[j] for j in range(1, size + 1))]


def excess(one: list[float], other: list[float], epsilon: float) -> float:
    """The least δ for which ``one`` is within e^ε of ``other``."""
    longer = other + [0.0] * (len(one) - len(other))
    return sum(max(0.0, a - exp(epsilon) * b) for a, b in zip(one, longer, strict=False))


def test_half_of_the_records_are_drawn_where_epsilon_is_the_logarithm_of_two() -> None:
    assert largest_sampling(log(2)) == pytest.approx(0.5, abs=1e-15)
    assert largest_sampling(log(2)) <= 0.5


@given(st.floats(0.001, 10))
def test_no_more_are_drawn_than_epsilon_allows(epsilon: float) -> None:
    exact = 1 - Fraction(exp(-epsilon))
    assert 0 < largest_sampling(epsilon) <= exact + Fraction(1, 2**53)


@pytest.mark.parametrize(("factor", "k"), [(2, 3), (2, 19), (3, 12), (4, 8)])
def test_delta_is_the_exact_sum(factor: int, k: int) -> None:
    chance = 1 - Fraction(1, factor)
    exact = float(exact_delta(k, Fraction(factor), chance))
    found = delta_of(k, log(factor), largest_sampling(log(factor)))
    edges = float(exact_delta_with_edges(k, Fraction(factor), chance))
    assert exact * (1 - 1e-12) <= found <= edges * (1 + 1e-8)


def exact_delta_with_edges(k: int, factor: Fraction, chance: Fraction) -> Fraction:
    """With j = γ·n too, which is where rounding may fall to either side."""
    gamma = (factor - 1 + chance) / factor
    first = max(1, int(-(-k // gamma)) - 1)
    return max(exact_tail(size, gamma - Fraction(1, 10**9), chance) for size in range(first, LARGEST))


@pytest.mark.parametrize(
    ("epsilon", "delta", "k"),
    [(log(2), 0.05, 10), (log(2), 1e-6, 67), (1.0, 1e-6, 74), (log(3), 1e-6, 81), (2.0, 1e-6, 131), (0.01, 1e-6, 60)],
)
def test_golden_k(epsilon: float, delta: float, k: int) -> None:
    assert SamplingGuarantee.of(epsilon, delta).smallest_group == k


@settings(max_examples=30, deadline=None)
@given(st.floats(0.05, 2.5), st.sampled_from([1e-2, 1e-4, 1e-6]))
def test_k_is_the_least_that_will_do(epsilon: float, delta: float) -> None:
    found = SamplingGuarantee.of(epsilon, delta)
    assert delta_of(found.smallest_group, epsilon, found.sampling) <= delta
    assert delta_of(found.smallest_group - 1, epsilon, found.sampling) > delta


@settings(max_examples=25, deadline=None)
@given(st.floats(0.2, 2.0), st.sampled_from([1e-2, 1e-3]))
def test_the_distributions_of_neighbours_are_within_epsilon_and_delta(epsilon: float, delta: float) -> None:
    """The definition itself, with a record more or less in a group of any size."""
    found = SamplingGuarantee.of(epsilon, delta)
    k = found.smallest_group
    for size in range(1, 4 * k + 10, max(1, k // 8)):
        without, with_one = released(size - 1, k, found.sampling), released(size, k, found.sampling)
        assert excess(with_one, without, epsilon) <= delta
        assert excess(without, with_one, epsilon) <= 1e-12


def test_more_records_than_epsilon_allows_are_not_within_it() -> None:
    """The last test can fail: one who is drawn too often is missed where nobody is drawn."""
    allowed = largest_sampling(1.0)
    assert excess(released(0, 1, allowed), released(1, 1, allowed), 1.0) <= 1e-12
    too_large = allowed + 0.05
    assert excess(released(0, 1, too_large), released(1, 1, too_large), 1.0) > 0.1


def test_smaller_groups_than_k_are_not_within_delta() -> None:
    found = SamplingGuarantee.of(1.0, 1e-3)
    k = found.smallest_group // 3
    worst = max(
        excess(released(size, k, found.sampling), released(size - 1, k, found.sampling), 1.0)
        for size in range(1, 4 * k)
    )
    assert worst > 1e-3


@pytest.mark.parametrize(
    "parameters",
    [
        {"epsilon": 0.0, "delta": 1e-6},
        {"epsilon": 11, "delta": 1e-6},
        {"epsilon": float("nan"), "delta": 1e-6},
        {"epsilon": 1, "delta": 0},
        {"epsilon": 1, "delta": 0.5},
        {"epsilon": 1},
    ],
)
def test_parameters_that_promise_nothing_are_refused(parameters: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=r"epsilon|delta"):
        DifferentialPrivacy.model_validate(parameters)


def test_the_model_says_what_it_means() -> None:
    told = DifferentialPrivacy(epsilon=1.0, delta=1e-6).explain()
    assert "63.2%" in told
    assert "74" in told
    assert "1e-06" in told
