"""Names in a row: of "Zelvex, Hale & Pryce and Orbiton" one is a firm for sure, so are the others that could be."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from shoal.text.lexicon.capitalised_runs import CapitalisedRun
from shoal.text.organisation_names.company_names import beside_a_firm, named_apart
from shoal.text.organisation_names.formal_names import KIND, span_of, without_opener
from shoal.text.spans import Span

WEAK = 0.52
"""What a word has that only looks like a firm."""
_BETWEEN = frozenset((", ", " and ", ", and ", " or ", " & ", "; "))


@dataclass
class OrganisationRow:
    """What stands last in a row while a text is read from run to run."""

    text: str
    sure: int = -1
    """Where the last name that is a firm for sure ends."""
    waiting: list[CapitalisedRun] = field(default_factory=list)
    """Names of which nothing is said yet, the last right before what comes."""

    def goes_on(self, run: CapitalisedRun, found: Sequence[Span]) -> Iterator[Span]:
        """The next run, with what was found in it."""
        sure = [span for span in found if span.score >= KIND and span.type == "organisation"] if found else ()
        if sure:
            yield from self._earlier(sure[0].start)
            self.sure, self.waiting = sure[-1].end, []
            return
        if found:
            self.waiting = []
        elif self._follows(run):
            yield from self._taken(run)
            self.sure = run.end
        else:
            linked = self.waiting and self.text[self.waiting[-1].end : run.start] in _BETWEEN
            self.waiting = [*self.waiting[-3:], run] if linked else [run]

    def is_town_of_the_last(self, run: CapitalisedRun, found: Sequence[Span]) -> bool:
        """ "Zelvex Ltd, Muntendam": one word on no list behind a firm and a comma, where the line or the part ends."""
        if run.start - self.sure != 2 or self._gap(run.start) != ", " or len(run.words) > 1 or run.words[0].kinds:
            return False
        weak = all(span.score <= WEAK for span in found)
        return weak and (not run.after.strip(" .") or run.after[0] in ",.")

    def _gap(self, start: int) -> str:
        """What stands between the last firm and this place; empty if that is far away."""
        return self.text[self.sure : start] if self.sure >= 0 and start - self.sure < 8 else ""

    def _follows(self, run: CapitalisedRun) -> bool:
        """Right after a firm, joined to it; with a comma alone it could be the firm's town."""
        between = self._gap(run.start)
        return between in _BETWEEN and (
            between != ", " or self.text.startswith((" and ", " or ", " & ", ", and "), run.end)
        )

    def _earlier(self, start: int) -> Iterator[Span]:
        for run in reversed(self.waiting):
            if self.text[run.end : start] not in _BETWEEN:
                return
            yield from self._taken(run)
            start = run.start

    def _taken(self, run: CapitalisedRun) -> Iterator[Span]:
        words = without_opener(run)
        for part in named_apart(words) if words else ():
            score = beside_a_firm(part)
            if score:
                yield span_of(part, score)
