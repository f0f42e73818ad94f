"""A report with what later looks at the release found.

A report is written once, with the release. The owner's edition has marked places for what comes later: a notice above
the verdict, and a section. They are filled anew from the whole history each time somebody looks, and the rest of the
page stays as it was released. Whatever comes from data is escaped, so nothing else on the page looks like a mark.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup

from shoal.results.evidence_facts import ReassessmentFacts, ReassessmentOutcome
from shoal.results.number_format import moment

PLACES: Final = ("notice", "looks")


@dataclass(frozen=True)
class ReassessmentRow:
    when: str
    when_iso: str
    what: str
    verdict: str
    outcome: ReassessmentOutcome


@dataclass(frozen=True)
class ReassessmentRows:
    """All looks, and what has to be said first: the last that shows a broken promise, else the last if it is open."""

    every: tuple[ReassessmentRow, ...] = ()

    @property
    def first(self) -> ReassessmentRow | None:
        broken = [one for one in self.every if one.outcome is ReassessmentOutcome.BROKEN]
        return next(
            (
                one
                for one in (broken or self.every)[-1:]
                if one.outcome in {ReassessmentOutcome.BROKEN, ReassessmentOutcome.OPEN}
            ),
            None,
        )


def reassessment_rows(history: Sequence[ReassessmentFacts]) -> ReassessmentRows:
    return ReassessmentRows(
        tuple(
            ReassessmentRow(
                moment(one.when), one.when.isoformat(timespec="seconds"), one.what, one.verdict, one.outcome
            )
            for one in history
        )
    )


def place(name: str, content: str) -> Markup:
    """The content between its marks."""
    start, end = _marks(name)
    return start + Markup.escape(content) + end


def filled(page: str, content: Callable[[str], str], places: Sequence[str] = PLACES) -> str | None:
    """The page with its places filled anew; None where it has none, as a recipient's or one of an older version."""
    for name in places:
        start, end = _marks(name)
        head, opened, rest = page.partition(start)
        _, closed, tail = rest.partition(end)
        if not opened or not closed:
            return None
        page = f"{head}{place(name, content(name))}{tail}"
    return page


def _marks(name: str) -> tuple[Markup, Markup]:
    return Markup("<!-- later: {} -->").format(name), Markup("<!-- end of {} -->").format(name)
