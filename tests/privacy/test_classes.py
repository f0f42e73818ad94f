"""Equivalence classes and what is kept of them, against brute force over records and over sets of classes."""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from shoal.errors import BugError
from shoal.privacy import Classes, Histograms, MinimumClass, kept_by
from shoal.privacy import classes as classes_module
from shoal.privacy.models.k_anonymity import KAnonymity
from shoal.privacy.models.l_diversity import DiversityKind, LDiversity
from shoal.privacy.models.t_closeness import ClosenessDistance, TCloseness

pytestmark = pytest.mark.requirement("S-01", "S-02", "D-09")

Integers = NDArray[np.int64]
VALUES = 4

ENTRIES = st.lists(st.tuples(st.integers(0, 5), st.integers(0, VALUES - 1), st.integers(1, 9)), min_size=1, max_size=30)
"""Class, value, count: in any order, several for the same class and value."""


def histograms_of(entries: list[tuple[int, int, int]]) -> Histograms:
    owner, value, count = (np.array(column) for column in zip(*entries, strict=True))
    whole = np.bincount(value, weights=count, minlength=VALUES).astype(np.int64)
    return Histograms(whole, owner, value, count, 6, (np.array([0, 0, 1, 1]), np.zeros(VALUES, dtype=np.int64)))


def dense(entries: list[tuple[int, int, int]]) -> Integers:
    table = np.zeros((6, VALUES), dtype=np.int64)
    for owner, value, count in entries:
        table[owner, value] += count
    return table


def assembled(histograms: Histograms) -> Integers:
    """All blocks one below the other; they have to come in order and without gaps."""
    blocks = list(histograms.blocks())
    assert [part.start for part, _ in blocks] == [0, *(part.stop for part, _ in blocks[:-1])]
    assert all(part.stop - part.start == len(block) for part, block in blocks)
    return np.concatenate([block for _, block in blocks])


@pytest.mark.parametrize("cells", [1, VALUES, 2 * VALUES + 1, 5 * VALUES, 1 << 22])
@given(entries=ENTRIES)
def test_blocks_are_the_dense_table_in_pieces(cells: int, entries: list[tuple[int, int, int]]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(classes_module, "BLOCK_CELLS", cells)
        histograms = histograms_of(entries)
        pieces = list(histograms.blocks())
        assert len(pieces) == -(-6 // max(1, min(6, cells // VALUES)))
        assert assembled(histograms).tolist() == dense(entries).tolist()
        assert histograms.distinct().tolist() == (dense(entries) > 0).sum(axis=1).tolist()


def test_counts_of_billions_are_exact() -> None:
    many = np.array([2**40 + 1, 2**40 + 3])
    histograms = Histograms(many, np.array([0, 0]), np.array([0, 1]), many, 1)
    assert assembled(histograms).tolist() == [many.tolist()]


@pytest.mark.parametrize("cells", [1, 2 * VALUES, 1 << 22])
@given(entries=ENTRIES)
def test_figures_do_not_depend_on_the_pieces(cells: int, entries: list[tuple[int, int, int]]) -> None:
    filled = [*entries, *((owner, 0, 1) for owner in range(6))]
    histograms = histograms_of(filled)
    classes = Classes(*[dense(filled).sum(axis=1)] * 2, {"ill": histograms})  # type: ignore[call-arg]
    models = [
        LDiversity(attribute="ill", l=2, kind=DiversityKind.ENTROPY),
        TCloseness(attribute="ill", t=0.3, distance=ClosenessDistance.HIERARCHICAL),
    ]
    whole = [model.figures(classes) for model in models]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(classes_module, "BLOCK_CELLS", cells)
        for model, expected in zip(models, whole, strict=True):
            np.testing.assert_allclose(model.figures(classes), expected, rtol=1e-14)


MASKS = st.lists(st.booleans(), min_size=6, max_size=6).map(np.array)


@given(ENTRIES, MASKS)
def test_some_histograms_are_those_rows(entries: list[tuple[int, int, int]], kept: NDArray[np.bool_]) -> None:
    histograms = histograms_of(entries)
    some = histograms.only(kept)
    assert some.number == kept.sum()
    if kept.any():
        assert assembled(some).tolist() == dense(entries)[kept].tolist()
    else:
        assert list(some.blocks()) == []
    assert some.whole is histograms.whole, "the whole table stays what it was"
    assert some.tree is histograms.tree


PEOPLE = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 7)), max_size=25)
"""Class and person of each record."""


