"""δ-presence against the definition, person by person of the population."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from shoal.errors import BugError
from shoal.privacy import Classes
from shoal.privacy.models.delta_presence import DeltaPresence

pytestmark = pytest.mark.requirement("S-04")

Pairs = list[tuple[int, int]]
pairs = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 9)).filter(any), min_size=1, max_size=7)
bounds = st.tuples(st.sampled_from([0.0, 0.1, 0.25, 0.5]), st.sampled_from([0.5, 0.75, 0.9, 1.0]))


def classes_of(pairs: Pairs) -> Classes:
    """From records in the table and people outside it."""
    sample, others = (np.array(column) for column in zip(*pairs, strict=True))
    return Classes(sample, sample, population=sample + others)


def model_of(bounds: tuple[float, float]) -> DeltaPresence:
    return DeltaPresence(minimum=bounds[0], maximum=bounds[1], population="everyone.csv")


@given(pairs, bounds)
def test_nobody_of_the_population_is_outside_the_bounds(pairs: Pairs, bounds: tuple[float, float]) -> None:
    """What stays is within them for everyone; what goes would not be; and if someone is known to be absent, all go."""
    model, classes = model_of(bounds), classes_of(pairs)
    held = model.holds(classes)
    shares = [inside / (inside + outside) for inside, outside in pairs]
    if bounds[0] and 0 in shares:
        assert not held.any()
    else:
        assert held.tolist() == [bounds[0] <= share <= bounds[1] for share in shares]
    nobody = not any(inside for inside, _ in pairs)
    assert model.find(classes).met == (held.all() or nobody)
    assert model.local == (not bounds[0])


@given(pairs, bounds)
def test_merging_and_taking_away_break_nothing(pairs: Pairs, bounds: tuple[float, float]) -> None:
    model = model_of(bounds)
    held = [pair for pair, stays in zip(pairs, model.holds(classes_of(pairs)), strict=True) if stays]
    if len(held) > 1:
        merged = [tuple(map(sum, zip(*held[:2], strict=True))), *held[2:]]
        assert model.holds(classes_of(merged)).all()  # type: ignore[arg-type]
        assert model.holds(classes_of(held[1:])).all()


def test_merging_with_a_failing_class_may_fail_as_a_whole() -> None:
    """So suppression does not shrink with generalisation, unlike with k-anonymity."""
    model = model_of((0.0, 0.5))
    assert model.holds(classes_of([(1, 1), (5, 0)])).tolist() == [True, False]
    assert model.holds(classes_of([(6, 1)])).tolist() == [False]


def test_a_record_outside_the_population_is_present_for_certain() -> None:
    model = DeltaPresence(maximum=1, population="p.csv")
    assert model.holds(Classes(np.array([2]), np.array([2]), population=np.array([0]))).tolist() == [False]


def test_finding_names_the_bound_that_is_broken() -> None:
    model = model_of((0.25, 0.5))
    above, below = model.find(classes_of([(1, 1), (3, 1)])), model.find(classes_of([(1, 1), (1, 9)]))
    assert (above.required, above.achieved, above.met) == (0.5, 0.75, False)
    assert (below.required, below.achieved, below.met) == (0.25, 0.1, False)


@pytest.mark.parametrize("wrong", [(0.5, 0.4), (-0.1, 0.4), (0, 1.1), (0, float("nan"))])
def test_bounds_that_make_no_sense_are_refused(wrong: tuple[float, float]) -> None:
    with pytest.raises(ValidationError):
        model_of(wrong)


def test_classes_without_a_population_are_our_mistake() -> None:
    with pytest.raises(BugError):
        model_of((0, 1)).holds(Classes(np.array([2]), np.array([2])))


def test_explains_what_it_promises() -> None:
    assert model_of((0, 0.5)).explain().endswith("probability at most 0.5.")
    assert model_of((0.1, 0.5)).explain().endswith("probability between 0.1 and 0.5.")
