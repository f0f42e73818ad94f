"""One thread for numerical libraries while small things are computed.

Products and fits of a few thousand numbers lose more by threads that wait for each other than they gain: BLAS wakes one
for each core, and they spin while they wait. On a busy machine that costs a thousand times what it saves.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache, wraps
from typing import TYPE_CHECKING, ParamSpec, TypeVar

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

P = ParamSpec("P")
R = TypeVar("R")


@contextmanager
def one_thread(*, blas_only: bool = False) -> Iterator[None]:
    """For whatever is computed inside; with ``blas_only`` OpenMP keeps its threads."""
    with _libraries(len(sys.modules)).limit(limits=1, user_api="blas" if blas_only else None):
        yield


def one_blas_thread(function: Callable[P, R]) -> Callable[P, R]:
    """The function, with one thread for BLAS while it runs."""

    @wraps(function)
    def limited(*args: P.args, **kwargs: P.kwargs) -> R:
        with one_thread(blas_only=True):
            return function(*args, **kwargs)

    return limited


@lru_cache(maxsize=1)
def _libraries(modules: int) -> ThreadpoolController:  # noqa: ARG001  # what it is cached by
    """Those that are loaded when so many modules are. Finding them takes milliseconds, so it is done only when modules
    were imported since: SciPy and scikit-learn bring libraries of their own.
    """
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
