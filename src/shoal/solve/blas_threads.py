"""One thread for BLAS while a solver runs.

A solver's products are small and many. BLAS wakes a thread for each core from some thousand numbers on, and the threads
spin while they wait: on a busy machine that costs a thousand times what it saves.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from typing import TYPE_CHECKING, ParamSpec, TypeVar

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

P = ParamSpec("P")
R = TypeVar("R")


@cache
def _controller() -> ThreadpoolController:
    """Finding the libraries takes milliseconds, so it is done once."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def one_blas_thread(solve: Callable[P, R]) -> Callable[P, R]:
    @wraps(solve)
    def limited(*args: P.args, **kwargs: P.kwargs) -> R:
        with _controller().limit(limits=1, user_api="blas"):
            return solve(*args, **kwargs)

    return limited
