"""Work, counted in calls: the same number on a busy machine as on an idle one, where a clock is not.

What other tests left behind is not collected meanwhile, since it may have last words that are calls as well.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable


def calls(work: Callable[[], object]) -> int:
    """How often a function, Python's or a library's, is called or a generator asked for more."""
    counted = 0

    def count(_frame: object, event: str, _given: object) -> None:
        nonlocal counted
        counted += event in ("call", "c_call")

    before, collects = sys.getprofile(), gc.isenabled()
    gc.disable()
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(before)
        if collects:
            gc.enable()
    return counted
