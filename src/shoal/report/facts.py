"""What a report is made from: figures and words only, never a value from the data.

The report computes nothing about risk or usefulness itself; whoever fills these facts has measured them, on the file
that was written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from shoal.errors import BugError
from shoal.kernels.arrays import Integers
from shoal.results.evidence_facts import (
    AssessmentFacts,
    AttackerFacts,
    AttackFacts,
    DistributionFacts,
    ExampleColumn,
    FigureTable,
    UsefulnessFacts,
)
from shoal.results.exploration import Exploration
from shoal.results.manifest import Manifest, SolutionResult

ClassSizes: TypeAlias = "Sequence[int] | Integers | Mapping[int, int]"
"""People per equivalence class, one by one, or how many classes there are of each size."""


@dataclass(frozen=True)
class AttributeFacts:
    """One attribute of the source and what became of it."""

    name: str
    role: str
    done: tuple[str, ...]
    """In words, in order: "generalised to level 2 of 4", "masked, last 4 kept"."""
    clause: tuple[str, ...]
    """The clauses behind it: "ISO/IEC 20889, 9.6"."""
    released: bool
    """False when the attribute was suppressed."""

    @property
    def untouched(self) -> bool:
        return self.released and not self.done


@dataclass(frozen=True)
class RiskFacts:
    """The risk of re-identification of one table; ``k`` is 0 where there are no classes to measure."""

    k: int
    people: int
    records: int
    """Records spoken of, suppressed ones included."""
    suppressed: int
    prosecutor_max: float
    prosecutor_average: float
    uniques: int
    class_sizes: ClassSizes
    strict_average: float | None = None
    """The average, or the highest where somebody is at more risk than an average may hide."""


@dataclass(frozen=True)
class ModelFacts:
    """A formal privacy model: what was asked, what was found."""

    title: str
    explanation: str
    clause: str
    required: float
    achieved: float
    met: bool


@dataclass(frozen=True)
class ReportFacts:
    """What the report of one release is made from: its manifest, and what the manifest doesn't keep."""

    manifest: Manifest
    before: RiskFacts
    after: RiskFacts
    models: tuple[ModelFacts, ...]
    attributes: tuple[AttributeFacts, ...]
    person: bool
    """Whether k counts people rather than records."""
    k_open: int = 0
    """What other columns leave of k by all that the policy does not accept; said only where the manifest has
    ``read_back``."""
    assessment: AssessmentFacts | None = None
    attackers: tuple[AttackerFacts, ...] = ()
    attacks: tuple[AttackFacts, ...] = ()
    unjudged: tuple[str, ...] = ()
    """Attacks that may have found something, which nobody could tell."""
    distributions: tuple[DistributionFacts, ...] = ()
    usefulness: tuple[UsefulnessFacts, ...] = ()
    purpose: str | None = None
    """What the release is for, in words; a recipient is told."""
    tables: tuple[FigureTable, ...] = ()
    examples: tuple[ExampleColumn, ...] = ()
    """Rows that nobody has, and what becomes of them."""
    exploration: Exploration | None = None
    limits: tuple[str, ...] = ()
    """Limits of the evidence besides those that the page knows of itself."""
    for_recipient: frozenset[str] = frozenset()
    """Of the files beside the data, those that a recipient gets."""
    nothing_left: bool = False
    """Whether no quasi-identifying value of the file tells records apart any more."""

    @property
    def created(self) -> datetime:
        if self.manifest.created is None:
            raise BugError("a report of a release that does not say when it was made")
        return self.manifest.created

    @property
    def records(self) -> int:
        """Records in the released file."""
        return self.manifest.data.rows or 0

    @property
    def solution(self) -> SolutionResult:
        return self.manifest.solution or SolutionResult()
