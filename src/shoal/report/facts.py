"""What a report is made from: figures and words only, never a value from the data.

The report computes nothing about risk or usefulness itself; whoever fills these facts has measured them, on the file
that was written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, TypeAlias

from shoal.errors import BugError
from shoal.kernels.arrays import Integers
from shoal.measurement import Risk
from shoal.results.attack_results import AttackResult, attack_in_words
from shoal.results.evidence_facts import DistributionFacts, ExampleColumn, FigureTable
from shoal.results.manifest import Manifest, SolutionResult
from shoal.results.risk_results import AssessmentResult, AttackersResult, ModelResult

if TYPE_CHECKING:
    from shoal.results.exploration import Exploration

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
class RiskFacts(Risk):
    """The risk of re-identification of one table, and whose it is; ``k`` is 0 where there are no classes to measure."""

    people: int
    records: int
    """Records spoken of, suppressed ones included."""
    suppressed: int
    class_sizes: ClassSizes
    strict_average: float | None = None
    """The average, or the highest where somebody is at more risk than an average may hide."""


@dataclass(frozen=True)
class ModelFacts:
    """A formal privacy model in words, and what was asked and found of it."""

    title: str
    explanation: str
    clause: str
    found: ModelResult


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
    attackers_before: AttackersResult | None = None
    """Of the original; those of the release are in the manifest."""
    attack_words: tuple[str, ...] = ()
    """What each attack of the manifest gets, in a sentence."""
    distributions: tuple[DistributionFacts, ...] = ()
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

    def published(self) -> ReportFacts:
        """What a recipient may be told: of a differentially private table, nothing that its source had to be asked."""
        manifest = self.manifest.published()
        if manifest is self.manifest:
            return self
        after = replace(self.after, records=self.records, suppressed=0)
        return ReportFacts(
            manifest=manifest,
            before=after,
            after=after,
            models=self.models,
            attributes=tuple(_by_policy(one, manifest) for one in self.attributes),
            person=self.person,
            purpose=self.purpose,
            for_recipient=self.for_recipient,
        )

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
    def assessment(self) -> AssessmentResult | None:
        return self.manifest.assessment

    @property
    def attacks(self) -> tuple[AttackResult, ...]:
        return self.manifest.attacks or ()

    @property
    def unjudged(self) -> tuple[str, ...]:
        """Attacks that may have found something, which nobody could tell."""
        return tuple(map(attack_in_words, self.manifest.attacks_unjudged or ()))

    @property
    def solution(self) -> SolutionResult:
        return self.manifest.solution or SolutionResult()


def _by_policy(one: AttributeFacts, manifest: Manifest) -> AttributeFacts:
    """What was done to it by its fixed level; how it was counted, or which marks were escaped, goes by the data."""
    level = (manifest.solution or SolutionResult()).levels.get(one.name, 0)
    return replace(one, done=("generalise",) if level else (), clause=("ISO/IEC 20889, 9.6",) if level else ())
