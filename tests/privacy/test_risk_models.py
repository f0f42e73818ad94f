"""Maximum risk, average risk and sample uniqueness against every way to take classes away."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from shoal.privacy import Classes, PrivacyModel
from shoal.privacy.models.re_identification_risk import AverageRisk, MaximumRisk
from shoal.privacy.models.sample_uniqueness import SampleUniqueness

pytestmark = pytest.mark.requirement("S-04", "R-01")

Sizes = list[int]
sizes = st.lists(st.integers(1, 9), min_size=1, max_size=8)
shares = st.sampled_from([0.05, 0.1, 0.15, 0.2, 0.3, 1 / 3, 0.5, 0.9, 1.0])


def classes_of(sizes: Sizes) -> Classes:
    people = np.array(sizes, dtype=np.int64)
    return Classes(people, people)


def average(sizes: Sizes) -> float:
    """Person by person."""
    chances = [1 / size for size in sizes for _ in range(size)]
    return sum(chances) / len(chances) if chances else 0.0


def alone(sizes: Sizes) -> float:
    return sizes.count(1) / sum(sizes) if sizes else 0.0


TABLE = [(AverageRisk, average), (SampleUniqueness, alone)]
Kind = tuple[type[AverageRisk | SampleUniqueness], Callable[[Sizes], float]]


@pytest.mark.parametrize("kind", TABLE)
@given(sizes=sizes, maximum=shares)
def test_no_choice_takes_away_fewer_classes(kind: Kind, sizes: Sizes, maximum: float) -> None:
    model, figure = kind[0](maximum=maximum), kind[1]
    held = model.holds(classes_of(sizes))
    left = [size for size, stays in zip(sizes, held, strict=True) if stays]
    gone = [size for size, stays in zip(sizes, held, strict=True) if not stays]
    assert figure(left) <= maximum + 1e-12
    assert model.find(classes_of(left)).met
    assert max(gone, default=0) <= min(left, default=9)
    for more in range(len(left) + 1, len(sizes) + 1):
        assert all(figure(list(rest)) > maximum - 1e-12 for rest in combinations(sizes, more))


@pytest.mark.parametrize("kind", TABLE)
@given(sizes=sizes, maximum=shares)
def test_figure_is_the_mean_over_people(kind: Kind, sizes: Sizes, maximum: float) -> None:
    found = kind[0](maximum=maximum).find(classes_of(sizes))
    assert found.achieved == pytest.approx(kind[1](sizes))
    assert found.required == maximum


@given(sizes=sizes, maximum=shares)
def test_maximum_risk_is_k_anonymity_in_other_words(sizes: Sizes, maximum: float) -> None:
    model = MaximumRisk(maximum=maximum)
    assert model.holds(classes_of(sizes)).tolist() == [1 / size <= maximum for size in sizes]
    assert model.find(classes_of(sizes)).achieved == pytest.approx(1 / min(sizes))


@given(st.integers(1, 10_000))
def test_floor_of_maximum_risk_is_the_least_size(k: int) -> None:
    least = MaximumRisk(maximum=1 / k).minimum_class({}).people
    assert least == k
    assert MaximumRisk(maximum=np.nextafter(1 / k, 0)).minimum_class({}).people == k + 1


@pytest.mark.parametrize("model", [MaximumRisk(maximum=0.3), AverageRisk(maximum=0.3), SampleUniqueness(maximum=0.3)])
@given(sizes=sizes)
def test_merging_breaks_nothing(model: PrivacyModel, sizes: Sizes) -> None:
    assert model.monotone_under_generalisation
    left = classes_of(sizes).people[model.holds(classes_of(sizes))].tolist()
    if len(left) > 1:
        assert model.holds(classes_of([left[0] + left[1], *left[2:]])).all()


@pytest.mark.parametrize("model", [AverageRisk(maximum=0.3), SampleUniqueness(maximum=0.3)])
def test_taking_away_a_large_class_breaks_it(model: PrivacyModel) -> None:
    assert not model.monotone_under_suppression
    assert model.holds(classes_of([1, 1, 9])).all()
    assert not model.holds(classes_of([1, 1])).all()


@given(sizes=sizes, away=st.integers(0, 255))
def test_maximum_risk_bears_any_suppression(sizes: Sizes, away: int) -> None:
    model = MaximumRisk(maximum=0.3)
    left = [size for place, size in enumerate(sizes) if 1 / size <= 0.3 and not away >> place & 1]
    assert model.monotone_under_suppression
    assert model.holds(classes_of(left)).all()


def test_of_equal_classes_the_earlier_go() -> None:
    assert AverageRisk(maximum=0.2).holds(classes_of([2, 8, 2, 2])).tolist() == [False, True, False, True]
    assert SampleUniqueness(maximum=0.1).holds(classes_of([1, 8, 1, 1])).tolist() == [False, True, False, False]


def test_people_are_counted_not_records() -> None:
    """A person with five records is still alone."""
    classes = Classes(records=np.array([5, 5]), people=np.array([1, 5]))
    assert SampleUniqueness(maximum=0.1).holds(classes).tolist() == [False, True]
    assert MaximumRisk(maximum=0.2).holds(classes).tolist() == [False, True]
    assert AverageRisk(maximum=0.2).holds(classes).tolist() == [False, True]


@pytest.mark.parametrize("model", [MaximumRisk(maximum=0.2), AverageRisk(maximum=0.2), SampleUniqueness(maximum=0)])
def test_classes_without_people_change_nothing(model: PrivacyModel) -> None:
    assert model.holds(classes_of([0, 5, 0])).all()
    assert model.holds(classes_of([0])).all()
    assert model.find(classes_of([])).met


@given(sizes=sizes)
def test_floor_of_no_uniques_at_all(sizes: Sizes) -> None:
    model = SampleUniqueness(maximum=0)
    assert model.holds(classes_of(sizes)).tolist() == [size >= model.minimum_class({}).people for size in sizes]
    assert SampleUniqueness(maximum=0.01).minimum_class({}).people == 1


@pytest.mark.parametrize(("kind", "wrong"), [(MaximumRisk, 0), (AverageRisk, 0), (SampleUniqueness, -0.1)])
def test_shares_out_of_range_are_refused(kind: type[PrivacyModel], wrong: float) -> None:
    for maximum in (wrong, 1.1, float("nan")):
        with pytest.raises(ValidationError):
            kind.model_validate({"maximum": maximum})


@pytest.mark.parametrize("kind", [MaximumRisk, AverageRisk, SampleUniqueness])
def test_explains_what_it_promises(kind: type[PrivacyModel]) -> None:
    assert "at most 0.05" in kind.model_validate({"maximum": 0.05}).explain().lower()
