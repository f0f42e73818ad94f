"""Work, counted in calls: the same number on a busy machine as on an idle one, where a clock is not."""

from __future__ import annotations

import sys
from collections.abc import Callable


def calls(work: Callable[[], object]) -> int:
    """How often a function, Python's or a library's, is called or a generator asked for more."""
    counted = 0

    def count(_frame: object, event: str, _given: object) -> None:
        nonlocal counted
        counted += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(before)
    return counted
