"""One thread inside, the old number outside, also for libraries that are loaded late."""

from __future__ import annotations

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from shoal.kernels.thread_limits import one_blas_thread, one_thread

pytestmark = pytest.mark.requirement("S-01")


def threads(kind: str | None = None) -> set[int]:
    return {library["num_threads"] for library in threadpool_info() if kind in (None, library["user_api"])}


@pytest.mark.parametrize("blas_only", [False, True])
def test_one_thread_inside_and_the_old_number_outside(blas_only: bool) -> None:  # a parameter of the test
    with threadpool_limits(limits=2):
        with one_thread(blas_only=blas_only):
            assert threads("blas") == {1}
        assert threads("blas") == {2}


def test_openmp_that_is_loaded_after_the_first_limit_is_limited_too() -> None:
    one_blas_thread(threads)()
    import sklearn.linear_model  # noqa: F401  # brings OpenMP with it

    with threadpool_limits(limits=2):
        with one_thread():
            assert threads() == {1}
        assert one_blas_thread(lambda: threads("openmp"))() == {2}, "a solver's limit is for BLAS alone"