def distinct_people(records: list[tuple[int, int]], groups: Integers, number: int) -> Integers:
    """Record by record: a person who is in several classes of a group is one person of it."""
    seen: list[set[int]] = [set() for _ in range(number)]
    for owner, person in records:
        seen[groups[owner]].add(person)
    return np.array([len(people) for people in seen])


def with_shared_people(records: list[tuple[int, int]], cells: Integers | None = None) -> Classes:
    sizes = np.bincount(np.array([owner for owner, _ in records], dtype=np.int64), minlength=6)
    return Classes(
        sizes,
        distinct_people(records, np.arange(6), 6),
        population=sizes * 10,
        attributes=("age", "sex"),
        cells=cells,
        shared_people=lambda groups, number: distinct_people(records, groups, number),
    )


@given(PEOPLE, MASKS, st.lists(st.integers(0, 2), min_size=6, max_size=6).map(np.array))
def test_people_of_some_classes_are_counted_once(
    records: list[tuple[int, int]], kept: NDArray[np.bool_], groups: Integers
) -> None:
    classes = with_shared_people(records)
    assert classes.people_in(groups, 3).tolist() == distinct_people(records, groups, 3).tolist()
    left = [(owner, person) for owner, person in records if kept[owner]]
    expected = distinct_people(left, groups, 3).tolist()
    assert classes.only(kept).people_in(groups[kept], 3).tolist() == expected
    again = kept & (groups > 0)
    left = [(owner, person) for owner, person in left if again[owner]]
    twice = classes.only(kept).only(again[kept])
    assert twice.people_in(groups[again], 3).tolist() == distinct_people(left, groups, 3).tolist()


def test_people_add_up_where_nobody_is_in_two_classes() -> None:
    people = np.array([3, 4, 5])
    classes = Classes(people * 2, people)
    assert classes.people_in(np.array([1, 0, 1]), 3).tolist() == [4, 8, 0]
    assert classes.only(np.array([True, False, True])).people_in(np.array([0, 0]), 1).tolist() == [8]


def test_some_classes_keep_all_that_is_known_of_them() -> None:
    cells = np.array([[0, 0], [0, 1], [1, 0], [1, 1], [2, 0], [2, 1]])
    classes = with_shared_people([(owner, owner) for owner in range(6)], cells)
    kept = np.array([True, False, False, True, False, False])
    some = classes.only(kept)
    assert len(some) == 2
    assert some.population is not None
    assert some.population.tolist() == [10, 10]
    assert some.cells is not None
    assert some.cells.tolist() == [[0, 0], [1, 1]]
    assert some.attributes == ("age", "sex")


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(0, 2)), max_size=9))
def test_classes_are_grouped_by_some_of_their_cells(rows: list[tuple[int, int, int]]) -> None:
    cells = np.array(rows, dtype=np.int64).reshape(-1, 3)
    sizes = np.ones(len(rows), dtype=np.int64)
    classes = Classes(sizes, sizes, attributes=("age", "sex", "town"), cells=cells)
    for attributes in ((), ("town",), ("sex", "age"), ("age", "sex", "town")):
        places = [classes.attributes.index(name) for name in attributes]
        keys = [tuple(row[place] for place in places) for row in rows]
        groups, number = classes.grouped_by(attributes)
        assert number == len(set(keys))
        assert len(set(zip(keys, groups.tolist(), strict=True))) == number, "one group for one key"
        assert set(groups.tolist()) == set(range(number))


