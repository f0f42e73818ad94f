"""t-closeness: each distance against the earth mover's, found by linear programming or as its authors wrote it."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import linprog

from shoal.errors import InputError
from shoal.privacy import Classes, Histograms, privacy_models
from shoal.privacy.models.t_closeness import ClosenessDistance, TCloseness

pytestmark = pytest.mark.requirement("S-03")

Integers = NDArray[np.int64]
TOP = 3
"""Levels of the hierarchies drawn here."""


@st.composite
def tables(draw: st.DrawFn) -> tuple[Integers, Integers, tuple[Integers, ...]]:
    """Histograms of a few classes, the whole table, a nested hierarchy."""
    values = draw(st.integers(1, 6))
    cells = st.lists(st.integers(0, 9), min_size=values, max_size=values)
    block = np.array(draw(st.lists(cells.filter(any), min_size=1, max_size=3)))
    tree = [np.arange(values)]
    for _ in range(TOP - 1):
        merging = np.array(draw(st.lists(st.integers(0, 3), min_size=6, max_size=6)))
        tree.append(merging[tree[-1]])
    tree.append(np.zeros(values, dtype=np.int64))
    return block, block.sum(axis=0) + np.array(draw(cells)), tuple(tree[1:])


def figures(
    distance: ClosenessDistance, block: Integers, whole: Integers, tree: tuple[Integers, ...] = ()
) -> list[float]:
    owner, value = np.nonzero(block)
    histograms = Histograms(whole, owner, value, block[owner, value], len(block), tree)
    sizes = block.sum(axis=1)
    classes = Classes(sizes, sizes, {"ill": histograms})
    found: list[float] = TCloseness(attribute="ill", t=0.2, distance=distance).figures(classes).tolist()
    return found


def least_work(row: Integers, whole: Integers, ground: NDArray[np.float64]) -> float:
    """The earth mover's distance: the cheapest flow from the shares of the class to those of the table."""
    size = len(row)
    leaving, arriving = np.kron(np.eye(size), np.ones(size)), np.kron(np.ones(size), np.eye(size))
    bounds = np.concatenate([row / row.sum(), whole / whole.sum()])
    flow = linprog(ground.reshape(-1), A_eq=np.vstack([leaving, arriving]), b_eq=bounds, method="highs")
    return float(flow.fun)


@given(tables())
def test_equal_is_half_the_differences_of_the_shares(
    table: tuple[Integers, Integers, tuple[Integers, ...]],
) -> None:
    block, whole, _ = table
    expected = [
        float(
            sum(
                abs(Fraction(q, sum(row)) - Fraction(p, int(whole.sum())))
                for q, p in zip(row, whole.tolist(), strict=True)
            )
        )
        / 2
        for row in block.tolist()
    ]
    assert figures(ClosenessDistance.EQUAL, block, whole) == pytest.approx(expected, abs=1e-14)


@given(tables())
def test_ordered_is_the_earth_that_crosses_each_step(
    table: tuple[Integers, Integers, tuple[Integers, ...]],
) -> None:
    """Record by record: a value that nobody has is no step."""
    block, whole, _ = table
    expected = []
    occurring = [value for value in range(len(whole)) if whole[value]]
    for row in block.tolist():
        below, crossed = Fraction(0), Fraction(0)
        for value in occurring:
            below += Fraction(row[value], sum(row)) - Fraction(int(whole[value]), int(whole.sum()))
            crossed += abs(below)
        expected.append(float(crossed / max(1, len(occurring) - 1)))
    assert figures(ClosenessDistance.ORDERED, block, whole) == pytest.approx(expected, abs=1e-14)


def tree_distance(row: list[int], whole: list[int], tree: tuple[Integers, ...]) -> Fraction:
    """Li et al.: at every inner node, height ÷ tree height × what its children can settle among themselves."""
    extra = {
        value: Fraction(q, sum(row)) - Fraction(p, sum(whole))
        for value, (q, p) in enumerate(zip(row, whole, strict=True))
    }
    parents = [list(range(len(row))), *(groups.tolist() for groups in tree)]
    cost = Fraction(0)
    for height in range(1, len(parents)):
        children: dict[int, dict[int, Fraction]] = {}
        for child, parent in zip(parents[height - 1], parents[height], strict=True):
            children.setdefault(parent, {})[child] = extra[child]
        for below in children.values():
            over = sum((amount for amount in below.values() if amount > 0), Fraction(0))
            under = -sum((amount for amount in below.values() if amount < 0), Fraction(0))
            cost += Fraction(height, len(tree)) * min(over, under)
        extra = {parent: sum(below.values(), Fraction(0)) for parent, below in children.items()}
    return cost


