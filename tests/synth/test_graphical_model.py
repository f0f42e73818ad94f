"""Junction trees against the whole joint distribution; fits against counts; draws against their model."""

from __future__ import annotations

from itertools import combinations
from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from shoal.randomness import Randomness
from shoal.synth.graphical_model.drawing import drawn
from shoal.synth.graphical_model.junction_tree import CalibratedTree, JunctionTree, Scope, Table
from shoal.synth.graphical_model.maximum_entropy import CodeGroups, NoisyMarginal, fitted

pytestmark = pytest.mark.requirement("T-25")


@st.composite
def factor_graphs(draw: st.DrawFn) -> tuple[tuple[int, ...], dict[Scope, Table]]:
    sizes = tuple(draw(st.lists(st.integers(1, 3), min_size=1, max_size=5)))
    places = range(len(sizes))
    scopes = [scope for width in (1, 2, 3) for scope in combinations(places, width)]
    chosen = draw(st.lists(st.sampled_from(scopes), max_size=6, unique=True))
    numbers = np.random.default_rng(draw(st.integers(0, 2**32)))
    return sizes, {scope: numbers.normal(0, 2, [sizes[one] for one in scope]) for scope in chosen}


def joint(sizes: tuple[int, ...], potentials: dict[Scope, Table]) -> tuple[float, Table]:
    """Every combination, added up."""
    logs = np.zeros(sizes)
    for scope, table in potentials.items():
        logs = logs + table.reshape([size if place in scope else 1 for place, size in enumerate(sizes)])
    return float(np.log(np.exp(logs).sum())), np.exp(logs) / np.exp(logs).sum()


@given(factor_graphs())
@settings(deadline=None)
def test_a_tree_knows_every_marginal_of_the_joint_distribution(
    graph: tuple[tuple[int, ...], dict[Scope, Table]],
) -> None:
    sizes, potentials = graph
    model = JunctionTree.over(sizes, potentials).calibrated(potentials)
    partition, table = joint(sizes, potentials)
    assert model.log_partition == pytest.approx(partition)
    for width in range(1, len(sizes) + 1):
        for scope in combinations(range(len(sizes)), width):
            others = tuple(place for place in range(len(sizes)) if place not in scope)
            assert model.marginal(scope) == pytest.approx(table.sum(axis=others), abs=1e-12)


def test_a_scope_that_no_clique_has_is_refused() -> None:
    tree = JunctionTree.over((2, 2), [(0,), (1,)])
    with pytest.raises(ValueError, match="no clique"):
        tree.calibrated({(0, 1): np.zeros((2, 2))})


def test_without_noise_the_counts_come_out() -> None:
    numbers = np.random.default_rng(3)
    table = numbers.integers(20, 400, (3, 4, 2)).astype(float)
    scopes: list[Scope] = [(0, 1), (1, 2), (0, 2)]
    exact = [NoisyMarginal(scope, _summed(table, scope), 1e-3) for scope in scopes]
    model = fitted((3, 4, 2), exact, table.sum(), most_steps=500)
    for scope in scopes:
        assert model.counts(scope) == pytest.approx(_summed(table, scope), rel=1e-3)


def test_of_all_that_agree_the_one_of_largest_entropy_is_taken() -> None:
    """Two attributes of which only the single counts are known are independent."""
    first, second = np.array([10.0, 30.0]), np.array([8.0, 12.0, 20.0])
    model = fitted((2, 3), [NoisyMarginal((0,), first, 1e-3), NoisyMarginal((1,), second, 1e-3)], 40.0)
    assert model.counts((0, 1)) == pytest.approx(np.outer(first, second) / 40, rel=1e-4)


def test_noise_below_nothing_leaves_no_negative_count() -> None:
    model = fitted((3,), [NoisyMarginal((0,), np.array([-9.0, 60.0, 49.0]), 10.0)], 100.0)
    assert (model.counts((0,)) >= 0).all()
    assert model.counts((0,)).sum() == pytest.approx(100)


