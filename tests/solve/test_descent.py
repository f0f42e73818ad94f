"""Lattices that are too large for the exact search: what comes out holds, and is as good as it says."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from math import inf
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from benchmarks.adult import Adult
from benchmarks.wide import adult_24, fars_20, halved, survey, top_down
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.lattice import problems

from shoal.errors import InfeasibleError
from shoal.privacy.models.k_anonymity import KAnonymity
from shoal.privacy.models.t_closeness import ClosenessDistance, TCloseness
from shoal.schema import Counts
from shoal.solve import Ladder, Problem, solve_lattice
from shoal.solve.global_recoding import relaxation, solver
from shoal.solve.global_recoding.budget import Budget
from shoal.solve.global_recoding.descent import Descent, raise_lowest
from shoal.solve.global_recoding.lattice_search import LatticeSearch
from shoal.solve.rollup import ClassTable
from shoal.solve.utility import make_utility, utilities

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


@pytest.mark.parametrize("utility", utilities.names())
def test_downhill_meets_the_models_and_its_bound_is_one(
    utility: str, adult: Adult, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = adult.problem(QUASI, [KAnonymity(k=5)], limit=0.02)
    best = solve_lattice(problem, utility)
    monkeypatch.setattr(solver, "MOST_NODES", 1)
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
    monkeypatch.setattr(solver, "MOST_NODES", best.nodes_total - 1)
    found = solve_lattice(problem)
    assert found.optimal
    assert (found.objective, found.nodes_total) == (best.objective, best.nodes_total)


def test_hundreds_of_millions_of_nodes() -> None:
    problem = wide(11, 3000)
    assert solver.lattice_size(problem) > 3e8
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


class Looks(Budget):
    """A number of looks, for comparisons at equal effort."""

    def spend(self, table: ClassTable, bounds: int) -> None:
        self.left -= 1


SURVEY = "free1.csv"
WIDE: dict[str, Callable[[Path], Problem]] = {
    "adult, 24 columns, 5 %": lambda shared: halved(adult_24(shared), [KAnonymity(k=5)], limit=0.05),
    "adult, 24 columns, 100 %": lambda shared: halved(adult_24(shared), [KAnonymity(k=5)], limit=1.0),
    "households, 5 %": lambda shared: halved(survey(shared, "testdata.csv", 10), [KAnonymity(k=3)], limit=0.05),
}
HELD_OUT: dict[str, Callable[[Path], Problem]] = {
    "roads, 20 columns, 5 %": lambda shared: halved(fars_20(shared), [KAnonymity(k=5)], limit=0.05),
    "roads, 20 columns, k=10, 20 %": lambda shared: halved(fars_20(shared), [KAnonymity(k=10)], limit=0.2),
    "labour force, 24 columns, 5 %": lambda shared: halved(survey(shared, SURVEY, 24), [KAnonymity(k=3)], limit=0.05),
    "labour force, 20 columns, 30 %": lambda shared: halved(survey(shared, SURVEY, 20), [KAnonymity(k=5)], limit=0.3),
    "adult, 24 columns, t=0.3, 10 %": lambda shared: halved(
        adult_24(shared),
        [KAnonymity(k=5), TCloseness(attribute="occupation", t=0.3, distance=ClosenessDistance.EQUAL)],
        limit=0.1,
        sensitive="occupation",
    ),
}
"""Set aside before the search was written; nothing was chosen by them."""


SMALL = ("households, 5 %", "labour force, 24 columns, 5 %", "labour force, 20 columns, 30 %")


@pytest.mark.parametrize("name", [*WIDE, *HELD_OUT])
@pytest.mark.slow
def test_with_as_many_looks_no_worse_than_the_top_down_search(name: str, shared: Path) -> None:
    compare_with_top_down({**WIDE, **HELD_OUT}[name](shared), 1500)


@pytest.mark.parametrize("name", SMALL)
def test_with_few_looks_no_worse_than_the_top_down_search(name: str, shared: Path) -> None:
    compare_with_top_down({**WIDE, **HELD_OUT}[name](shared), 500)


def compare_with_top_down(problem: Problem, looks: int) -> None:
    smaller = raise_lowest(problem)
    descent = Descent(smaller, "loss", Looks(looks))
    descent.run()
    assert len(descent.evaluated) <= looks
    assert descent.cost <= top_down(smaller, "loss", looks) + 1e-12


@pytest.mark.slow
def test_on_a_wide_table_it_is_better_and_says_how_far_it_may_be_from_the_best(shared: Path) -> None:
    """ARX's kind of search finds 0.5229 with twice the looks."""
    problem = WIDE["adult, 24 columns, 5 %"](shared)
    found, again = solve_lattice(problem), solve_lattice(problem)
    assert found.loss < 0.493
    assert found.bound is not None
    assert found.objective / 2.5 < found.bound < found.objective
    assert (found.levels, found.nodes_checked, found.bound) == (again.levels, again.nodes_checked, again.bound)


