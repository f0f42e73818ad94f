"""LKC-privacy against every set of known values, record by record."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from shoal.errors import BugError
from shoal.privacy import Classes, Histograms
from shoal.privacy.models.lkc import Lkc

pytestmark = pytest.mark.requirement("S-04")

Rows = list[tuple[int, int, int, int]]
NAMES = ("age", "sex", "town")
rows = st.lists(st.tuples(*(st.integers(0, 2) for _ in range(4))), min_size=1, max_size=25)
models = st.builds(
    lambda l, k, c: Lkc(l=l, k=k, c=c, attribute="ill"),  # noqa: E741  # its name
    st.integers(1, 4),
    st.integers(1, 4),
    st.sampled_from([0.4, 0.5, 0.75, 1.0]),
)


def classes_of(rows: Rows) -> Classes:
    """Three quasi-identifiers, then the sensitive value."""
    cells, member = np.unique(np.array(rows)[:, :3], axis=0, return_inverse=True)
    member, ill = member.reshape(-1), np.array(rows)[:, 3]
    sizes = np.bincount(member)
    histograms = Histograms(np.bincount(ill, minlength=3), member, ill, np.ones(len(rows), dtype=np.int64), len(cells))
    return Classes(sizes, sizes, {"ill": histograms}, attributes=NAMES, cells=cells)


def safe(rows: Rows, model: Lkc) -> bool:
    """Whether nobody who knows up to l values of someone finds fewer than k, or a value with more than c of them."""
    for number in range(1, model.l + 1):
        for known in combinations(range(3), number):
            for row in rows:
                match = [other[3] for other in rows if all(other[place] == row[place] for place in known)]
                largest = max(Counter(match).values())
                if len(match) < model.k or largest / len(match) > model.c:
                    return False
    return True


def kept(rows: Rows, model: Lkc) -> Rows:
    classes = classes_of(rows)
    assert classes.cells is not None
    stay = {tuple(cells) for cells, stays in zip(classes.cells.tolist(), model.holds(classes), strict=True) if stays}
    return [row for row in rows if row[:3] in stay]


@given(rows, models)
def test_what_stays_is_safe_against_all_who_know_so_much(rows: Rows, model: Lkc) -> None:
    left = kept(rows, model)
    assert safe(left, model)
    assert (left == rows) == safe(rows, model)
    assert model.find(classes_of(rows)).met == safe(rows, model)


@given(rows, models)
def test_raising_an_attribute_breaks_nothing(rows: Rows, model: Lkc) -> None:
    assert model.monotone_under_generalisation
    left = kept(rows, model)
    assert safe([(min(age, 1), sex, town, ill) for age, sex, town, ill in left], model)


def test_taking_away_a_class_may_break_it() -> None:
    model = Lkc(l=1, k=2, c=1, attribute="ill")
    rows = [(0, 0, 0, 0), (0, 1, 0, 0), (1, 0, 0, 0), (1, 1, 0, 0)]
    assert not model.monotone_under_suppression
    assert kept(rows, model) == rows
    assert kept(rows[1:], model) == [], "each that goes takes the next along"


def test_figure_is_the_smallest_group_and_none_where_a_value_is_given_away() -> None:
    rows = [(0, 0, 0, 0), (0, 0, 0, 1), (0, 1, 0, 0), (0, 1, 0, 0)]
    assert Lkc(l=1, k=2, c=0.75, attribute="ill").figures(classes_of(rows)).tolist() == [2, 0]
    assert Lkc(l=1, k=2, c=1, attribute="ill").figures(classes_of(rows)).tolist() == [2, 2]


def test_a_small_class_may_stay_where_nobody_knows_all_of_it() -> None:
    """So no class size is ever needed: there is no minimum class."""
    rows = [(0, 0, 0, 0), (0, 1, 0, 1), (1, 0, 0, 1), (1, 1, 0, 0)]
    assert kept(rows, Lkc(l=1, k=2, c=0.5, attribute="ill")) == rows
    assert Lkc(l=1, k=2, c=0.5, attribute="ill").minimum_class({}).people == 1


def test_people_are_counted_not_records() -> None:
    classes = classes_of([(0, 0, 0, 0), (0, 0, 0, 1)])
    one_person = Classes(
        classes.records, np.array([1]), classes.sensitive, attributes=classes.attributes, cells=classes.cells
    )
    model = Lkc(l=2, k=2, c=0.5, attribute="ill")
    assert model.holds(classes).all()
    assert not model.holds(one_person).any()


def test_classes_without_cells_are_our_mistake() -> None:
    classes = classes_of([(0, 0, 0, 0)])
    with pytest.raises(BugError):
        Lkc(l=1, k=1, c=1, attribute="ill").holds(
            Classes(classes.records, classes.people, classes.sensitive, None, NAMES)
        )


@pytest.mark.parametrize("wrong", [{"l": 0}, {"k": 0}, {"c": 0}, {"c": 1.1}, {"attribute": None}])
def test_parameters_that_make_no_sense_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Lkc.model_validate({"l": 2, "k": 3, "c": 0.5, "attribute": "ill", **wrong})


def test_explains_what_it_promises() -> None:
    said = Lkc(l=2, k=3, c=0.5, attribute="ill").explain()
    assert all(part in said for part in ("at most 2", "at least 3", "'ill'", "0.5"))
    assert Lkc(l=2, k=3, c=0.5, attribute="ill").sensitive == ("ill",)
