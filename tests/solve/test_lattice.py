"""The lattice search against brute force over every node, for each model and each utility measure."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from benchmarks.adult import Adult
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.lattice import MEASURES, check, nodes, problems

from shoal.errors import InfeasibleError
from shoal.privacy.models.k_anonymity import KAnonymity
from shoal.schema import Counts
from shoal.solve import Ladder, Problem, solve_lattice
from shoal.solve.global_recoding.lattice_search import LatticeSearch
from shoal.solve.utility import make_utility, utilities

pytestmark = pytest.mark.requirement("S-01", "S-07", "T-09")


@pytest.mark.parametrize("utility", list(MEASURES))
@given(data=st.data(), k=st.integers(1, 6))
@settings(max_examples=60)
def test_optimum_equals_brute_force(utility: str, data: st.DataObject, k: int) -> None:
    check(data.draw(problems((KAnonymity(k=k),))), utility)


def test_every_measure_is_compared() -> None:
    assert set(MEASURES) == set(utilities.names())


@given(data=st.data(), k=st.integers(1, 6))
@settings(max_examples=60)
def test_two_k_for_two_sets_of_attributes(data: st.DataObject, k: int) -> None:
    check(data.draw(problems((KAnonymity(k=2), KAnonymity(k=k, attributes=("q0",))))), "loss")


@given(data=st.data(), utility=st.sampled_from(list(MEASURES)))
@settings(max_examples=60)
def test_bounds_are_never_too_high(data: st.DataObject, utility: str) -> None:
    problem = data.draw(problems((KAnonymity(k=3),)))
    start = make_utility(utility, problem).start()
    for node in nodes(problem):
        place = tuple(level - ladder.lowest for level, ladder in zip(node.node, problem.ladders, strict=True))
        assert start[place] <= MEASURES[utility](node) + 1e-9


def test_a_time_limit_gives_the_best_so_far_and_says_so(adult: Adult) -> None:
    problem = adult.problem(("age", "race", "education", "workclass"), [KAnonymity(k=5)], limit=0.02)
    whole = solve_lattice(problem)
    hurried = solve_lattice(problem, time_limit=0.0)
    assert whole.optimal
    assert not hurried.optimal
    assert hurried.objective >= whole.objective
    assert hurried.bound is not None
    assert hurried.bound <= whole.objective
    assert hurried.suppressed <= problem.allowed


def test_infeasible_says_which_model_how_many_records_and_what_would_help() -> None:
    counts = Counts.from_frame(pl.DataFrame({"q": [1, 2], "n": [1, 3]}), ("q",), "n")
    ladder = Ladder("q", (np.arange(2),), (np.zeros(2),), 0, 1, 2)
    with pytest.raises(InfeasibleError, match="k_anonymity fails for 1 of 4 records") as caught:
        solve_lattice(Problem(counts, [ladder], [KAnonymity(k=2)]))
    assert "suppression_limit to 0.25" in str(caught.value)
    assert "solve.levels for q" in str(caught.value)


def test_infeasible_names_the_attribute_that_would_help_most_if_it_were_dropped() -> None:
    frame = pl.DataFrame({"p": [1, 1, 2, 2], "q": [1, 2, 3, 4], "n": [1, 1, 1, 1]})
    counts = Counts.from_frame(frame, ("p", "q"), "n")
    ladders = [Ladder(name, (np.arange(size),), (np.zeros(size),), 0, 1, size) for name, size in (("p", 2), ("q", 4))]
    with pytest.raises(InfeasibleError, match="drop q, then 0 records fail"):
        solve_lattice(Problem(counts, ladders, [KAnonymity(k=2)]))


def test_people_are_counted_not_records() -> None:
    """Three records of one person are one person."""
    pairs = pl.DataFrame({"q": ["a", "a", "b"], "who": [1, 2, 1], "n": [3, 1, 1]})
    counts = Counts.from_pairs(pairs, ("q",), "who", "n")
    ladder = Ladder("q", (np.arange(2), np.zeros(2, dtype=np.int64)), (np.zeros(2), np.ones(2)), 0, 1, 2)
    assert solve_lattice(Problem(counts, [ladder], [KAnonymity(k=2)], suppression_limit=0.2)).suppressed == 1
    with pytest.raises(InfeasibleError):
        solve_lattice(Problem(counts, [ladder], [KAnonymity(k=3)]))


def test_progress_ends_at_what_was_checked(adult: Adult) -> None:
    seen: list[tuple[int, int]] = []
    problem = adult.problem(("age", "sex"), [KAnonymity(k=5)])
    solution = solve_lattice(problem, progress=lambda done, total: seen.append((done, total)))  # type: ignore[arg-type]
    assert seen[-1] == (solution.nodes_checked, solution.nodes_total)
    assert seen == sorted(seen)


def test_no_models_change_nothing() -> None:
    counts = Counts.from_frame(pl.DataFrame({"q": [1, 2], "n": [1, 3]}), ("q",), "n")
    ladder = Ladder("q", (np.arange(2), np.zeros(2, dtype=np.int64)), (np.zeros(2), np.ones(2)), 0, 1, 2)
    solution = solve_lattice(Problem(counts, [ladder]))
    assert (solution.levels, solution.loss, solution.suppressed) == ({"q": 0}, 0.0, 0)
    empty = Counts.from_frame(pl.DataFrame({"n": [5]}), (), "n")
    assert solve_lattice(Problem(empty, [])).levels == {}


def test_looking_above_rules_out_most_of_the_lattice(adult: Adult) -> None:
    problem = adult.problem(("age", "race", "education", "workclass", "occupation"), [KAnonymity(k=5)], limit=0.05)
    search = LatticeSearch(problem, make_utility("loss", problem))
    search.run()
    assert search.proven
    assert search.checked < search.size / 3