@given(tables())
def test_hierarchical_is_the_cost_over_the_nodes_of_the_tree(
    table: tuple[Integers, Integers, tuple[Integers, ...]],
) -> None:
    block, whole, tree = table
    expected = [float(tree_distance(row, whole.tolist(), tree)) for row in block.tolist()]
    assert figures(ClosenessDistance.HIERARCHICAL, block, whole, tree) == pytest.approx(expected, abs=1e-13)


@given(tables())
@settings(max_examples=30)
def test_all_are_earth_movers_distances(table: tuple[Integers, Integers, tuple[Integers, ...]]) -> None:
    block, whole, tree = table
    block, tree = block[:, whole > 0], tuple(groups[whole > 0] for groups in tree)
    whole = whole[whole > 0]
    size = len(whole)
    apart = np.ones((size, size)) - np.eye(size)
    levels = np.stack([np.arange(size), *tree])
    fall_together = (levels[:, :, None] == levels[:, None, :]).argmax(axis=0) / TOP
    steps = np.abs(np.subtract.outer(np.arange(size), np.arange(size))) / max(1, size - 1)
    for distance, ground in (
        (ClosenessDistance.EQUAL, apart),
        (ClosenessDistance.HIERARCHICAL, fall_together),
        (ClosenessDistance.ORDERED, steps),
    ):
        expected = [least_work(row, whole, ground) for row in block]
        assert figures(distance, block, whole, tree) == pytest.approx(expected, abs=1e-7)


def test_the_salaries_of_the_paper() -> None:
    """Li et al.: of nine salaries, 3k to 11k, the lowest three are 0.375 away, and 6k, 8k, 11k are 0.167 away."""
    block = np.array([[1, 1, 1, 0, 0, 0, 0, 0, 0], [0, 0, 0, 1, 0, 1, 0, 0, 1]])
    assert figures(ClosenessDistance.ORDERED, block, np.ones(9, dtype=np.int64)) == pytest.approx([0.375, 1 / 6])


@pytest.mark.parametrize("distance", ClosenessDistance)
@pytest.mark.parametrize("times", [1, 10**7, 10**9])
def test_a_distance_of_exactly_t_will_do_and_no_more(distance: ClosenessDistance, times: int) -> None:
    """Ten values, each once in the table; seven of them in the class: 0.3 by equal distance."""
    row = np.array([[1, 1, 1, 1, 1, 1, 1, 0, 0, 0]]) * times
    whole = np.ones(10, dtype=np.int64) * times
    tree = (np.arange(10), np.zeros(10, dtype=np.int64))
    (exactly,) = figures(distance, row, whole, tree)
    assert exactly == pytest.approx({"equal": 0.3, "hierarchical": 0.3, "ordered": 1 / 6}[distance], abs=1e-14)
    histograms = Histograms(whole, np.zeros(7, dtype=np.int64), np.arange(7), row[0, :7], 1, tree)
    classes = Classes(row.sum(axis=1), row.sum(axis=1), {"ill": histograms})
    bound = {"equal": 0.3, "hierarchical": 0.3, "ordered": 0.5 / 3}[distance]
    assert TCloseness(attribute="ill", t=bound, distance=distance).holds(classes).all()
    assert not TCloseness(attribute="ill", t=bound - 1e-9, distance=distance).holds(classes).any()


def test_a_hierarchy_that_is_not_there_is_said() -> None:
    with pytest.raises(InputError, match="'ill' has no hierarchy"):
        figures(ClosenessDistance.HIERARCHICAL, np.array([[1, 2]]), np.array([3, 3]))


@pytest.mark.parametrize(
    ("whole", "t", "distance", "records", "distinct"),
    [
        ([9, 1], 0.05, ClosenessDistance.EQUAL, 7, 2),
        ([9, 1], 0.1, ClosenessDistance.EQUAL, 1, 1),
        ([1] * 10, 0.2, ClosenessDistance.EQUAL, 8, 8),
        ([9, 1], 0.05, ClosenessDistance.ORDERED, 7, 2),
        ([1] * 101, 0.06, ClosenessDistance.ORDERED, 5, 2),
        ([1] * 5000, 0.1, ClosenessDistance.EQUAL, 4500, 4500),
        ([10**9, 1], 0, ClosenessDistance.EQUAL, 1002, 2),
    ],
)
def test_floor(whole: list[int], t: float, distance: ClosenessDistance, records: int, distinct: int) -> None:
    minimum = TCloseness(attribute="ill", t=t, distance=distance).minimum_class({"ill": np.array(whole)})
    assert (minimum.people, minimum.records, minimum.distinct) == (1, records, {"ill": distinct})


def test_it_is_found_by_its_key_and_explains_itself() -> None:
    assert privacy_models.get("t_closeness") is TCloseness
    assert (
        "by at most 0.15 (ordered distance"
        in TCloseness(attribute="ill", t=0.15, distance=ClosenessDistance.ORDERED).explain()
    )
