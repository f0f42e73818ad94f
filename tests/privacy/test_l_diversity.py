"""l-diversity: each kind against its definition, record by record."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from math import ceil, exp, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import digamma

from shoal.privacy import Classes, Histograms, privacy_models
from shoal.privacy.models.l_diversity import DiversityKind, Estimator, LDiversity, grassberger

pytestmark = pytest.mark.requirement("S-02")

RECORDS = st.lists(st.lists(st.integers(0, 5), min_size=1, max_size=25), min_size=1, max_size=4)
"""Classes as lists of the sensitive values of their records."""


def classes_of(records: list[list[int]]) -> Classes:
    owner = np.array([number for number, values in enumerate(records) for _ in values])
    value = np.array([value for values in records for value in values])
    sizes = np.array([len(values) for values in records])
    histograms = Histograms(np.bincount(value, minlength=6), owner, value, np.ones_like(value), len(records))
    return Classes(sizes, sizes, {"ill": histograms})


def one_class(*counts: int) -> Classes:
    row, size = np.array(counts), np.array([sum(counts)])
    value = np.arange(len(row))
    return Classes(size, size, {"ill": Histograms(row, np.zeros_like(value), value, row, 1)})


def entropy(l: float, estimator: Estimator | None = None) -> LDiversity:  # noqa: E741  # its name
    return LDiversity(attribute="ill", l=l, kind=DiversityKind.ENTROPY, estimator=estimator)


def is_recursive(values: list[int], c: Fraction, place: int) -> bool:
    """The definition: r₁ < c (r_l + … + rₘ)."""
    falling = sorted(Counter(values).values(), reverse=True)
    return falling[0] < c * sum(falling[place - 1 :])


@given(RECORDS)
def test_distinct_counts_values(records: list[list[int]]) -> None:
    model = LDiversity(attribute="ill", l=2, kind=DiversityKind.DISTINCT)
    classes = classes_of(records)
    assert model.figures(classes).tolist() == [len(set(values)) for values in records]
    assert model.holds(classes).tolist() == [len(set(values)) >= 2 for values in records]


@given(RECORDS)
def test_entropy_is_that_of_the_shares(records: list[list[int]]) -> None:
    expected = []
    for values in records:
        shares = [count / len(values) for count in Counter(values).values()]
        expected.append(exp(-sum(share * log(share) for share in shares)))
    np.testing.assert_allclose(entropy(2).figures(classes_of(records)), expected, rtol=1e-12)


def as_written(n: int) -> float:
    """Grassberger's G."""
    return float(digamma(n) + (-1) ** n / 2 * (digamma((n + 1) / 2) - digamma(n / 2)))


@given(RECORDS)
def test_grassberger_corrects_each_count(records: list[list[int]]) -> None:
    expected = []
    for values in records:
        counts = Counter(values).values()
        within = sum(n * as_written(n) for n in counts) / len(values)
        expected.append(max(1, min(len(counts), exp(as_written(len(values)) - within))))
    figures = entropy(2, Estimator.GRASSBERGER).figures(classes_of(records))
    np.testing.assert_allclose(figures, expected, rtol=1e-12)


@given(RECORDS, st.sampled_from(["0.1", "0.5", "0.7", "1", "1.1", "3"]), st.integers(1, 6))
def test_recursive_by_its_definition(records: list[list[int]], c: str, l: int) -> None:  # noqa: E741  # its name
    model = LDiversity(attribute="ill", l=l, kind=DiversityKind.RECURSIVE, c=float(c))
    expected = [is_recursive(values, Fraction(c), l) for values in records]
    assert model.holds(classes_of(records)).tolist() == expected


@given(st.integers(1, 10**9))
def test_g_is_what_grassberger_wrote(n: int) -> None:
    expected = digamma(n) + (-1) ** n / 2 * (digamma((n + 1) / 2) - digamma(n / 2))
    assert grassberger(np.array([n]))[0] == pytest.approx(expected, rel=1e-13)


def test_g_by_the_recurrence_that_grassberger_printed() -> None:
    """G₁ = −γ − ln 2, G₂ = 2 − γ − ln 2, G₂ₙ₊₁ = G₂ₙ and G₂ₙ₊₂ = G₂ₙ + 2/(2n + 1) (Grassberger 2003)."""
    expected = [-np.euler_gamma - log(2), 2 - np.euler_gamma - log(2)]
    for n in range(1, 200):
        expected += [expected[-1], expected[-1] + 2 / (2 * n + 1)]
    np.testing.assert_allclose(grassberger(np.arange(1, 401)), expected, rtol=1e-14)


