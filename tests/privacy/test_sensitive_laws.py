"""What all models on a sensitive attribute promise a solver: monotonicity, a minimum class, no overflow."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.support.model_cases import declared_cases

from shoal.privacy import Classes, Histograms, SensitiveModel, kept_by
from shoal.privacy.models.alpha_k import AlphaK
from shoal.privacy.models.beta_likeness import BetaLikeness
from shoal.privacy.models.beta_likeness import LikenessKind as Likeness
from shoal.privacy.models.delta_disclosure import DeltaDisclosure
from shoal.privacy.models.l_diversity import DiversityKind as Diversity
from shoal.privacy.models.l_diversity import Estimator, LDiversity
from shoal.privacy.models.p_sensitive import PSensitive
from shoal.privacy.models.t_closeness import ClosenessDistance, TCloseness

pytestmark = pytest.mark.requirement("S-02", "S-03", "S-04")

Integers = NDArray[np.int64]
Tight = Callable[[Classes], SensitiveModel | None]
ILL = "ill"


def classes_of(block: Integers, rest: Integers, tree: tuple[Integers, ...]) -> Classes:
    """Classes with these histograms (one person, one record) in a table that has the rest besides."""
    owner, value = np.nonzero(block)
    whole, numbers = block.sum(axis=0) + rest, np.arange(block.shape[1]) ** 2.0
    histograms = Histograms(whole, owner, value, block[owner, value], len(block), tree, numbers=numbers)  # type: ignore[arg-type]
    sizes = block.sum(axis=1)
    return Classes(sizes, sizes, {ILL: histograms})


@st.composite
def tables(draw: st.DrawFn) -> Classes:
    values, number = draw(st.integers(1, 5)), draw(st.integers(2, 5))
    cells = st.lists(st.integers(0, 6), min_size=values, max_size=values)
    rows = draw(st.lists(cells.filter(any), min_size=number, max_size=number))
    pairs = np.array(draw(st.lists(st.integers(0, 1), min_size=values, max_size=values)))
    tree = (np.unique(pairs, return_inverse=True)[1], np.zeros(values, dtype=np.int64))
    return classes_of(np.array(rows), np.array(draw(cells)), tree)


def merged(classes: Classes) -> Classes:
    """All classes as one."""
    histograms = classes.histograms(ILL)
    one = replace(histograms, owner=np.zeros_like(histograms.owner), number=1)
    return Classes(classes.records.sum(keepdims=True), classes.people.sum(keepdims=True), {ILL: one})


def extreme(model: SensitiveModel, classes: Classes) -> float:
    figures = model.figures(classes)
    return float(figures.min() if model.more_is_safer else figures.max())


def diverse(kind: Diversity, estimator: Estimator | None = None, c: float | None = None) -> Tight:
    def tight(classes: Classes) -> LDiversity | None:
        lax = LDiversity(attribute=ILL, l=1, kind=kind, estimator=estimator, c=c)
        reached = extreme(lax, classes)
        return lax.model_copy(update={"l": reached}) if reached >= 1 else None

    return tight


def close(distance: ClosenessDistance) -> Tight:
    def tight(classes: Classes) -> TCloseness:
        lax = TCloseness(attribute=ILL, t=1, distance=distance)
        return lax.model_copy(update={"t": extreme(lax, classes)})

    return tight


def p_sensitive(classes: Classes) -> PSensitive:
    p = int(classes.histograms(ILL).distinct().min())
    return PSensitive(attribute=ILL, p=p, k=int(classes.people.min()))


def alpha_k(classes: Classes) -> AlphaK:
    k = int(classes.people.min())
    return AlphaK(attribute=ILL, alpha=extreme(AlphaK(attribute=ILL, alpha=1, k=k), classes), k=k)


def basic_likeness(classes: Classes) -> BetaLikeness:
    reached = extreme(BetaLikeness(attribute=ILL, beta=1, kind=Likeness.BASIC), classes)
    return BetaLikeness(attribute=ILL, beta=max(reached, 1e-3), kind=Likeness.BASIC)


def enhanced_likeness(classes: Classes) -> BetaLikeness | None:
    """The least of a few β that will do, for the bound of a frequent value doesn't grow with β."""
    models = [BetaLikeness(attribute=ILL, beta=beta, kind=Likeness.ENHANCED) for beta in (0.1, 0.3, 0.5, 1, 2, 5)]
    return next((model for model in models if model.holds(classes).all()), None)


