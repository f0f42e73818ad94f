"""(α, k)-anonymity: the share of the most frequent value, record by record, and the number of people."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.privacy import Classes, Histograms, privacy_models
from shoal.privacy.models.alpha_k import AlphaK

pytestmark = pytest.mark.requirement("S-04")

RECORDS = st.lists(st.lists(st.integers(0, 4), min_size=1, max_size=15), max_size=4)
"""Classes as lists of the sensitive values of their records."""


def classes_of(records: list[list[int]], people: list[int] | None = None) -> Classes:
    owner = np.array([number for number, values in enumerate(records) for _ in values], dtype=np.int64)
    value = np.array([value for values in records for value in values], dtype=np.int64)
    sizes = np.array([len(values) for values in records], dtype=np.int64)
    histograms = Histograms(np.bincount(value, minlength=5), owner, value, np.ones_like(value), len(records))
    return Classes(sizes, sizes if people is None else np.array(people), {"ill": histograms})


@given(RECORDS, st.sampled_from(["0.1", "0.25", "0.3", "0.5", "0.7", "1"]), st.integers(1, 6))
def test_the_largest_share_and_the_people_are_bounded(records: list[list[int]], alpha: str, k: int) -> None:
    model = AlphaK(attribute="ill", alpha=float(alpha), k=k)
    shares = [Fraction(max(Counter(values).values()), len(values)) for values in records]
    enough = [len(values) >= k for values in records]
    expected = [many and share <= Fraction(alpha) for many, share in zip(enough, shares, strict=True)]
    assert model.holds(classes_of(records)).tolist() == expected
    figures = [
        float(share) if many else k / len(values) for many, share, values in zip(enough, shares, records, strict=True)
    ]
    assert model.figures(classes_of(records)).tolist() == pytest.approx(figures)


def test_many_records_of_one_person_are_one_person() -> None:
    classes = classes_of([[0, 1, 2]], people=[1])
    assert not AlphaK(attribute="ill", alpha=0.5, k=2).holds(classes).any()
    assert AlphaK(attribute="ill", alpha=0.5, k=1).holds(classes).all()


def test_too_few_people_fail_even_where_every_share_is_allowed() -> None:
    finding = AlphaK(attribute="ill", alpha=1, k=6).find(classes_of([[0, 1, 2]]))
    assert (finding.required, finding.achieved, finding.met) == (1, 2, False)


@pytest.mark.parametrize("times", [1, 10**7, 10**9])
def test_a_share_of_exactly_alpha_will_do_and_no_more(times: int) -> None:
    counts = np.array([3, 3, 4]) * times
    size = counts.sum(keepdims=True)
    classes = Classes(size, size, {"ill": Histograms(counts, np.zeros(3, dtype=np.int64), np.arange(3), counts, 1)})
    assert AlphaK(attribute="ill", alpha=0.4, k=2).holds(classes).all()
    assert not AlphaK(attribute="ill", alpha=0.4 - 1e-10, k=2).holds(classes).any()


@pytest.mark.parametrize(("alpha", "least"), [(1, 1), (0.5, 2), (0.34, 3), (1 / 3, 3), (0.1, 10), (1 / 49, 49)])
def test_floor(alpha: float, least: int) -> None:
    minimum = AlphaK(attribute="ill", alpha=alpha, k=7).minimum_class({"ill": np.array([5, 5, 5])})
    assert (minimum.people, minimum.records, minimum.distinct) == (7, least, {"ill": least})


def test_it_is_found_by_its_key_and_explains_itself() -> None:
    assert privacy_models.get("alpha_k") is AlphaK
    assert "belongs to more than 0.25 of such a group" in AlphaK(attribute="ill", alpha=0.25, k=5).explain()