def test_g_as_arx_prints_it() -> None:
    """ARX, EntropyLDiversity.java: G for 1, 2, 3, 4, 50 and 100."""
    printed = [-1.2703628454614782, 0.7296371545385218, 0.7296371545385218, 1.3963038212051886]
    printed += [3.912089653443865, 4.605186851488337]
    np.testing.assert_allclose(grassberger(np.array([1, 2, 3, 4, 50, 100])), printed, rtol=1e-15)


def test_g_has_no_step_where_the_series_takes_over() -> None:
    """A sum of 2 ÷ odd numbers, however long."""
    counts = np.arange(1, 4000)
    odd = 2 * np.cumsum(np.concatenate(([0.0], 1 / np.arange(1, 4000, 2))))
    np.testing.assert_allclose(grassberger(counts), odd[counts // 2] - np.euler_gamma - log(2), rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize("times", [1, 3, 10**6, 10**7, 10**9])
@pytest.mark.parametrize("values", [2, 3, 5, 6, 7, 10, 49, 97])
def test_exactly_l_equally_frequent_values_will_do(values: int, times: int) -> None:
    classes = one_class(*[times] * values)
    assert entropy(values).holds(classes).all()
    assert not entropy(values + 1e-6).holds(classes).any()


def test_one_record_too_many_among_a_billion_is_seen() -> None:
    model = LDiversity(attribute="ill", l=2, kind=DiversityKind.RECURSIVE, c=1)
    assert not model.holds(one_class(10**9, 10**9)).any()
    assert model.holds(one_class(10**9 + 2, 10**9 + 1, 2)).all()
    assert not model.holds(one_class(10**9 + 3, 10**9 + 1, 2)).any()


def test_the_bound_of_the_recursive_kind_is_strict_whatever_the_last_bit() -> None:
    assert 0.07 * 100 > 7, "in floating point it is passed"
    model = LDiversity(attribute="ill", l=1, kind=DiversityKind.RECURSIVE, c=0.07)
    assert not model.holds(one_class(*[7] * 14, 2)).any()
    assert model.holds(one_class(*[7] * 14, 3)).all()


def test_for_large_classes_the_estimators_agree() -> None:
    classes = one_class(5 * 10**9, 3 * 10**9, 10**9)
    shannon, corrected = (entropy(2, estimator).figures(classes)[0] for estimator in Estimator)
    assert corrected == pytest.approx(shannon, rel=1e-9)


def test_no_class_counts_for_more_values_than_it_has() -> None:
    classes = one_class(1, 1, 1)
    assert entropy(3, Estimator.GRASSBERGER).figures(classes).tolist() == [3]
    assert not entropy(3.5, Estimator.GRASSBERGER).holds(classes).any()


@pytest.mark.parametrize(
    ("kind", "extra", "least"),
    [
        (DiversityKind.DISTINCT, {"l": 4}, 4),
        (DiversityKind.ENTROPY, {"l": 3.2}, ceil(3.2)),
        (DiversityKind.ENTROPY, {"l": 5, "estimator": Estimator.GRASSBERGER}, 5),
        (DiversityKind.RECURSIVE, {"l": 3, "c": 2}, 3),
        (DiversityKind.RECURSIVE, {"l": 3, "c": 1}, 4),
        (DiversityKind.RECURSIVE, {"l": 3, "c": 0.1}, 13),
    ],
)
def test_floor(kind: DiversityKind, extra: dict[str, float], least: int) -> None:
    minimum = LDiversity(attribute="ill", kind=kind, **extra).minimum_class({"ill": np.array([9, 9])})  # type: ignore[arg-type]
    assert (minimum.people, minimum.records, minimum.distinct) == (1, least, {"ill": least})


def test_it_is_found_by_its_key_and_explains_each_kind() -> None:
    assert privacy_models.get("l_diversity") is LDiversity
    assert (
        "at least 3 different values for 'ill'"
        in LDiversity(attribute="ill", l=3, kind=DiversityKind.DISTINCT).explain()
    )
    assert "at least 2.5 equally likely values" in entropy(2.5).explain()
    recursive = LDiversity(attribute="ill", l=4, kind=DiversityKind.RECURSIVE, c=1.5).explain()
    assert "less than 1.5 times as frequent as all those together that come 4th or later" in recursive