def disclosing(classes: Classes) -> DeltaDisclosure | None:
    reached = extreme(DeltaDisclosure(attribute=ILL, delta=1), classes)
    return DeltaDisclosure(attribute=ILL, delta=max(reached * (1 + 1e-9), 1e-3)) if np.isfinite(reached) else None


MONOTONE: Mapping[str, Tight] = {
    "distinct": diverse(Diversity.DISTINCT),
    "shannon": diverse(Diversity.ENTROPY, Estimator.SHANNON),
    "recursive": diverse(Diversity.RECURSIVE, c=1.5),
    "recursive, small c": diverse(Diversity.RECURSIVE, c=0.8),
    "equal": close(ClosenessDistance.EQUAL),
    "hierarchical": close(ClosenessDistance.HIERARCHICAL),
    "ordered": close(ClosenessDistance.ORDERED),
    "p-sensitive": p_sensitive,
    "alpha-k": alpha_k,
    "basic": basic_likeness,
    "enhanced": enhanced_likeness,
    "delta": disclosing,
    **{key: case.tightest for key, case in declared_cases().items() if case.tightest is not None},
}
"""For each model, the strictest parameters that all of the given classes just meet."""

ALL: Mapping[str, Tight] = {**MONOTONE, "grassberger": diverse(Diversity.ENTROPY, Estimator.GRASSBERGER)}


@pytest.mark.parametrize("name", MONOTONE)
@settings(max_examples=60)
@given(tables())
def test_merging_classes_that_meet_a_model_gives_one_that_meets_it(name: str, classes: Classes) -> None:
    model = MONOTONE[name](classes)
    assume(model is not None)
    assert model is not None
    assert model.monotone_under_generalisation
    assert model.holds(classes).all()
    assert model.holds(merged(classes)).all()


def test_grassberger_is_not_monotone_under_generalisation() -> None:
    model = LDiversity(attribute=ILL, l=2, kind=Diversity.ENTROPY, estimator=Estimator.GRASSBERGER)
    classes = classes_of(np.array([[1, 1], [1, 1]]), np.array([0, 0]), ())
    assert not model.monotone_under_generalisation
    assert model.holds(classes).all()
    assert not model.holds(merged(classes)).any()


@pytest.mark.parametrize("name", ALL)
@settings(max_examples=40)
@given(tables(), st.data())
def test_taking_classes_away_leaves_the_others_as_they_were(name: str, classes: Classes, data: st.DataObject) -> None:
    kept = np.array(data.draw(st.lists(st.booleans(), min_size=len(classes), max_size=len(classes))))
    model = ALL[name](classes)
    assume(model is not None)
    assert model is not None
    assert model.local
    assert model.monotone_under_suppression
    assert (model.figures(classes.only(kept)) == model.figures(classes)[kept]).all()


@pytest.mark.parametrize("name", ALL)
@settings(max_examples=60)
@given(tables())
def test_no_class_that_meets_a_model_lies_below_its_floor(name: str, classes: Classes) -> None:
    one = classes.only(np.arange(len(classes)) == 0)
    model = ALL[name](one)
    assume(model is not None)
    assert model is not None
    histograms = one.histograms(ILL)
    minimum = model.minimum_class({ILL: histograms.whole})
    assert one.people[0] >= minimum.people
    assert one.records[0] >= minimum.records
    assert histograms.distinct()[0] >= minimum.distinct.get(ILL, 0)


WHOLE = np.array([9, 1, 14, 0, 6])
EVERY = np.array([row for row in product(range(13), repeat=4) if 0 < sum(row) <= 12])