def test_what_was_left_out_is_asked_for_in_vain() -> None:
    sizes = np.array([1, 2])
    with pytest.raises(BugError, match="without their cells"):
        Classes(sizes, sizes).grouped_by(("age",))
    with pytest.raises(BugError, match="without the sensitive attribute 'ill'"):
        Classes(sizes, sizes).histograms("ill")


TABLES = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 2), st.integers(1, 3), st.integers(0, 3)), max_size=6)
"""Classes: two cells, and how many records have each of two sensitive values."""


def table_of(rows: list[tuple[int, int, int, int]]) -> Classes:
    table = np.array(rows, dtype=np.int64).reshape(-1, 4)
    block = table[:, 2:]
    owner, value = np.nonzero(block)
    histograms = Histograms(block.sum(axis=0), owner, value, block[owner, value], len(block))
    sizes = block.sum(axis=1)
    return Classes(sizes, sizes, {"ill": histograms}, attributes=("age", "sex"), cells=table[:, :2])


@given(TABLES, st.integers(1, 6))
def test_the_most_classes_stay_that_can_stay_together(rows: list[tuple[int, int, int, int]], k: int) -> None:
    """Against all sets of classes: the largest in which every model is met, whatever the order of the models."""
    classes = table_of(rows)
    models = [
        KAnonymity(k=k, attributes=("age",)),
        LDiversity(attribute="ill", l=2, kind=DiversityKind.DISTINCT),
        KAnonymity(k=k, attributes=("sex",)),
    ]
    found = {tuple(kept_by(order, classes).tolist()) for order in permutations(models)}
    assert len(found) == 1
    possible = [
        chosen
        for size in range(len(rows) + 1)
        for chosen in combinations(range(len(rows)), size)
        if all(model.find(classes.only(np.isin(np.arange(len(rows)), chosen))).met for model in models)
    ]
    assert tuple(np.flatnonzero(found.pop()).tolist()) == possible[-1]


def test_a_model_looks_again_after_another_took_classes_away() -> None:
    """Age 1 is short of people, without it sex 0 is, without that age 0 is: nobody is left."""
    classes = table_of([(0, 1, 1, 1), (0, 0, 1, 1), (1, 0, 1, 0)])
    by_age, by_sex = KAnonymity(k=3, attributes=("age",)), KAnonymity(k=3, attributes=("sex",))
    assert by_age.holds(classes).tolist() == [True, True, False]
    assert by_sex.holds(classes).tolist() == [False, True, True]
    assert not kept_by([by_age, by_sex], classes).any()


def test_a_class_that_only_the_population_has_stays_unseen() -> None:
    sizes = np.array([0, 4, 2])
    histograms = Histograms(np.array([3, 3]), np.array([1, 1, 2]), np.array([0, 1, 1]), np.array([3, 1, 2]), 3)
    classes = Classes(sizes, sizes, {"ill": histograms}, population=np.array([5, 5, 5]))
    models = [KAnonymity(k=2), LDiversity(attribute="ill", l=2, kind=DiversityKind.ENTROPY)]
    assert kept_by([models[0]], classes).tolist() == [True, True, True]
    assert kept_by([models[1]], classes).tolist() == [True, False, False]


def test_without_models_all_stay() -> None:
    assert kept_by([], table_of([(0, 0, 1, 1), (1, 1, 2, 0)])).all()
    assert kept_by([KAnonymity(k=2)], table_of([])).tolist() == []


def test_floors_add_up_to_what_both_demand() -> None:
    together = MinimumClass(people=5, distinct={"ill": 2, "pay": 3}) | MinimumClass(records=7, distinct={"ill": 4})
    assert (together.people, together.records, together.distinct) == (5, 7, {"ill": 4, "pay": 3})
