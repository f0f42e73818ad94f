"""One annotator for all that is read in a process: to make one takes longer than to read a page with it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from shoal.text import Annotator, Span

Annotate = Callable[[str], list[Span]]
"""What finds personal data in a text."""

THRESHOLD = 0.6
"""A scan is surer than scrubbing is: two capitalised words alone don't stop a pipeline."""


@cache
def _shared(threshold: float) -> Annotator:
    return Annotator(threshold=threshold)


def annotate_by(threshold: float = THRESHOLD) -> Annotate:
    """What finds personal data in texts; it is made when the first text is read."""
    return lambda text: _shared(threshold).annotate(text)