@pytest.mark.parametrize(
    ("model", "exact"),
    [
        (LDiversity(attribute=ILL, l=3, kind=Diversity.DISTINCT), "both"),
        (LDiversity(attribute=ILL, l=3, kind=Diversity.ENTROPY), "both"),
        (LDiversity(attribute=ILL, l=3, kind=Diversity.ENTROPY, estimator=Estimator.GRASSBERGER), "both"),
        (LDiversity(attribute=ILL, l=2.5, kind=Diversity.ENTROPY), "both"),
        (LDiversity(attribute=ILL, l=2, kind=Diversity.RECURSIVE, c=3), "both"),
        (LDiversity(attribute=ILL, l=2, kind=Diversity.RECURSIVE, c=1), "both"),
        (LDiversity(attribute=ILL, l=2, kind=Diversity.RECURSIVE, c=0.4), "both"),
        (TCloseness(attribute=ILL, t=0.5, distance=ClosenessDistance.EQUAL), "both"),
        (TCloseness(attribute=ILL, t=0.1, distance=ClosenessDistance.EQUAL), "both"),
        (TCloseness(attribute=ILL, t=0.2, distance=ClosenessDistance.ORDERED), "both"),
        (TCloseness(attribute=ILL, t=0.03, distance=ClosenessDistance.ORDERED), "records"),
        (PSensitive(attribute=ILL, p=3, k=1), "both"),
        (AlphaK(attribute=ILL, alpha=0.34, k=1), "both"),
        (BetaLikeness(attribute=ILL, beta=0.4, kind=Likeness.BASIC), "both"),
        (BetaLikeness(attribute=ILL, beta=2, kind=Likeness.ENHANCED), "both"),
        (DeltaDisclosure(attribute=ILL, delta=1.3), "both"),
    ],
    ids=lambda given: given.explain()[:60] if isinstance(given, SensitiveModel) else given,
)
def test_the_floor_is_the_least_that_any_class_can_have(model: SensitiveModel, exact: str) -> None:
    """Against every class of up to 12 records; it is given away only where no better bound is known."""
    rows = np.insert(EVERY, 3, 0, axis=1)
    classes = classes_of(rows, WHOLE - rows.sum(axis=0), ())
    held = model.holds(classes)
    minimum = model.minimum_class({ILL: WHOLE})
    distinct = int(classes.histograms(ILL).distinct()[held].min())
    assert minimum.records == int(classes.records[held].min())
    assert minimum.distinct[ILL] == distinct if exact == "both" else minimum.distinct[ILL] <= distinct


def test_without_the_hierarchy_nothing_is_known_of_the_hierarchical_floor() -> None:
    minimum = TCloseness(attribute=ILL, t=0.01, distance=ClosenessDistance.HIERARCHICAL).minimum_class({ILL: WHOLE})
    assert (minimum.people, minimum.records, dict(minimum.distinct)) == (1, 1, {})


@pytest.mark.parametrize("name", ALL)
def test_an_empty_table_has_a_floor(name: str) -> None:
    model = ALL[name](classes_of(np.array([[2, 1], [1, 2]]), np.array([0, 0]), (np.array([0, 0]),)))
    assert model is not None
    assert model.minimum_class({ILL: np.zeros(0, dtype=np.int64)}).people <= 3


@pytest.mark.parametrize("name", [name for name in ALL if name not in ("grassberger", "p-sensitive", "alpha-k")])
@settings(max_examples=40)
@given(tables(), st.sampled_from([10**7, 10**8, 10**9]))
def test_a_class_of_billions_has_the_figure_of_a_small_one_alike(name: str, classes: Classes, times: int) -> None:
    model = ALL[name](classes)
    assume(model is not None)
    assert model is not None
    histograms = classes.histograms(ILL)
    many = replace(histograms, whole=histograms.whole * times, count=histograms.count * times)
    large = Classes(classes.records * times, classes.people * times, {ILL: many})
    np.testing.assert_allclose(model.figures(large), model.figures(classes), rtol=1e-12, atol=1e-13)
    assert model.holds(large).all()


@pytest.mark.parametrize("name", ALL)
def test_models_speak_for_themselves(name: str) -> None:
    classes = classes_of(np.array([[2, 1], [1, 2]]), np.array([1, 0]), (np.array([0, 0]),))
    model = ALL[name](classes)
    assert model is not None
    assert model.sensitive == (ILL,)
    assert f"'{ILL}'" in model.explain()
    assert model.explain().endswith(".")
    finding = model.find(classes)
    assert (finding.name, finding.required, finding.met) == (model.key, model.required, True)
    assert finding.achieved == extreme(model, classes)
    assert kept_by([model], classes).all()
    none = classes.only(np.zeros(2, dtype=bool))
    assert len(model.holds(none)) == 0
    assert model.find(none).met, "nobody kept is nobody at risk"
