"""Imports of a command that needs half of the library."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_OBJECTS: Final = 5_000
"""New ones, after which garbage is looked for."""


@contextmanager
def importing(objects: int = _OBJECTS) -> Iterator[None]:
    """Nothing that is made while modules are imported is garbage, then or later; looking for some takes a tenth of the
    time. In a command that is over soon, whatever else is made is looked through a little less often."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.freeze()
            gc.set_threshold(objects, *gc.get_threshold()[1:])
            gc.enable()
