"""Whether recognisers find what their files say they find: examples and counter-examples, one by one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import polars as pl

from shoal.discover.recognisers import Recogniser, RecogniserSet
from shoal.text.annotator import THRESHOLD, Annotator
from shoal.text.matching.patterns import PatternFinder
from shoal.text.spans import Span


@dataclass(frozen=True)
class RecogniserTrial:
    """One example of an entry."""

    key: str
    text: str
    wanted: bool
    """Whether it has to be found: an example, not a counter-example."""
    found: tuple[str, ...]
    """What was found of the kind."""
    surest: float = 0.0
    """How sure the best match makes, believed or not."""
    in_text: bool = True
    """Whether it is looked for in running text, not in columns only."""

    @property
    def passed(self) -> bool:
        return bool(self.found) is self.wanted

    @property
    def why(self) -> str:
        """What went wrong, in words; empty if nothing did."""
        if self.passed:
            return ""
        if not self.wanted:
            return "is found, and must not be"
        if self.surest:
            return f"has the form, but is believed with {self.surest:.2g} only, and {THRESHOLD:g} is needed"
        return "is not found" if self.in_text else "does not have the form (cells are compared in capitals)"


def try_examples(recognisers: Sequence[Recogniser]) -> Iterator[RecogniserTrial]:
    """Every example by its own recogniser alone, so that no other one takes its place."""
    for one in recognisers:
        finder = None if one.text is None else PatternFinder(RecogniserSet.of([one]), least=0.0)
        for wanted, texts in ((True, one.examples), (False, one.counter_examples)):
            for text in texts:
                yield (
                    _in_column(one, text, wanted=wanted)
                    if finder is None
                    else _in_text(one, finder, text, wanted=wanted)
                )


def findings_in(text: str, recognisers: RecogniserSet) -> list[Span]:
    """What all of them together find in a text, as a scan would."""
    return Annotator((PatternFinder(recognisers),)).annotate(text)


def _in_text(one: Recogniser, finder: PatternFinder, text: str, *, wanted: bool) -> RecogniserTrial:
    believed = [span for span in Annotator((finder,)).annotate(text) if span.type == one.type]
    surest = max((span.score for span in finder.find(text) if span.type == one.type), default=0.0)
    return RecogniserTrial(one.key, text, wanted, tuple(text[span.start : span.end] for span in believed), surest)


def _in_column(one: Recogniser, cell: str, *, wanted: bool) -> RecogniserTrial:
    fits = one.count(pl.Series([cell])) == 1
    return RecogniserTrial(one.key, cell, wanted, (cell,) if fits else (), float(fits), in_text=False)
