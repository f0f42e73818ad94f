"""What can be known of a release beyond what its manifest keeps: distributions, example rows, further tables.

Figures and words only. Labels of bars and texts of tables are what the caller chose to show: released values or ranges,
never values of the original. All of it is for the owner's edition, except where ``page`` says otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from shoal.errors import BugError


@dataclass(frozen=True)
class DistributionFacts:
    """How the values of one attribute are spread, before and after, on labels that both can be put under."""

    name: str
    kind: str
    """"categories", "numbers", "dates"."""
    bars: tuple[tuple[str, float, float], ...]
    """Label, share before, share after."""
    suppressed: float = 0.0
    """Share of the released cells that are empty or hidden."""
    distances: tuple[tuple[str, float], ...] = ()

    @property
    def unchanged(self) -> bool:
        """Whether it was compared and is the same before and after."""
        return bool(self.bars) and not self.suppressed and all(before == after for _, before, after in self.bars)


@dataclass(frozen=True)
class ExampleCell:
    """A value that nobody has, or words for one, and what becomes of it."""

    before: str
    after: str
    for_recipient: str
    """What a recipient is told of it in place of ``before``."""

    @property
    def same(self) -> bool:
        """Whether the value is released as it is."""
        return self.after == "the same"


@dataclass(frozen=True)
class ExampleColumn:
    """One attribute of the example rows."""

    name: str
    released: bool
    cells: tuple[ExampleCell, ...]

    def for_recipient(self) -> ExampleColumn:
        """With what the released labels tell themselves in place of the values."""
        return replace(self, cells=tuple(replace(cell, before=cell.for_recipient) for cell in self.cells))


@dataclass(frozen=True)
class FigureTable:
    """Any other evidence: special uniques, expected re-identifications, population uniqueness, quasi-identifiers."""

    title: str
    explanation: str
    clause: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def __post_init__(self) -> None:
        if any(len(row) != len(self.header) for row in self.rows):
            raise BugError(f"the table {self.title!r} has a row with more or fewer cells than its header")


class ReassessmentOutcome(StrEnum):
    """What a later look shows of what the release promised."""

    HOLDS = "holds"
    BROKEN = "no longer holds"
    OPEN = "not shown to hold"
    NOTHING = "says nothing"


@dataclass(frozen=True)
class ReassessmentFacts:
    """A look at the release after it was made."""

    when: datetime
    what: str
    verdict: str
    outcome: ReassessmentOutcome
