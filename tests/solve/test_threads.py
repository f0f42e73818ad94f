"""BLAS has one thread while a solver runs, and as many as before afterwards."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from benchmarks.adult import Adult
from threadpoolctl import threadpool_info, threadpool_limits

from shoal.privacy.models.k_anonymity import KAnonymity
from shoal.solve import Problem, Solution, solve_cells, solve_lattice, solve_local, solve_rare

pytestmark = pytest.mark.requirement("S-01")


def blas_threads() -> set[int]:
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


@pytest.mark.parametrize("solve", [solve_lattice, solve_local, solve_cells, solve_rare])
def test_one_thread_inside_and_the_old_number_outside(solve: Callable[..., Solution], adult: Adult) -> None:
    problem: Problem = adult.problem(("sex", "race", "workclass"), [KAnonymity(k=5)], limit=0.1)
    seen: list[set[int]] = []
    with threadpool_limits(limits=2, user_api="blas"):
        before = blas_threads()
        solve(problem, progress=lambda _done, _total: seen.append(blas_threads()))
        assert blas_threads() == before
    assert before == {2}
    assert seen
    assert all(threads == {1} for threads in seen)