@given(
    data=st.data(),
    k=st.integers(2, 5),
    utility=st.sampled_from(["loss", "precision", "geometric_loss", "entropy"]),
    width=st.sampled_from([0.0, 0.1, 0.4, 1.0]),
)
@settings(max_examples=120)
def test_no_node_is_below_the_bound_of_easier_problems(data: st.DataObject, k: int, utility: str, width: float) -> None:
    problem = data.draw(problems((KAnonymity(k=k),)))
    try:
        best = solve_lattice(problem, utility).objective
    except InfeasibleError:
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(relaxation, "GROUP_NODES", data.draw(st.sampled_from([1, 8, 100])))
        patch.setattr(relaxation, "WIDTHS", (width,))
        bound = relaxation.relaxed_bound(problem, utility, Budget(data.draw(st.sampled_from([inf, 1e5, 0.0]))))
    assert bound <= best + 1e-9


@given(data=st.data(), k=st.integers(2, 5), utility=st.sampled_from(["loss", "precision", "geometric_loss"]))
@settings(max_examples=40)
def test_with_all_attributes_and_levels_the_bound_is_the_optimum(data: st.DataObject, k: int, utility: str) -> None:
    problem = data.draw(problems((KAnonymity(k=k),)))
    try:
        best = solve_lattice(problem, utility).objective
    except InfeasibleError:
        return
    assert relaxation.relaxed_bound(problem, utility, Budget()) == pytest.approx(best, abs=1e-8)


@pytest.mark.parametrize("seconds", [0.0, 0.001, 0.02, 0.1])
def test_a_limit_is_one_of_work_so_equal_problems_end_alike(adult: Adult, seconds: float) -> None:
    problem = adult.problem(QUASI, [KAnonymity(k=5)], limit=0.02)
    best = solve_lattice(problem)
    one, other = (solve_lattice(problem, time_limit=seconds) for _ in range(2))
    assert (one.levels, one.nodes_checked, one.bound) == (other.levels, other.nodes_checked, other.bound)
    assert one.bound is not None
    assert one.bound <= best.objective <= one.objective
    assert one.optimal == (one.bound == one.objective)


@pytest.mark.parametrize("utility", utilities.names())
@pytest.mark.parametrize("limit", [0.0, 0.02, 0.5])
def test_cut_short_it_is_no_worse_than_the_heuristic_alone(
    utility: str, limit: float, adult: Adult, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = adult.problem(QUASI, [KAnonymity(k=5)], limit=limit)
    for seconds in (1e-9, 0.02, 0.1):
        cut = solve_lattice(problem, utility, time_limit=seconds)
        descent = Descent(problem, utility, Budget.of_seconds(seconds))
        descent.run()
        assert cut.objective <= descent.cost
        assert cut.bound is not None
        assert cut.bound <= cut.objective
    monkeypatch.setattr(solver, "MOST_NODES", 1)
    alone = solve_lattice(problem, utility)
    monkeypatch.undo()
    monkeypatch.setattr(solver, "MOST_SECONDS", 0.0)
    assert solve_lattice(problem, utility).objective <= alone.objective


def test_what_the_heuristic_finds_is_handed_over(adult: Adult, monkeypatch: pytest.MonkeyPatch) -> None:
    """By itself, the exact search would end in a worse node here."""
    monkeypatch.setattr(solver, "MOST_SECONDS", 0.0)
    problem = adult.problem(QUASI, [KAnonymity(k=5)], limit=0.05)
    search = LatticeSearch(problem, make_utility("loss", problem))
    search.run(Budget(0.0))
    assert solve_lattice(problem).objective < search.cost


def test_the_exact_search_has_a_limit_of_its_own(adult: Adult, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solver, "MOST_SECONDS", 0.0)
    monkeypatch.setattr(solver, "LARGE_SECONDS", 0.0)
    found = solve_lattice(adult.problem(QUASI, [KAnonymity(k=5)], limit=0.02))
    assert not found.optimal
    assert found.nodes_checked < 100
