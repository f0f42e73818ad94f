"""One annotator for all that is read by a command: to make one takes longer than to read a page with it.

Patterns, which remember nothing of what they read, are shared by all commands of a process.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property

from shoal.discover.recognisers import RecogniserSet, default_recognisers
from shoal.text import Annotator, Span
from shoal.text.lexicon_finder import LexiconFinder
from shoal.text.logs.log_lines import TextKind
from shoal.text.matching.patterns import PatternFinder

Annotate = Callable[[str], list[Span]]
"""What finds personal data in a text."""

THRESHOLD = 0.6
"""A scan is surer than scrubbing is: two capitalised words alone don't stop a pipeline."""


def annotate_by(
    threshold: float = THRESHOLD, recognisers: RecogniserSet | None = None, *, kind: TextKind = "auto"
) -> Annotate:
    """What finds personal data in texts; it is made when the first text is read, and what it remembers goes with it."""
    return _LazyAnnotator(threshold, recognisers, kind).annotate


@cache
def _patterns(recognisers: RecogniserSet) -> PatternFinder:
    return PatternFinder(recognisers)


@dataclass(frozen=True)
class _LazyAnnotator:
    threshold: float
    recognisers: RecogniserSet | None
    kind: TextKind

    @cached_property
    def _annotator(self) -> Annotator:
        patterns = _patterns(self.recognisers or default_recognisers())
        return Annotator((patterns, LexiconFinder()), self.threshold, kind=self.kind)

    def annotate(self, text: str) -> list[Span]:
        return self._annotator.annotate(text)
