"""What can be known of a release beyond its classes and models: assessments, attacks, distributions, usefulness.

Figures and words only. Labels of bars and texts of tables are what the caller chose to show: released values or ranges,
never values of the original. All of it is for the owner's edition, except where ``page`` says otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from shoal.errors import BugError


@dataclass(frozen=True)
class AssessmentFacts:
    """The risk with the chance of an attempt in it, against what the declared harm allows (PDPC, annex D)."""

    probability: float
    threshold: float
    harm: str
    """``low``, ``medium`` or ``high``."""
    parts: tuple[tuple[str, float, str], ...]
    """What the probability is made of: name, value, meaning."""
    within: bool
    sentences: tuple[str, ...] = ()
    less: bool = False
    """Whether the procedure asks for less than the threshold, not for at most that."""


@dataclass(frozen=True)
class AttackerFigures:
    """The risk that one kind of attacker is to one table; None where there is no such figure.

    A marketer is judged by the average alone: which single records are guessed rightly is nothing to them.
    """

    highest: float | None
    average: float
    above: float | None
    """Share of the people whose risk is above the threshold."""


@dataclass(frozen=True)
class AttackerFacts:
    """A kind of attacker (prosecutor, journalist, marketer), before and after."""

    name: str
    after: AttackerFigures
    threshold: float
    basis: str
    """What the figures rest on, in words: "a population table of 48,000 people"."""
    before: AttackerFigures | None = None


@dataclass(frozen=True)
class AttackFacts:
    """An attack that was carried out. Shares are of the people attacked; low and high bound a 95 % interval."""

    title: str
    knows: str
    success: float
    low: float
    high: float
    baseline: float
    """Share that guessing gets right, without the release."""
    risk: float
    """What success is beyond guessing, of what it could be."""
    found: bool
    """Whether the release helps by more than chance explains."""
    control: float | None = None
    """Share that is right about people who are not in the release; None where no such people are known."""
    attribute: str | None = None
    words: str = ""
    allowed: float = 0.0
    """The part of what is unknown that groups of their size tell of those in them, by the k of the release."""


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


@dataclass(frozen=True)
class ExampleColumn:
    """One attribute of the example rows."""

    name: str
    released: bool
    cells: tuple[ExampleCell, ...]


@dataclass(frozen=True)
class UsefulnessFacts:
    """One thing that the release is, or is not, still good for."""

    title: str
    value: str | float
    reading: str
    matters: bool = False
    """Whether the declared purpose depends on it."""


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
