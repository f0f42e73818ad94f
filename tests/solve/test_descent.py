"""Lattices that are too large for the exact search: what comes out holds, and is as good as it says."""

from __future__ import annotations

from itertools import product

import numpy as np
import polars as pl
import pytest
from benchmarks.adult import Adult

from shoal.errors import InfeasibleError
from shoal.privacy.k_anonymity import KAnonymity
from shoal.schema import Counts
from shoal.solve import Ladder, Problem, lattice, solve_lattice
from shoal.solve.descent import raise_lowest
from shoal.solve.utility import Utility

pytestmark = pytest.mark.requirement("S-07")

QUASI = ("age", "race", "education", "workclass", "occupation")


def wide(attributes: int, rows: int) -> Problem:
    """A table of ``attributes`` numbers from 0 to 31, each with six levels of halving."""
    numbers = np.random.default_rng(5).binomial(31, 0.3, size=(rows, attributes))
    names = tuple(f"q{place}" for place in range(attributes))
    table = pl.DataFrame({name: numbers[:, place] for place, name in enumerate(names)})
    counts = Counts.from_frame(table.group_by(names).len("n"), names, "n")
    ladders = []
    for place, name in enumerate(names):
        values = counts.values[place].to_numpy()
        groups = [np.unique(values >> level, return_inverse=True)[1].astype(np.int64) for level in range(6)]
        losses = [np.full(len(values), (2**level - 1) / 31) for level in range(6)]
        ladders.append(Ladder(name, tuple(groups), tuple(losses), 0, 5, 32))
    return Problem(counts, ladders, [KAnonymity(k=5)], suppression_limit=0.05)


@pytest.mark.parametrize("utility", sorted(Utility.known))
def test_downhill_meets_the_models_and_its_bound_is_one(
    utility: str, adult: Adult, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = adult.problem(QUASI, [KAnonymity(k=5)], limit=0.02)
    best = solve_lattice(problem, utility)
    monkeypatch.setattr(lattice, "MOST_NODES", 1)
    found = solve_lattice(problem, utility)
    assert not found.optimal
    assert found.nodes_total == best.nodes_total
    assert found.suppressed <= problem.allowed
    assert found.bound is not None
    assert found.bound <= best.objective + 1e-9
    assert best.objective <= found.objective + 1e-9


def test_levels_that_are_too_low_are_left_out_and_no_others(adult: Adult) -> None:
    problem = adult.problem(("age", "native-country", "education"), [KAnonymity(k=100)], limit=0.01)
    smaller = raise_lowest(problem)
    assert [ladder.lowest for ladder in smaller.ladders] != [0, 0, 0]
    shape = [range(ladder.lowest, ladder.highest + 1) for ladder in problem.ladders]
    possible = []
    for node in product(*shape):
        fixed = [
            Ladder(
                ladder.attribute,
                ladder.groups[: level + 1],
                ladder.losses[: level + 1],
                level,
                ladder.height,
                ladder.leaves,
            )
            for ladder, level in zip(problem.ladders, node, strict=True)
        ]
        try:
            solve_lattice(Problem(problem.counts, fixed, problem.models, suppression_limit=0.01))
        except InfeasibleError:
            continue
        possible.append(node)
    assert [ladder.lowest for ladder in smaller.ladders] == [min(levels) for levels in zip(*possible, strict=True)]


def test_a_lattice_that_becomes_small_enough_is_searched_exactly(adult: Adult, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = adult.problem(("age", "native-country", "education"), [KAnonymity(k=100)], limit=0.01)
    best = solve_lattice(problem)
    monkeypatch.setattr(lattice, "MOST_NODES", best.nodes_total - 1)
    found = solve_lattice(problem)
    assert found.optimal
    assert (found.objective, found.nodes_total) == (best.objective, best.nodes_total)


def test_hundreds_of_millions_of_nodes() -> None:
    problem = wide(11, 3000)
    assert lattice.lattice_size(problem) > 3e8
    found = solve_lattice(problem)
    assert found.suppressed <= problem.allowed
    assert 0 < found.loss < 1
    assert found.nodes_checked < 10_000


def test_a_time_limit_ends_the_descent() -> None:
    found = solve_lattice(wide(11, 1000), time_limit=1e-9)
    assert not found.optimal
    assert found.nodes_checked < 50


def test_nothing_to_be_found_is_said() -> None:
    problem = wide(11, 4)
    with pytest.raises(InfeasibleError, match="k_anonymity fails for 4 of 4 records"):
        solve_lattice(problem)
