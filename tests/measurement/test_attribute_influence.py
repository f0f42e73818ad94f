"""What a quasi-identifier adds to the risk, against people counted one by one."""

from __future__ import annotations

from itertools import product

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.measurement import measure_classes
from shoal.measurement.risk.attribute_influence import attribute_influence
from shoal.privacy import Classes

NAMES = ("age", "sex", "city")
Rows = list[tuple[int, int, int, int]]


def average(rows: Rows, by: tuple[int, ...]) -> float:
    """Of each person, one in the people of the smallest class that they are in."""
    people: dict[tuple[int, ...], set[int]] = {}
    for row in rows:
        people.setdefault(tuple(row[place] for place in by), set()).add(row[3])
    highest: dict[int, float] = {}
    for members in people.values():
        for one in members:
            highest[one] = max(highest.get(one, 0.0), 1 / len(members))
    return sum(highest.values()) / len(highest)


@pytest.mark.requirement("R-01")
@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(*(st.integers(0, 2) for _ in NAMES), st.integers(0, 8)), min_size=1, max_size=30), st.booleans()
)
def test_risk_without_an_attribute_is_that_of_the_others(rows: Rows, by_person: bool) -> None:
    rows = rows if by_person else [(*row[:3], place) for place, row in enumerate(rows)]
    frame = pl.DataFrame(rows, schema=[*NAMES, "who"], orient="row").with_columns(pl.col(NAMES).cast(pl.String))
    measured = measure_classes(frame.lazy(), NAMES, "who" if by_person else None, original=True)
    found = {one.attribute: one for one in attribute_influence(measured.classes)}
    for place, name in enumerate(NAMES):
        others = tuple(at for at in range(3) if at != place)
        assert found[name].risk == pytest.approx(average(rows, (0, 1, 2)))
        assert found[name].without == pytest.approx(average(rows, others))


def test_of_two_that_tell_the_same_neither_adds() -> None:
    cells = np.array([[0, 0, 0], [1, 1, 0], [2, 2, 1]])
    classes = Classes(np.ones(3, dtype=np.int64), np.ones(3, dtype=np.int64), attributes=NAMES, cells=cells)
    assert [one.adds for one in attribute_influence(classes)] == [0.0, 0.0, 0.0]


def test_nothing_is_said_without_classes() -> None:
    none = np.empty(0, dtype=np.int64)
    assert attribute_influence(Classes(none, none, attributes=NAMES, cells=np.empty((0, 3), dtype=np.int64))) == ()


def test_classes_are_grouped_alike_whether_their_cells_fit_a_number_or_not() -> None:
    small = np.array(list(product(range(3), range(2), range(2)))[::-1])
    sizes = np.ones(len(small), dtype=np.int64)
    huge = small * (1 << 40)
    for chosen in (("age",), ("sex", "city"), NAMES):
        groups = [Classes(sizes, sizes, attributes=NAMES, cells=cells).grouped_by(chosen) for cells in (small, huge)]
        assert groups[0][0].tolist() == groups[1][0].tolist()
        assert groups[0][1] == groups[1][1]