def test_what_is_more_precise_counts_more() -> None:
    said = [NoisyMarginal((0,), np.array([20.0, 80.0]), 1.0), NoisyMarginal((0,), np.array([60.0, 40.0]), 10.0)]
    assert fitted((2,), said, 100.0).counts((0,))[0] == pytest.approx(20.4, abs=0.1)


def test_groups_of_codes_are_known_as_groups_only() -> None:
    groups = CodeGroups(np.array([0, 0, 1]))
    halves = NoisyMarginal((0, 1), np.array([[30.0, 10.0], [5.0, 55.0]]), 1e-3, (groups, None))
    model = fitted((3, 2), [halves], 100.0)
    assert groups.summed(model.counts((0, 1)), 0) == pytest.approx(halves.counts, rel=1e-3)
    assert model.counts((0,))[0] == pytest.approx(model.counts((0,))[1])


def test_a_start_is_a_start_and_changes_no_answer() -> None:
    table = np.random.default_rng(5).integers(5, 90, (3, 3)).astype(float)
    single = NoisyMarginal((0,), table.sum(axis=1), 2.0)
    both = NoisyMarginal((0, 1), table, 2.0)
    before = fitted((3, 3), [single], table.sum())
    cold, warm = (fitted((3, 3), [single, both], table.sum(), start=one) for one in ((), before.potentials))
    assert warm.counts((0, 1)) == pytest.approx(cold.counts((0, 1)), rel=1e-2)


@given(factor_graphs(), st.integers(1, 400), st.integers(0, 2**32))
@settings(deadline=None)
def test_what_is_drawn_lies_within_one_record_of_the_first_clique(
    graph: tuple[tuple[int, ...], dict[Scope, Table]], rows: int, seed: int
) -> None:
    sizes, potentials = graph
    model = JunctionTree.over(sizes, potentials).calibrated(potentials)
    codes = drawn(model, rows, Randomness(seed).stream("draw"))
    root = model.tree.cliques[model.tree.edges[0].child]
    assert np.abs(_counted(codes, root, sizes) - rows * model.marginal(root)).max() < 1 + 1e-6


def test_a_large_draw_is_the_model() -> None:
    model = _chain()
    codes = drawn(model, 200_000, Randomness(7).stream("draw"))
    for scope in [(0, 1), (1, 2), (0, 2)]:
        assert _counted(codes, scope, model.tree.sizes) / 200_000 == pytest.approx(model.marginal(scope), abs=2e-3)


def test_the_same_seed_draws_the_same() -> None:
    model = _chain()
    once, again, other = (drawn(model, 500, Randomness(seed).stream("draw")) for seed in (1, 1, 2))
    assert (once == again).all()
    assert (once != other).any()


def test_nothing_is_drawn_where_nothing_is_asked_for() -> None:
    assert drawn(_chain(), 0, Randomness(1).stream("draw")).shape == (0, 3)


def _chain() -> CalibratedTree:
    potentials: dict[Scope, Table] = {
        (0, 1): np.array([[2.0, 0.0], [0.0, 1.0]]),
        (1, 2): np.array([[0.5, 1.5, 0.0], [1.0, 0.0, 2.0]]),
    }
    return JunctionTree.over((2, 2, 3), potentials).calibrated(potentials)


def _summed(table: Table, scope: Scope) -> Table:
    return table.sum(axis=tuple(axis for axis in range(table.ndim) if axis not in scope))


def _counted(codes: NDArray[np.int64], scope: Scope, sizes: tuple[int, ...]) -> Table:
    shape = [sizes[one] for one in scope]
    flat = np.ravel_multi_index([codes[:, one] for one in scope], shape)
    return np.bincount(flat, minlength=prod(shape)).reshape(shape).astype(float)


def test_attributes_far_down_a_wide_table_have_a_marginal() -> None:
    """A chain of sixty, each as the one before: the last two links are told apart from the first by their places."""
    width = 60
    potentials: dict[Scope, Table] = {
        (place, place + 1): np.log([[0.9, 0.1], [0.1, 0.9]]) for place in range(width - 1)
    }
    model = JunctionTree.over((2,) * width, potentials).calibrated(potentials)
    assert model.marginal((width - 3, width - 1)) == pytest.approx(np.array([[0.41, 0.09], [0.09, 0.41]]))
